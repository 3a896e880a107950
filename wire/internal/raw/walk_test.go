package raw

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// walkAll walks through the value that is next, into everything, and returns it spelled
// anew without white space.
func walkAll(w *Walk, out []byte) []byte {
	switch {
	case IsObject(w.Next()):
		out = append(out, '{')
		w.Enter()
		for i := 0; ; i++ {
			name := w.Member()
			if name == nil {
				return append(out, '}')
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(AppendQuote(out, string(name)), ':')
			out = walkAll(w, out)
		}
	case IsArray(w.Next()):
		out = append(out, '[')
		w.Enter()
		for i := 0; w.Item(); i++ {
			if i > 0 {
				out = append(out, ',')
			}
			out = walkAll(w, out)
		}
		return append(out, ']')
	}
	return append(out, w.Value()...)
}

// A walk is done exactly where the text is JSON.
func TestWalkAgreesWithDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(genJSON(3).Draw(t, "json"))
		if cut := rapid.IntRange(0, 3).Draw(t, "damage"); cut > 0 && len(text) > 0 {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte(`{}[],:"\0x `)).Draw(t, "byte")
		}
		w := NewWalk(text)
		walkAll(&w, nil)
		if got, want := w.Done(), json.Valid(text); got != want {
			t.Fatalf("%q: want %v, got %v", text, want, got)
		}
	})
}

func TestWalk(t *testing.T) {
	for _, good := range []string{`{}`, `[]`, ` { "a" : [ 1 , {"b":null} ] , "" : "x" } `, `5`, `"x"`, `{"\u0061":[[],[[]]]}`} {
		w := NewWalk([]byte(good))
		out := walkAll(&w, nil)
		if !w.Done() || !json.Valid(out) {
			t.Errorf("%q: got %q, %v", good, out, w.Done())
		}
	}
	for _, bad := range []string{``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1]`, `[1}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`, `{} {}`, `{a:1}`, "{\"\x01\":1}", `{"a":01}`} {
		w := NewWalk([]byte(bad))
		walkAll(&w, nil)
		if w.Done() {
			t.Errorf("%q: want it refused", bad)
		}
	}
}

func FuzzWalk(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\ud800"}]}`, `{"a"`, `[1,]`, `{"":{}}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w := NewWalk(text)
		if len(text) < 1000 {
			walkAll(&w, nil)
			if got, want := w.Done(), json.Valid(text); got != want {
				t.Fatalf("%q: want %v, got %v", text, want, got)
			}
		}
	})
}
