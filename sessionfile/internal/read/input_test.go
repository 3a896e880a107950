package read

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

func inputOf(text string) *Input { return NewInput(strings.NewReader(text), int64(len(text))) }

func newReading() *Reading {
	return NewReading("file", "x", func(sessionfile.Segment) bool { return true })
}

// TestEachLine: a line's place in the file is where its bytes are.
func TestEachLine(t *testing.T) {
	long := strings.Repeat("long ", ReadBytes/4)
	for _, text := range []string{"", "a", "a\n", "a\nb", "\n\nb\r\n", byteOrderMark + "a\nb", long + "\nb\n" + long, "a\n" + long} {
		var got []string
		in := inputOf(text)
		in.Each(newReading(), func(l Line) {
			got = append(got, string(l.Bytes))
			if l.No != len(got) {
				t.Errorf("%.20q: want line %d, got %d", text, len(got), l.No)
			}
			at := make([]byte, len(l.Bytes))
			if _, err := in.ReadAt(at, l.Offset); err != nil || !bytes.Equal(at, l.Bytes) {
				t.Errorf("%.20q: at %d want %.20q, got %.20q, %v", text, l.Offset, l.Bytes, at, err)
			}
		})
		want := strings.Split(strings.TrimPrefix(text, byteOrderMark), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%.20q: want %d lines, got %d", text, len(want), len(got))
		}
	}
}

func TestSpool(t *testing.T) {
	broken := errors.New("disk on fire")
	in, err := Spool(io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it can be read again
		r, n := newReading(), 0
		in.Each(r, func(Line) { n++ })
		if n != 2 || len(r.Session.Problems) != 1 || r.Session.Problems[0].Line != 3 {
			t.Errorf("want two lines and a problem on the third, got %d and %v", n, r.Session.Problems)
		}
	}
	if _, err := in.Document(); !errors.Is(err, broken) {
		t.Errorf("a document that is cut off: want the error, got %v", err)
	}
	if _, err := Spool(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("nothing read: want the error, got %v", err)
	}
}

func TestDocument(t *testing.T) {
	tests := map[string]error{
		"": ErrEmpty, " \n": ErrEmpty, "{": ErrNotJSON, "{}{}": ErrNotJSON, "prose": ErrNotJSON,
		strings.Repeat("[", MaxDepth+1): ErrTooDeep, " {}\n": nil, "[1]": nil, byteOrderMark + "{}": nil, "\"\xff\"": nil,
	}
	for text, want := range tests {
		d, err := inputOf(text).Document()
		if !errors.Is(err, want) {
			t.Errorf("%.20q: want %v, got %v", text, want, err)
		}
		if err == nil && d.Fixed != strings.Contains(text, "\xff") {
			t.Errorf("%.20q: Fixed is %v", text, d.Fixed)
		}
	}
	if _, err := NewInput(strings.NewReader(""), MaxDocument+1).Document(); !errors.Is(err, ErrTooBig) {
		t.Errorf("more than %d bytes: want ErrTooBig, got %v", MaxDocument, err)
	}
}

// TestDocumentLine: a value's line is that of its first byte.
func TestDocumentLine(t *testing.T) {
	d, err := inputOf(byteOrderMark + "\n[\n 1,\n {\"a\":\n\n [true]},\n\n \"x\"]\n").Document()
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	var first []byte
	EachElement(d.Bytes, func(value []byte) bool {
		if lines = append(lines, d.Line(value)); len(lines) == 1 {
			first = value
		}
		if value[0] == '{' {
			EachField(value, func(_, value []byte) { lines = append(lines, d.Line(value)) })
		}
		return true
	})
	if diff := cmp.Diff([]int{3, 4, 6, 8}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := d.Line(first); got != 3 {
		t.Errorf("asked again: want line 3, got %d", got)
	}
	if got := d.Line([]byte("elsewhere")); got != 0 && got > 8 {
		t.Errorf("a value from elsewhere: want no line beyond the file, got %d", got)
	}
}

func TestEachElement(t *testing.T) {
	tests := map[string][]string{
		`[]`: nil, `[ ]`: nil, `{}`: nil, `"[1]"`: nil, ``: nil,
		`[1]`: {"1"}, ` `: nil, `[ 1 , "a,b]" , [2,[3]] , {"a":[1]} ]`: {"1", `"a,b]"`, "[2,[3]]", `{"a":[1]}`},
	}
	for text, want := range tests {
		var got []string
		EachElement([]byte(text), func(value []byte) bool {
			got = append(got, string(value))
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	n := 0
	EachElement([]byte(`[1,2,3]`), func([]byte) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("want two visits, got %d", n)
	}
}

func TestFields(t *testing.T) {
	f := FieldsOf([]byte(`{"a":"x","b":{"c":"y"},"a":"z","d":7}`))
	if f.Str("a") != "z" || f.Of("b").Str("c") != "y" || !f.Has("a", "d") || f.Has("a", "e") || f.Str("d") != "" || f.Of("a") != nil {
		t.Errorf("fields are %q", f)
	}
	if FieldsOf([]byte(`[1]`)) != nil || FieldsOf(nil) != nil {
		t.Error("what is no object has no fields")
	}
}

func TestTime(t *testing.T) {
	tests := map[string]int64{
		`"2026-11-01T09:00:00.123Z"`: 1793523600123, `"2026-11-01T10:00:00.123+01:00"`: 1793523600123, `1793523600123`: 1793523600123,
		`1793523600`: 1793523600000, `1793523600.5`: 1793523600500, `"yesterday"`: 0, `""`: 0, `null`: 0, ``: 0, `-1`: 0, `0`: 0, `{}`: 0, `1e300`: 0,
		`"1066-10-14T09:00:00Z"`: 0,
	}
	for text, want := range tests {
		if got := Time([]byte(text)); got != want {
			t.Errorf("%s: want %d, got %d", text, want, got)
		}
	}
}

func TestCount(t *testing.T) {
	tests := map[string]int{
		`0`: 0, `17`: 17, `123456789012`: 123456789012, `1099511627776`: 1 << 40, `12.0`: 12, `null`: 0, ``: 0,
		`1099511627777`: -1, `-1`: -1, `"17"`: -1, `{}`: -1, `99999999999999999999`: -1,
	}
	for text, want := range tests {
		r := newReading()
		got := r.Count(3, "tokens", []byte(text))
		if want < 0 && (got != 0 || len(r.Session.Problems) != 1) || want >= 0 && (got != want || len(r.Session.Problems) > 0) {
			t.Errorf("%s: want %d (-1: a problem), got %d, %v", text, want, got, r.Session.Problems)
		}
	}
}

// TestEmit: what is empty is left out, unless it says why; nothing is handed over
// after the end.
func TestEmit(t *testing.T) {
	var got []sessionfile.Segment
	r := NewReading("file", "x", func(s sessionfile.Segment) bool {
		got = append(got, s)
		return len(got) < 2
	})
	r.Emit(sessionfile.Segment{})
	r.Emit(sessionfile.Segment{NotRun: "lost"})
	r.Emit(sessionfile.Segment{Final: true})
	if len(got) != 2 || !r.Stopped() || r.Emitted() != 2 {
		t.Errorf("want two segments and the end, got %d, %v", len(got), r.Stopped())
	}
	r.Emit(sessionfile.Segment{NotRun: "late"})
	if len(got) != 2 {
		t.Error("a segment after the end")
	}
}
