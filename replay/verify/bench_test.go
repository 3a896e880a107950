package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// long is a conversation of about a megabyte.
func long() []turn {
	turns := []turn{human("begin")}
	for i := range 400 {
		id := fmt.Sprint("call_", i)
		text := strings.Repeat(fmt.Sprintf("%d: some line of an output with \"quotes\"\n", i), 55)
		turns = append(turns, calls(id), result(id, text))
	}
	return append(turns, human("end"))
}

// growing is the bodies of a session in which every Step adds a round. From the 200th
// round on the oldest 300 turns are archived and ten outputs are stubs.
func growing(s store) (raws, edits [][]byte) {
	turns := long()
	ref := s.put(archive(anthropic, turns, 1, 302, nil))
	edited := append([]turn{human("[300 messages: ref=" + ref + "]")}, turns[301:]...)
	for i := 1; i < 20; i += 2 {
		p := edited[i+1].parts[0]
		edited[i+1] = result(p.id, "[output: ref="+s.put(p.text)+"]")
	}
	for n := 3; n < len(turns); n += 2 {
		raw := body(anthropic, turns[:n]...)
		raws = append(raws, raw)
		if n < 401 {
			edits = append(edits, raw)
			continue
		}
		edits = append(edits, body(anthropic, edited[:n-300]...))
	}
	return raws, edits
}

func BenchmarkSession(b *testing.B) {
	s := store{}
	raws, edits := growing(s)
	total := 0
	for i := range raws {
		total += len(raws[i]) + len(edits[i])
	}
	b.SetBytes(int64(total))
	for b.Loop() {
		c, err := verify.NewChecker(anthropic)
		if err != nil {
			b.Fatal(err)
		}
		for i := range raws {
			f, err := c.Compare(raws[i], edits[i], verify.Options{Load: s.load})
			if err != nil || !f.Clean() {
				b.Fatalf("step %d: %+v, %v", i, f, err)
			}
		}
	}
	b.ReportMetric(float64(len(raws)), "pairs/op")
}

func BenchmarkUntouched(b *testing.B) {
	raw := body(anthropic, long()...)
	copied := append([]byte{}, raw...)
	c, err := verify.NewChecker(anthropic)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(2 * len(raw)))
	for b.Loop() {
		if f, err := c.Compare(raw, copied, verify.Options{}); err != nil || !f.Clean() {
			b.Fatal(f, err)
		}
	}
}

func BenchmarkCold(b *testing.B) {
	raw := body(anthropic, long()...)
	b.SetBytes(int64(2 * len(raw)))
	for b.Loop() {
		if f, err := verify.Compare(anthropic, raw, raw, verify.Options{}); err != nil || !f.Clean() {
			b.Fatal(f, err)
		}
	}
}
