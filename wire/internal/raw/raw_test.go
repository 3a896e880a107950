package raw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestCheck(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, text string
		offset     int // of the fault; -1 for none
	}{
		{"object", ` {"a":[1,2.5e-3,true,null,"x"]} `, -1},
		{"numbers keep their spelling", `[1.0e+3,-0,1E5]`, -1},
		{"lone surrogate", `"\ud800"`, -1},
		{"not UTF-8 inside a string", "\"a\xffb\"", -1},
		{"as deep as allowed", deep(MaxDepth), -1},
		{"too deep", deep(MaxDepth + 1), MaxDepth},
		{"far too deep and never closed", strings.Repeat(`{"a":`, 3_000_000), MaxDepth * 5},
		{"brackets in strings do not nest", `"` + strings.Repeat("[", MaxDepth+1) + `"`, -1},
		{"empty", ``, 0},
		{"byte order mark", "\xef\xbb\xbf{}", 0},
		{"two values", `{} {}`, 4},
		{"cut", `{"a":"b`, 7},
		{"control character", "\"a\nb\"", 3},
		{"bad escape", `"\x"`, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := Check([]byte(test.text))
			if test.offset < 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *Fault
			if !errors.As(err, &f) {
				t.Fatalf("want a Fault, got %v", err)
			}
			if f.Offset != test.offset {
				t.Errorf("want byte %d, got %v", test.offset, f)
			}
		})
	}
}

func TestFaultPath(t *testing.T) {
	err := Wrong("a string", []byte("12"))
	for _, step := range []string{"[2]", "content", "[7]", "messages"} {
		err = In(err, step)
	}
	want := "messages[7].content[2], want a string, got number 12"
	if err.Error() != want {
		t.Errorf("want %q, got %q", want, err)
	}
	if other := errors.New("other"); !errors.Is(In(other, "x"), other) {
		t.Error("an error that is no Fault was changed")
	}
}

// genJSON draws JSON texts with odd spacing, escapes and numbers.
func genJSON(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{
		`1`, `-0.0`, `1.0e+3`, `true`, `false`, `null`, `""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"\u0041\ud83d\ude00"`,
		`"\ud800"`, `"[{,:}]"`, `"ü\n"`, "\"\xff\"", `{}`, `[]`, `[ ]`,
	})
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n "})
		sp := func() string { return space.Draw(t, "space") }
		value := genJSON(depth - 1)
		n := rapid.IntRange(0, 4).Draw(t, "n")
		var parts []string
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return leaf.Draw(t, "leaf")
		case 1:
			for range n {
				parts = append(parts, sp()+value.Draw(t, "element")+sp())
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		for range n {
			name := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `""`, `"c\"d"`}).Draw(t, "name")
			parts = append(parts, sp()+name+sp()+":"+sp()+value.Draw(t, "value")+sp())
		}
		return "{" + strings.Join(parts, ",") + "}"
	})
}

// The scanner agrees with encoding/json on where members and elements lie.
func TestScanAgreesWithDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(genJSON(3).Draw(t, "json"))
		if err := Check(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch text[0] {
		case '{':
			want := map[string]json.RawMessage{}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			got := map[string]json.RawMessage{}
			for k, v := range Members(text) {
				got[string(Name(text[k.Start:k.End]))] = Slice(text, v)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s", text, diff)
			}
			read := map[string]json.RawMessage{}
			c := NewCursor(text)
			c.Object(func(name []byte) {
				start := c.Pos()
				c.Array(func(int) bool { return true }) // reads arrays itself, leaves the rest to be skipped
				read[string(name)] = c.Bytes(c.Past(start, nil))
			})
			if diff := cmp.Diff(want, read); diff != "" || c.Pos() != len(text) {
				t.Fatalf("%s: cursor at %d, %s", text, c.Pos(), diff)
			}
		case '[':
			want := []json.RawMessage{}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			got := []json.RawMessage{}
			for _, s := range Elements(text) {
				got = append(got, Slice(text, s))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s", text, diff)
			}
		}
	})
}

func TestQuoteAndUnquote(t *testing.T) {
	t.Run("quote", func(t *testing.T) {
		got := string(Quote("a\"b\\c\n\t\r\x00\x1f<>&\u2028ü\U0001F600\xff\xed\xa0\x80."))
		want := `"a\"b\\c\n\t\r\u0000\u001f<>&` + "\u2028ü\U0001F600" + `\ufffd\ufffd\ufffd\ufffd."`
		if got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	})
	t.Run("no string", func(t *testing.T) {
		for _, v := range []string{"", `"`, "12", "null", "{}"} {
			if got := Unquote([]byte(v)); got != "" {
				t.Errorf("%s: want nothing, got %q", v, got)
			}
		}
	})
	t.Run("any text comes back as encoding/json reads it", rapid.MakeCheck(func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		var want string
		if err := json.Unmarshal(Quote(s), &want); err != nil {
			t.Fatal(err)
		}
		if got := Unquote(Quote(s)); got != want {
			t.Fatalf("want %q, got %q", want, got)
		}
	}))
	t.Run("any literal is read as encoding/json reads it", rapid.MakeCheck(func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			`\n`, `\/`, `\b`, `\f`, `\r`, `\"`, `\\`, `\u0041`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, `\ud800x`, `\u00e4`,
			"a", "ü", "\U0001F600", "\xff", "\xc3", "\x7f",
		})
		lit := []byte(`"` + strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") + `"`)
		var want string
		if err := json.Unmarshal(lit, &want); err != nil {
			t.Fatal(err)
		}
		if got := Unquote(lit); got != want {
			t.Fatalf("%s: want %q, got %q", lit, want, got)
		}
	}))
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "12": 12, "-3": -3, "1.0e+3": 1000, "2.50e1": 25} {
		if got, ok := Int([]byte(text)); !ok || got != want {
			t.Errorf("%s: want %d, got %d %v", text, want, got, ok)
		}
	}
	for _, text := range []string{"1.5", "1e300", "-1e300", `"1"`, "null", "", "99999999999999999999"} {
		if got, ok := Int([]byte(text)); ok {
			t.Errorf("%s: want none, got %d", text, got)
		}
	}
}

func TestSetAndDelete(t *testing.T) {
	tests := []struct{ name, obj, set, deleted string }{
		{"there", `{ "a" : 1 , "b":2 }`, `{ "a" : 9 , "b":2 }`, `{ "b":2 }`},
		{"last", `{"b":2, "a":1 }`, `{"b":2, "a":9 }`, `{"b":2 }`},
		{"alone", `{"a":1}`, `{"a":9}`, `{}`},
		{"not there", `{"b":2 }`, `{"b":2,"a":9 }`, `{"b":2 }`},
		{"empty", `{ }`, `{ "a":9}`, `{ }`},
		{"twice", `{"a":1,"b":2,"a":3}`, `{"a":1,"b":2,"a":9}`, `{"b":2}`},
		{"escaped name", `{"\u0061":1}`, `{"\u0061":9}`, `{}`},
		{"no object", `[1]`, `[1]`, `[1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(Set([]byte(test.obj), "a", []byte("9"))); got != test.set {
				t.Errorf("set: want %s, got %s", test.set, got)
			}
			if got := string(Delete([]byte(test.obj), "a")); got != test.deleted {
				t.Errorf("delete: want %s, got %s", test.deleted, got)
			}
		})
	}
}

func TestList(t *testing.T) {
	old := "[ 1,\n 2,\n 3,\n 4 ]"
	el := func(text string, at int) Element { return Element{Bytes: []byte(text), At: at} }
	tests := []struct {
		name string
		new  []Element
		want string
	}{
		{"same", []Element{el("1", 0), el("2", 1), el("3", 2), el("4", 3)}, old},
		{"edited", []Element{el("1", 0), el("22", 1), el("3", 2), el("4", 3)}, "[ 1,\n 22,\n 3,\n 4 ]"},
		{"two edited, of other lengths", []Element{el("", 0), el("2", 1), el("3", 2), el("444", 3)}, "[ ,\n 2,\n 3,\n 444 ]"},
		{"moved", []Element{el("2", 1), el("1", 0), el("3", 2), el("4", 3)}, "[ 2,\n 1,\n 3,\n 4 ]"},
		{"first gone", []Element{el("2", 1), el("3", 2), el("4", 3)}, "[ 2,\n 3,\n 4 ]"},
		{"middle gone", []Element{el("1", 0), el("4", 3)}, "[ 1,\n 4 ]"},
		{"last gone", []Element{el("1", 0), el("2", 1), el("3", 2)}, "[ 1,\n 2,\n 3 ]"},
		{"one new", []Element{el("1", 0), el("0", -1), el("2", 1), el("3", 2), el("4", 3)}, "[ 1,\n 0,\n 2,\n 3,\n 4 ]"},
		{"all gone", nil, "[  ]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := NewList([]byte(old), nil)
			if got := string(l.With(test.new)); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
			head, tail := `{"n":1, "messages":`, `,"k":[1]}`
			place := llm.Span{Start: len(head), End: len(head) + len(old)}
			b, err := NewBody(llm.Frame{Raw: []byte(head + old + tail), Messages: place})
			if err != nil {
				t.Fatal(err)
			}
			b.PutElements("messages", place, b.List(place, nil), test.new)
			if got := string(b.Bytes()); got != head+test.want+tail {
				t.Errorf("want %q in a body, got %q", test.want, got)
			}
		})
	}
	t.Run("found in order, the same bytes first", func(t *testing.T) {
		b := []byte(`[7,8,7,8]`)
		l := NewList(b, nil)
		if got := l.Find(b[5:6]); got != 2 {
			t.Errorf("want 2, got %d", got)
		}
		if got := l.Find([]byte("7")); got != -1 {
			t.Errorf("want none behind it, got %d", got)
		}
		if got := l.Find([]byte("8")); got != 3 {
			t.Errorf("want 3, got %d", got)
		}
	})
}

func TestBody(t *testing.T) {
	text := `{"tools":[1],"model":"m","n":5,"messages":[1, 2]}`
	span := func(s string) llm.Span {
		i := strings.Index(text, s)
		return llm.Span{Start: i, End: i + len(s)}
	}
	frame := llm.Frame{Raw: []byte(text), Tools: span("[1]"), Messages: span("[1, 2]")}
	t.Run("unchanged is the same slice", func(t *testing.T) {
		b, err := NewBody(frame)
		if err != nil {
			t.Fatal(err)
		}
		b.PutText("model", "m")
		b.PutInt("n", 5)
		if got := b.Bytes(); &got[0] != &frame.Raw[0] {
			t.Error("want the body itself, got a copy")
		}
	})
	t.Run("changes in any order", func(t *testing.T) {
		b, err := NewBody(frame)
		if err != nil {
			t.Fatal(err)
		}
		b.Put("messages", frame.Messages, []byte("[3]"))
		b.PutText("model", "other")
		b.PutInt("n", 6)
		b.Put("system", llm.Span{}, []byte(`"s"`))
		b.PutList("tools", frame.Tools, b.List(frame.Tools, nil), nil)
		want := `{"model":"other","n":6,"messages":[3],"system":"s"}`
		if got := string(b.Bytes()); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	})
	t.Run("places that cannot be right", func(t *testing.T) {
		for _, f := range []llm.Frame{
			{Raw: []byte(`[]`)},
			{},
			{Raw: frame.Raw, Messages: llm.Span{Start: 5, End: 500}},
			{Raw: frame.Raw, Messages: llm.Span{Start: -1, End: 5}},
			{Raw: frame.Raw, Messages: llm.Span{Start: 5, End: 20}, Tools: llm.Span{Start: 10, End: 30}},
		} {
			if _, err := NewBody(f); err == nil {
				t.Errorf("%+v: want an error", f)
			}
		}
	})
}

// FuzzCheck holds Check against encoding/json, and the scanner against any bytes at all.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud800"]}`, `{"a"`, `"\`, `[1,]`, `-`, `01`, "\"\x01\"", `{"a":1,"a":2}`, ``} {
		f.Add([]byte(s))
		f.Add([]byte(strings.Repeat(" ", 5) + `["` + strings.Repeat(`é\n\\\"\u0041\ud83d\ude00 `, 12) + s + `"]`))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		if got, want := Check(b) == nil, json.Valid(b); got != want {
			t.Fatalf("%q: want %v, got %v", b, want, got)
		}
		c := NewCursor(b)
		c.Object(func([]byte) { c.Array(func(int) bool { return true }) })
		for range Members(b) {
			continue
		}
		_ = fmt.Sprint(Elements(b), Values(b, "a"), Unquote(b), len(Set(b, "a", []byte("1"))), len(Delete(b, "a")))
		if !bytes.Equal(b, before) {
			t.Fatal("the text was written to")
		}
	})
}
