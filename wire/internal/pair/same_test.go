package pair

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestArgumentsInOtherSpellings(t *testing.T) {
	same := map[string][]string{
		"white space":   {`{"a":[1,{"b":null}]}`, " { \"a\" :\n[ 1 ,\t{\"b\": null} ] } "},
		"order":         {`{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`},
		"escapes":       {`{"é<\n":"水/😀"}`, `{"\u00e9\u003C\u000a":"\u6c34\/\ud83d\ude00"}`},
		"numbers":       {`[1,0.5,-20,0]`, `[1.0,5E-1,-2e1,-0.0]`, `[1e0,0.50,-20.00,0]`},
		"big numbers":   {`12345678901234567`, `12345678901234568`, `1.2345678901234568e16`},
		"double names":  {`{"a":2}`, `{"a":1,"\u0061":2}`},
		"not JSON":      {`go on`},
		"empty":         {`{}`, ` { } `},
		"empty list":    {`[]`, `[ ]`},
		"text of empty": {`"{}"`},
		"other case":    {`{"A":2}`},
		"nested":        {`[[1],2]`},
		"flat":          {`[[1,2]]`},
		"true":          {`true`},
		"text of true":  {`"true"`},
		"text of 1":     {`{"a":"1"}`},
		"number 1":      {`{"a":1}`},
	}
	seen := map[string]string{}
	for name, spellings := range same {
		t.Run(name, func(t *testing.T) {
			want := Arguments([]byte(spellings[0]))
			for _, s := range spellings[1:] {
				if !bytes.Equal(Arguments([]byte(s)), want) {
					t.Errorf("%s: want the salt of %s", s, spellings[0])
				}
			}
			if other, ok := seen[string(want)]; ok {
				t.Errorf("%s: want another salt than that of %s", spellings[0], other)
			}
			seen[string(want)] = spellings[0]
		})
	}
}

// What encoding/json writes of a value it has read has the same salt.
func TestArgumentsWrittenAnew(t *testing.T) {
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.String(), toAny[string]),
		rapid.Map(rapid.Float64(), toAny[float64]), rapid.Map(rapid.Int32(), toAny[int32]))
	tree := rapid.OneOf(leaf, rapid.Map(rapid.SliceOf(leaf), toAny[[]any]), rapid.Map(rapid.MapOf(rapid.String(), leaf), toAny[map[string]any]))
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"a": tree.Draw(t, "a"), "é": []any{tree.Draw(t, "b")}}
		first, err := json.MarshalIndent(value, "\t", " ")
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Arguments(first), Arguments(second)) {
			t.Fatalf("want one salt of %s and %s", first, second)
		}
	})
}

func toAny[T any](v T) any { return v }

// Deep nesting costs no more than its length.
func TestArgumentsThatAreDeep(t *testing.T) {
	const depth = 9_000
	inner := `"` + strings.Repeat("x", 1<<20) + `"`
	deep := strings.Repeat(`{"a":`, depth) + inner + strings.Repeat(`}`, depth)
	other := strings.Repeat(`{"a":`, depth-1) + `{ "a": ` + inner + strings.Repeat(`}`, depth)
	if !bytes.Equal(Arguments([]byte(deep)), Arguments([]byte(other))) {
		t.Error("want one salt")
	}
}

func TestSignatureInEitherAlphabet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 1, -1).Draw(t, "bytes")
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			if got := Signature(e.EncodeToString(b)); !bytes.Equal(got, b) {
				t.Fatalf("%s: want %x, got %x", e.EncodeToString(b), b, got)
			}
		}
	})
	for _, text := range []string{"", "not base64!", "a", "=="} {
		if got := Signature(text); string(got) != text {
			t.Errorf("want the text %q, got %q", text, got)
		}
	}
}
