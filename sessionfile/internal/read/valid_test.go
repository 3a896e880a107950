package read

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkAsJSON compares check with encoding/json, which has the same depth limit.
func checkAsJSON(t interface{ Errorf(string, ...any) }, b []byte) {
	end := check(b)
	if json.Valid(b) != (end == len(b)) {
		t.Errorf("%.200q: want valid %v, got %d", b, json.Valid(b), end)
	}
	if line, _ := checkLine(b); line != end {
		t.Errorf("%.200q: want %d of a line too, got %d", b, end, line)
	}
	if end < 0 || len(b) == 0 || bytes.TrimSpace(b)[0] != '{' {
		return
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Errorf("%.200q: %v", b, err)
		return
	}
	last := map[string][]byte{}
	EachField(bytes.TrimSpace(b), func(key, value []byte) {
		last[Str(append(append([]byte{'"'}, key...), '"'))] = value
	})
	for key, value := range fields {
		if !bytes.Equal(last[key], value) {
			t.Errorf("%.200q: field %q: want %s, got %s", b, key, value, last[key])
		}
	}
}

func TestCheck(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{}`, `[]`, `{"a":1}`, `{"a":1,}`, `{,}`, `[1,2]`, `[1,]`, `[1 2]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a" : [ ] , "b":{}}`,
		`0`, `-0`, `01`, `1.`, `.5`, `1.5e`, `1e+`, `1E-7`, `-`, `+1`, `1.50`, `nul`, `null`, `nulls`, `true`, `false`, `falsey`,
		`"`, `"a`, `"a\"`, `"\x"`, `"\u12"`, `"\u12G4"`, `"\u00e9\ud83d"`, "\"tab\there\"", "\"\x7f\x80\xff\"", `"eight by`, `"12345678"`, `"1234567\"8"`,
		"{\"a\":\r\n\t 1}", `{"a":1}}`, `{"a":1}{}`, "\x0b{}", `{"a\"b":"c\\"}`, `{"":""}`, `["a"`, `{"a":[{"b":"]}"}]}`,
	} {
		checkAsJSON(t, []byte(text))
	}
	nested := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if got := check([]byte(nested)); got != len(nested) {
		t.Errorf("%d levels: want them accepted, got %d", MaxDepth, got)
	}
	if got := check([]byte("[" + nested + "]")); got != tooDeep {
		t.Errorf("%d levels: want tooDeep, got %d", MaxDepth+1, got)
	}
}

// TestCheckSpecial tries every byte at every place of a word: the fast path must
// find it, and must not find another.
func TestCheckSpecial(t *testing.T) {
	for c := 0; c < 256; c++ {
		for at := range 17 {
			text := bytes.Repeat([]byte("a"), 19)
			text[0], text[18] = '"', '"'
			text[at+1] = byte(c)
			checkAsJSON(t, text)
		}
	}
}

func TestCheckRandom(t *testing.T) {
	alphabet := []byte(`{}[]":,\ntruefals0123456789.eE+- u` + "\t\x00\x1f\xff")
	rapid.Check(t, func(t *rapid.T) {
		checkAsJSON(t, rapid.SliceOf(rapid.SampledFrom(alphabet)).Draw(t, "bytes"))
	})
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"a":["\u12ab",-1.5e+3,{"b":null}],"c":"\\\""}`))
	f.Fuzz(func(t *testing.T, b []byte) { checkAsJSON(t, b) })
}

func TestLoneSurrogate(t *testing.T) {
	for text, want := range map[string]bool{
		`"plain"`: false, `"\ud83d\ude00"`: false, `"\uD83D\uDE00 \u00e9"`: false, `"\\ud83d"`: false, `"\n\t"`: false,
		`"\ud83d"`: true, `"\ude00"`: true, `"\ud83d\ud83d\ude00"`: true, `"\ud83d\n"`: true, `"\ud83dx"`: true, `"\\\ud83d"`: true,
	} {
		if got := loneSurrogate([]byte(text)); got != want {
			t.Errorf("%s: want %v, got %v", text, want, got)
		}
	}
}
