package reports

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// findings closes a report: what could have been had for less.
func (w *reportWriter) findings(r inspect.Report) {
	if len(r.Findings) == 0 {
		return
	}
	w.Part("what now")
	for _, f := range r.Findings {
		w.Para(w.Style.Plain, "- "+console.Safe(f.Text))
		w.Para(w.Style.Plain, "> "+console.Safe(f.Do))
		if f.Command != "" {
			w.WriteString("    " + w.Style.Dim.Render(console.Safe(f.Command)) + "\n") // whole, to be pasted
		}
	}
}

// next says what else can be looked at.
func (w *reportWriter) next(r inspect.Report) {
	if r.Totals.Steps == 0 {
		return
	}
	name := advice.Quoted(r.Session)
	w.WriteByte('\n')
	step := r.Totals.PeakStep
	if g := r.Segments[len(r.Segments)-1]; r.End.Tokens > 0 { // what was refused is looked at first
		step = inspect.StepRef{Segment: g.Number, Step: len(g.Steps)}.Name()
	}
	w.Hint("the content of one step", fmt.Sprintf("plimsoll inspect %s --step %s", name, stepName(r, step)))
	w.Hint("what a policy would have sent", "plimsoll replay "+name)
}
