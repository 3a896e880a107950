package reports

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// findings closes a report: what could have been had for less.
func (w *reportWriter) findings(r inspect.Report) {
	t := rows.Findings(r).Pick("finding", "what helps", "command")
	if len(t.Rows) == 0 {
		return
	}
	w.Part("what now")
	for _, row := range t.Rows {
		w.Para(w.Style.Plain, "- "+console.Safe(row.Cells[0].String()))
		w.Para(w.Style.Plain, "> "+console.Safe(row.Cells[1].String()))
		if command := row.Cells[2].String(); command != "" {
			w.WriteString("    " + w.Style.Dim.Render(console.Safe(command)) + "\n") // whole, to be pasted
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
	w.Hint("the content of one step", fmt.Sprintf("plimsoll inspect %s --step %s", name, rows.ShortStep(r, step)))
	w.Hint("what a policy would have sent", "plimsoll replay "+name)
}
