package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A reportWriter writes the parts of a report. What there is nothing of is left out.
type reportWriter struct{ *console.Writer }

func newReportWriter(width int) *reportWriter { return &reportWriter{console.NewWriter(width)} }

// mostTool is how many columns the name of a tool takes at most.
const mostTool = 24

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

// stepName is a Step's name without its segment where there is only one.
func stepName(r inspect.Report, name string) string {
	if len(r.Segments) > 1 {
		return name
	}
	_, step, _ := strings.Cut(name, ".")
	return step
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

// contentList writes tokens by content, most first.
func contentList(by map[string]int) string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %s", console.Safe(name), edit.Thousands(by[name]))
	}
	return strings.Join(names, ", ")
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

// branchText says which lines are no part of a session, and what their calls took.
func branchText(b inspect.Branch) string {
	where, are := fmt.Sprintf("lines %d to %d", b.First, b.Last), "are"
	if b.First == b.Last {
		where, are = fmt.Sprintf("line %d", b.First), "is"
	}
	text := fmt.Sprintf("%s (%s) %s no part of it: %s", where, console.Plural(b.Messages, "message"), are, console.Safe(b.Why))
	if b.Took != nil {
		text += "; " + familyText(*b.Took)
	}
	return text
}
