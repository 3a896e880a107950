package bpe

import (
	"strings"
	"testing"
)

// words is an encoder of words: its ids are their lengths.
type words struct{ counts int }

func (w *words) Count(s string) int { w.counts++; return len(strings.Fields(s)) }

func (w *words) Append(dst []uint32, s string) []uint32 {
	for _, f := range strings.Fields(s) {
		dst = append(dst, uint32(len(f)))
	}
	return dst
}

func (w *words) Decode(ids []uint32) ([]byte, error) {
	return []byte(strings.Repeat("x", len(ids))), nil
}

// An encoder from outside answers for the Encoding, and a long text is asked for once where the Encoding remembers.
func TestOutside(t *testing.T) {
	w := &words{}
	enc := Outside("hf:x", w)
	long := strings.Repeat("word ", longText)
	twin := enc.Remembering()
	for range 3 {
		if n := twin.Count(long); n != longText {
			t.Errorf("count = %d, want %d", n, longText)
		}
	}
	if w.counts != 1 {
		t.Errorf("asked %d times, want once", w.counts)
	}
	if enc.Name() != "hf:x" || enc.CountBytes([]byte("a b")) != 2 || len(enc.Append(nil, "a b")) != 2 || len(enc.names) != 0 {
		t.Errorf("%s: %d, %v", enc.Name(), enc.CountBytes([]byte("a b")), enc.Append(nil, "a b"))
	}
	if b, err := enc.Decode([]uint32{1, 1}); err != nil || string(b) != "xx" {
		t.Errorf("decode = %q, %v", b, err)
	}
}
