package sse

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scan returns the events of stream, fed in chunks of the given sizes and then the rest.
func scan(t interface{ Fatal(...any) }, lines bool, stream string, sizes []int) []string {
	s := Scanner{Lines: lines}
	var out []string
	take := func(name, data []byte) error {
		out = append(out, string(name)+"|"+string(data))
		return nil
	}
	for _, n := range append(sizes, len(stream)) {
		n = min(n, len(stream))
		if err := s.Feed([]byte(stream[:n]), take); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
	}
	if err := s.Close(take); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScanner(t *testing.T) {
	tests := []struct {
		name, stream string
		lines        bool
		want         []string
	}{
		{"named and not", "event: a\ndata: 1\n\ndata: 2\n\n", false, []string{"a|1", "|2"}},
		{"every line end", "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", false, []string{"|1", "|2", "|3"}},
		{"several data lines", "data: 1\ndata:2\ndata\n\n", false, []string{"|1\n2\n"}},
		{"comments, other fields, a name without data", ": hi\nid: 7\nretry: 1\nevent: x\n\ndata: 1\n\n", false, []string{"|1"}},
		{"byte order mark", "\xef\xbb\xbfdata: 1\n\n", false, []string{"|1"}},
		{"no blank line at the end", "data: 1\n\ndata: 2", false, []string{"|1", "|2"}},
		{"empty data", "data:\n\n", false, []string{"|"}},
		{"lines", "{}\n\n  {\"a\":1} \r\n[]", true, []string{"|{}", `|{"a":1}`, "|[]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for at := range len(test.stream) + 1 {
				if got := scan(t, test.lines, test.stream, []int{at}); !reflect.DeepEqual(got, test.want) {
					t.Fatalf("cut at %d: want %q, got %q", at, test.want, got)
				}
			}
		})
	}
}

// The events do not depend on how the bytes arrive.
func TestScannerChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"data: x", "data:", "event: e", ":", "\n", "\n\n", "\r", "\r\n", "y", "é", "\xef\xbb\xbf"})).Draw(t, "pieces")
		stream := strings.Join(pieces, "")
		lines := rapid.Bool().Draw(t, "lines")
		sizes := rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "sizes")
		whole, cut := scan(t, lines, stream, nil), scan(t, lines, stream, sizes)
		if !reflect.DeepEqual(whole, cut) {
			t.Fatalf("%q: whole %q, in chunks %q", stream, whole, cut)
		}
	})
}

func TestScannerErrors(t *testing.T) {
	var s Scanner
	chunk := []byte(strings.Repeat("x", 1<<20))
	var err error
	for range MaxPayload/len(chunk) + 1 {
		if err = s.Feed(chunk, nil); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("a line without end: got %v", err)
	}
	stop := errors.New("stop")
	calls := 0
	s = Scanner{}
	err = s.Feed([]byte("data: 1\n\ndata: 2\n\n"), func(_, _ []byte) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("want the error of the first event, got %v after %d", err, calls)
	}
}

func TestAppend(t *testing.T) {
	stream := Append(Append(nil, "a", []byte(`{"x":1}`)), "", []byte("[DONE]"))
	if got := scan(t, false, string(stream), nil); !reflect.DeepEqual(got, []string{`a|{"x":1}`, "|[DONE]"}) {
		t.Errorf("got %q", got)
	}
}
