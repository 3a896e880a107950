package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// PolicyOff is the preset that is there for comparison only.
const PolicyOff = "off"

// A runRow is a run as it stands in a table.
type runRow struct {
	run         replay.Run
	limit       string
	steps       string
	irreducible int
}

// runRows orders runs by window, so that what is to be compared stands together.
func runRows(runs []replay.Run) []runRow {
	var windows []string
	for _, r := range runs {
		if !slices.Contains(windows, r.Window) {
			windows = append(windows, r.Window)
		}
	}
	rows := make([]runRow, 0, len(runs))
	for _, r := range runs {
		steps := strconv.Itoa(r.Steps)
		if r.EndedAtStep > 0 {
			steps = fmt.Sprintf("%d, ended", r.EndedAtStep)
		}
		rows = append(rows, runRow{r, edit.Thousands(r.Limit), steps, len(r.Irreducible)})
	}
	slices.SortStableFunc(rows, func(a, b runRow) int {
		return slices.Index(windows, a.run.Window) - slices.Index(windows, b.run.Window)
	})
	return rows
}

// runTable writes rows under their header.
func runTable(rows []runRow, width int) string {
	st := console.NewStyles()
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "policy"},
		{Name: "window", Right: true, Spare: 3},
		{Name: "limit", Right: true},
		{Name: "steps", Right: true},
		{Name: "over", Right: true},
		{Name: "irreducible", Right: true},
		{Name: "sent", Right: true, Spare: 2},
		{Name: "of raw", Right: true, Spare: 1},
		{Name: "peak", Right: true},
		{Name: "breaks", Right: true},
		{Name: "cost", Right: true},
		{Name: "edits", Wrap: true, Under: true},
	}}
	for _, r := range rows {
		row := console.Plain(console.Safe(r.run.Policy), console.Safe(r.run.Window), r.limit, r.steps, strconv.Itoa(r.run.StepsOver), console.Count(r.irreducible),
			edit.Thousands(r.run.TokensSent), console.Ratio(r.run.TokensSent, r.run.TokensToEnd), edit.Thousands(r.run.PeakSent),
			strconv.Itoa(r.run.CacheBreaks), cost(r.run), editList(r.run.Edits))
		row[4].Style = st.Zero(r.run.StepsOver)
		row[5].Style = st.Bad
		t.Rows = append(t.Rows, row)
	}
	return t.String()
}

// cost returns what a run cost, and nothing where a price is not known.
func cost(r replay.Run) string {
	if !r.CostUSD.Known || r.TokensSent == 0 {
		return ""
	}
	return r.CostUSD.String()
}

// editList writes how many edits of each kind there were.
func editList(edits map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(edits)) {
		parts = append(parts, fmt.Sprintf("%s %d", console.Safe(k), edits[k]))
	}
	if len(parts) == 0 {
		return console.Nothing
	}
	return strings.Join(parts, ", ")
}

// runNotes returns what there is to say about one run.
func runNotes(r replay.Run, steps int) []string {
	var out []string
	if r.EndedAtStep > 0 {
		out = append(out, fmt.Sprintf("ended at step %d of %d: %s", r.EndedAtStep, max(steps, r.EndedAtStep), console.Safe(engine.Reason(r.EndReason).Sentence())))
	}
	if r.StillOver > 0 {
		out = append(out, engine.StillOverText+": its last call was sent all the same")
	}
	if len(r.Irreducible) > 0 {
		out = append(out, irreducible(r.Irreducible))
	}
	if r.BackstopEdits > 0 {
		out = append(out, "the last resort below all policies acted: "+console.Plural(r.BackstopEdits, "edit"))
	}
	if r.Orphans > 0 {
		out = append(out, console.Plural(r.Orphans, "call or result")+" without the other")
	}
	if n := len(r.RuleBreaks); n > 0 {
		first := r.RuleBreaks[0]
		out = append(out, fmt.Sprintf("%s of the provider's rules, the first at call %d: %s", console.Plural(n, "break"), first.Step, console.Safe(first.Message)))
	}
	if n := r.UnresolvedRefs + r.Uncovered; n > 0 {
		out = append(out, console.Plural(n, "removed part")+" that cannot be read back")
	}
	if r.Note != "" {
		out = append(out, console.Safe(r.Note))
	}
	return out
}

// irreducible says of the first of some calls why it could not be sent.
func irreducible(list []replay.Irreducible) string {
	first := list[0]
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(first.Parts)) {
		if n := first.Parts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.ReplaceAll(console.Safe(name), "_", " "), edit.Thousands(n)))
		}
	}
	text := fmt.Sprintf("step %d cannot go below %s tokens (%s)", first.Step, edit.Thousands(first.Floor), strings.Join(parts, ", "))
	if len(list) > 1 {
		text += fmt.Sprintf("; %d more are like it", len(list)-1)
	}
	return text
}
