package reports

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// TestStatedOnce: what many lines of a file say of its sums in the same words is said once.
func TestStatedOnce(t *testing.T) {
	var r inspect.Report
	for line := range 60 {
		r.Stated = append(r.Stated, inspect.Stated{Line: line + 1, What: "session cost", Figures: []inspect.StatedFigure{{Name: "cost"}}})
	}
	r.Stated = append(r.Stated, inspect.Stated{Line: 99, What: "session cost", Figures: []inspect.StatedFigure{{Name: "calls", Stated: 3, Ours: 2, Differs: true}}})
	t.Setenv("NO_COLOR", "1")
	w := newReportWriter(100)
	w.stated(r)
	want := "what the file says about its sums\n" +
		"  lines 1, 2, 3 and 57 more, session cost: as added up here: cost\n" +
		"  line  by            figure  stated  ours  how\n" +
		"    99  session cost  calls        3     2  differs\n"
	if got := strings.TrimPrefix(w.String(), "\n"); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

func TestBranchText(t *testing.T) {
	for want, b := range map[string]inspect.Branch{
		"line 3, 1 message, no part of it: cut off":        {First: 3, Last: 3, Messages: 1, Why: "cut off"},
		"lines 3 to 5, 2 messages, no part of it: cut off": {First: 3, Last: 5, Messages: 2, Why: "cut off"},
	} {
		if got := lines(rows.Branches([]inspect.Branch{b}), noPart); len(got) != 1 || got[0] != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestLooksAtTheRefusedCall: where the last call was refused, the hint is about its request.
func TestLooksAtTheRefusedCall(t *testing.T) {
	r := inspect.Report{
		Session: "s.jsonl", End: inspect.End{How: inspect.EndRefused, Call: 3, Tokens: 300}, Totals: inspect.Totals{Steps: 2, PeakStep: "1.1"},
		Segments: []inspect.Segment{{Number: 1, Steps: make([]inspect.Step, 3)}},
	}
	t.Setenv("NO_COLOR", "1")
	w := newReportWriter(100)
	if w.next(r); !strings.Contains(w.String(), "--step 3\n") {
		t.Errorf("want step 3, got %s", w.String())
	}
}
