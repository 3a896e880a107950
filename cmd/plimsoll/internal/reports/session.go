package reports

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A reportWriter writes the parts of a report. What there is nothing of is left out.
type reportWriter struct{ *console.Writer }

func newReportWriter(width int) *reportWriter { return &reportWriter{console.NewWriter(width)} }

// mostCuts is how many cuts are shown.
const mostCuts = 20

// noModel is what a replay calls the model of a file that names none.
const noModel = "unknown"

func modelName(model string) string {
	if model == noModel {
		return "no model named"
	}
	return console.Safe(model)
}

// windowOf returns the window of the segment with the largest prompt, 0 if nobody
// knows it.
func windowOf(r inspect.Report) int {
	window, peak := 0, 0
	for _, g := range r.Segments {
		for _, s := range g.Own() {
			if s.Tokens > peak {
				window, peak = g.Window, s.Tokens
			}
		}
	}
	return window
}

// estimatedCost says of how many Steps the cost is an estimate.
func estimatedCost(t inspect.Totals) string {
	switch t.CostEstimated {
	case 0:
		return ""
	case t.CostSteps:
		return " (estimated)"
	}
	return fmt.Sprintf(" (estimated for %d of them)", t.CostEstimated)
}

// kinOf says how a session began from another one.
func kinOf(parent, kin string, copied bool) string {
	switch {
	case sessionfile.Kin(kin) != sessionfile.KinFork:
		return "a sub-agent of session " + console.Safe(parent)
	case copied:
		return "begins with a copy of session " + console.Safe(parent)
	}
	return "goes on from session " + console.Safe(parent)
}

// acceptedText says that a limit that is known is too small for a session.
func acceptedText(a inspect.Accepted, step string) string {
	return fmt.Sprintf("a prompt of %s tokens was accepted at step %s, line %d: the limit of %s that is known is too small for this session, a window of %s is taken",
		edit.Thousands(a.Tokens), step, a.Line, edit.Thousands(a.Known), edit.Thousands(a.Window))
}

// familyText says what a session took together with its sub-agents.
func familyText(f inspect.Family) string {
	text := fmt.Sprintf("%s, %s tokens", console.Plural(f.Steps, "step"), edit.Thousands(f.Tokens))
	if f.Unsized > 0 {
		text += fmt.Sprintf(" without those of %s, which nobody knows", console.Plural(f.Unsized, "step"))
	}
	if f.CostUSD.Known {
		text += "; " + f.CostUSD.String() + estimatedCost(inspect.Totals{CostSteps: f.CostSteps, CostEstimated: f.CostEstimated})
	}
	return text
}

// leftIn returns what the calls took of branches that are no sub-agent's.
func leftIn(branches []inspect.Branch) inspect.Family {
	sum := inspect.Family{CostUSD: catalog.Dollars(0)}
	for _, b := range branches {
		if b.Took != nil && b.Why != sessionfile.WhySubAgent {
			sum = sum.Add(*b.Took)
		}
	}
	return sum
}

// leftText says what the calls took that lead to nothing; empty if there are none.
func leftText(branches []inspect.Branch) string {
	sum := leftIn(branches)
	if sum.Steps == 0 {
		return ""
	}
	return "besides, on branches that were left: " + familyText(sum) + "; in no sum"
}
