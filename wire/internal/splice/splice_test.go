package splice

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

type event struct{ Name, Data string }

// A cutter cuts what a scanner reads into the same events, loses no byte, and has with each
// payload its place.
func TestCutterReadsWhatAScannerReads(t *testing.T) {
	pieces := []string{"data: {}", "data:{\"a\":1}", "data:", "event: x", ": ping", "id: 1", "\n", "\n\n", "\r\n\r\n", "\r", " ", "\xef\xbb\xbf", "data", "retry: 1", "{}"}
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "stream"), ""))
		lines := rapid.Bool().Draw(t, "lines")
		var want []event
		scan := sse.Scanner{Lines: lines}
		take := func(name, data []byte) error {
			if data = raw.Trim(data); len(data) > 0 { // no dialect takes an empty one
				want = append(want, event{string(name), string(data)})
			}
			return nil
		}
		_ = scan.Feed(stream, take)
		_ = scan.Close(take)

		cut := Events{Lines: lines}
		var got []event
		var whole []byte
		drain := func(end bool) {
			for f, ok := cut.Next(end); ok; f, ok = cut.Next(end) {
				whole = append(whole, f.Whole...)
				if len(f.Data) == 0 {
					continue
				}
				got = append(got, event{string(f.Name), string(f.Data)})
				other := f.With([]byte("NEW"))
				if f.At >= 0 && !bytes.Equal(bytes.Replace(other, []byte("NEW"), f.Data, 1), f.Whole) {
					t.Fatalf("another payload in %q: %q", f.Whole, other)
				}
			}
		}
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			cut.Add(rest[:n])
			drain(false)
			rest = rest[n:]
		}
		drain(true)
		if d := cmp.Diff(want, got); d != "" || !bytes.Equal(whole, stream) {
			t.Fatalf("(-want +got)\n%s\nof %q, got %q", d, stream, whole)
		}
	})
}

func TestSum(t *testing.T) {
	for _, x := range []struct{ a, b, want string }{
		{``, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `null`, `{"a":1}`},
		{`{"a":1,"b":{"c":2},"s":"x","n":null}`, `{"b":{"c":3,"d":1},"a":2,"s":"y","n":5,"e":1}`, `{"a":3,"b":{"c":5,"d":1},"s":"y","n":5,"e":1}`},
		{`{"cost":0.5}`, `{"cost":0.25}`, `{"cost":0.75}`},
		{`9007199254740993`, `1`, `9007199254740994`},
		{`9223372036854775807`, `1`, `9.223372036854776e+18`},
		{`[{"m":"T","n":1},{"m":"I","n":2}]`, `[{"m":"I","n":3},{"n":4}]`, `[{"m":"T","n":1},{"m":"I","n":5},{"n":4}]`},
	} {
		if got := Sum([]byte(x.a), []byte(x.b), "m"); string(got) != x.want {
			t.Errorf("%s + %s: want %s, got %s", x.a, x.b, x.want, got)
		}
	}
	if got := Sum([]byte(`[{"m":"T","n":1}]`), []byte(`[{"m":"T","n":1}]`), ""); string(got) != `[{"m":"T","n":1},{"m":"T","n":1}]` {
		t.Errorf("want the lists joined, got %s", got)
	}
}
