package engine_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
)

// TestPages is law 4 for snapshots (R002-19): wherever the pages of a session end, what is
// collected from them and from the records after them is what all records come to, so that
// the machine begins with the same; but a fork from within a page needs the records.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newPair(t)
		s.must(s.feed(engine.Append{Message: s.human()}))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.step()
		}
		want, err := s.h.snapshot()
		s.must(err)
		var lines [][]byte
		at := 0
		for range rapid.IntRange(0, 4).Draw(t, "pages") {
			end := rapid.IntRange(at, len(s.h.lines)).Draw(t, "end")
			if end == at {
				continue
			}
			short, err := journal.Shorten(s.h.lines[at:end], want.Edits)
			s.must(err)
			page, err := journal.EncodePage(journal.Page{From: at, To: end, Lines: short})
			s.must(err)
			again, err := journal.DecodePage(page)
			s.must(err)
			if again.From != at || again.To != end {
				t.Fatalf("records %d to %d, got %d to %d", at, end, again.From, again.To)
			}
			lines, at = append(lines, again.Lines...), end
		}
		got, err := journal.Collect(journal.Whole(journal.Read(journal.Lines(append(lines, s.h.lines[at:]...)))))
		s.must(err)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("with pages up to record %d of %d\n%+v\nwithout\n%+v", at, len(s.h.lines), got, want)
		}
	})
}
