package webtest

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestBreaksSaveNothing: the list beneath the charts says of a cut what it saved, and of a
// cache break what was not read.
func TestBreaksSaveNothing(t *testing.T) {
	ctx := browser(t)
	report := inspected(t, sessionFile(t, 40))[0]
	segment := report.Segments[0].Number
	report.Cuts = []inspect.Cut{{StepRef: inspect.StepRef{Segment: segment, Step: 5}, What: "compaction", Before: 9000, After: 2000, DroppedMessages: 3}}
	report.CacheBreaks = []inspect.Break{{StepRef: inspect.StepRef{Segment: segment, Step: 7}, Cause: "idle", Expected: 8000, Read: 3000, Lost: 5000}}
	p := open(ctx, t, inspectPage(t, "marks", []inspect.Report{report}, web.Options{}), look{1440, "light"})
	got := rows(p, "#edits tr")
	want := [][]string{
		{"Step", "Who", "Kind", "Count", "Before", "After", "Saved", "Not read (paid again)", "Why"},
		{"5", "client", "compaction", "3", "9,000", "2,000", "7,000", "", "dropped –; added –"},
		{"7", "provider", "cache break", "1", "", "", "", "5,000", "idle"},
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestComparedFits: all columns of the table that one reads first can be seen on a small laptop.
func TestComparedFits(t *testing.T) {
	ctx := browser(t)
	for _, width := range []int64{1200, 1440} {
		p := open(ctx, t, replayPage(t, "fits", replayed(t, sessionFile(t, 45)), web.Options{}), look{width, "light"})
		if n := eval[int](p, `(() => { const e = document.querySelector('[aria-label="Policies compared"]'); return e.scrollWidth - e.clientWidth; })()`); n > 0 {
			t.Errorf("%d px: the table is %d px too wide", width, n)
		}
	}
}
