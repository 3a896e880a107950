package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// resultText writes one segment with a row for each run.
func resultText(res replay.Result, width int) string {
	w := &replayWriter{console.NewWriter(width)}
	w.heading(res)
	w.file(res)
	if res.NotRun != "" {
		w.Para(w.Style.Plain, "not run: "+console.Safe(res.NotRun))
		return w.String() + agentsText(res, width)
	}
	w.Para(w.Style.Dim, facts(res))
	if a := res.Accepted; a != nil {
		w.Para(w.Style.Bad, acceptedText(*a, strconv.Itoa(a.Step)))
	}
	if len(res.Runs) > 0 {
		w.WriteString(runTable(runRows(res.Runs), width))
	}
	for _, l := range res.LeftOut {
		w.Para(w.Style.Dim, fmt.Sprintf("not run at %s: %s", console.Safe(l.Window), console.Safe(l.Why)))
	}
	w.notes(res)
	return w.String() + commonText(res.Runs, width) + batchesText(runRows(res.Runs), width) + groundingText(runRows(res.Runs), width) + agentsText(res, width)
}

// agentsText says what a session took together with its sub-agents, behind its last segment.
func agentsText(res replay.Result, width int) string {
	if res.WithAgents == nil {
		return ""
	}
	w := console.NewWriter(width)
	w.Para(w.Style.Plain, fmt.Sprintf("the session with its %s: %s; the policies were run without them", console.Plural(len(res.Agents), "sub-agent"), familyText(*res.WithAgents)))
	return w.String()
}

// A replayWriter writes what was replayed of one segment.
type replayWriter struct{ *console.Writer }

func (w *replayWriter) heading(res replay.Result) {
	name := w.Style.Head.Render(w.Named(res.Session))
	if res.Steps == 0 && res.Messages == 0 {
		w.WriteString(name + "\n")
		return
	}
	if strings.HasSuffix(res.Format, "-request") {
		w.WriteString(name + "  a single request\n")
		w.Para(w.Style.Plain, fmt.Sprintf("%s, %s", modelName(res.Model), console.Plural(res.Messages, "message")))
		return
	}
	fmt.Fprintf(&w.Builder, "%s  segment %d\n", name, res.Segment)
	w.Para(w.Style.Plain, fmt.Sprintf("%s; %s, %s, %s", startOf(res.Start), modelName(res.Model), console.Plural(res.Steps, "step"), console.Plural(res.Messages, "message")))
}

// startOf says in words where a segment starts.
func startOf(start string) string {
	switch sessionfile.Start(start) {
	case sessionfile.StartRoot:
		return "from its beginning"
	case sessionfile.StartCompaction:
		return "after a compaction"
	case sessionfile.StartMicrocompaction:
		return "after old outputs were cleared"
	case sessionfile.StartRollback:
		return "after something was taken back"
	case sessionfile.StartResumed:
		return "from somewhere in the middle"
	}
	return console.Safe(start)
}

// noModel is what a replay calls the model of a file that names none.
const noModel = "unknown"

func modelName(model string) string {
	if model == noModel {
		return "no model named"
	}
	return console.Safe(model)
}

// file writes what is known about the file beside its messages.
func (w *replayWriter) file(res replay.Result) {
	if res.Parent != "" {
		w.Para(w.Style.Dim, kinOf(res.Parent, res.Kin, res.Copied > 0))
	}
	if res.Copied > 0 {
		w.Para(w.Style.Dim, console.Plural(res.Copied, "step")+" copied from another session: they are in no sum")
	}
	if text := leftText(res.Abandoned); text != "" {
		w.Para(w.Style.Dim, text)
	}
	var lines []string
	for _, a := range res.Abandoned {
		lines = append(lines, branchText(a))
	}
	w.List(lines)
	lines = nil
	for _, p := range res.Problems {
		if p.Line == 0 {
			lines = append(lines, console.Safe(p.What))
			continue
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", p.Line, console.Safe(p.What)))
	}
	w.List(lines)
}

// branchText says which lines are no part of a session, and what their calls took.
func branchText(b inspect.Branch) string {
	text := fmt.Sprintf("lines %d to %d (%s) are no part of it: %s", b.First, b.Last, console.Plural(b.Messages, "message"), console.Safe(b.Why))
	if b.Took != nil {
		text += "; " + familyText(*b.Took)
	}
	return text
}

// facts says what the figures stand on.
func facts(res replay.Result) string {
	if res.Base == replay.BaseMessages {
		return "messages alone, by chars/4: no system prompt, tools, thinking or overhead"
	}
	text := fmt.Sprintf("overhead %s tokens (%s)", edit.Thousands(res.Overhead.Tokens), res.Overhead.Kind)
	if n := res.Overhead.Unrecorded; n > 0 {
		text += fmt.Sprintf(" and %s unrecorded", edit.Thousands(n))
	}
	if res.Reported.Peak > 0 {
		text = fmt.Sprintf("reported peak %s, %s", edit.Thousands(res.Reported.Peak), text)
	}
	if e := res.Estimate; e.Pairs > 0 {
		text += fmt.Sprintf("; next prompt predicted to %s (median), %s (p95)", console.PPM(e.P50PPM), console.PPM(e.P95PPM))
	}
	return text
}

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

// notes writes what a row has no room for. Runs of which the same is to be said
// share a line.
func (w *replayWriter) notes(res replay.Result) {
	var texts []string
	who := map[string][]string{}
	note := func(r runRow, text string) {
		if who[text] == nil {
			texts = append(texts, text)
		}
		who[text] = append(who[text], fmt.Sprintf("%s at %s", console.Safe(r.run.Policy), console.Safe(r.run.Window)))
	}
	for _, r := range runRows(res.Runs) {
		for _, text := range runNotes(r.run, res.Steps) {
			note(r, text)
		}
	}
	for _, text := range texts {
		w.Para(w.Style.Dim, strings.Join(who[text], ", ")+": "+text)
	}
	if windowGuessed(res) {
		text := fmt.Sprintf("the window of %s is not known, %s tokens are assumed; state it with --window", console.Safe(res.Model), edit.Thousands(budget.DefaultCapacity))
		if res.Model == noModel {
			text = fmt.Sprintf("no model is named, a window of %s tokens is assumed; state one with --model or --window", edit.Thousands(budget.DefaultCapacity))
		}
		w.Para(w.Style.Bad, text)
	}
	if text := billingNote(res); text != "" {
		w.Para(w.Style.Dim, text)
	}
}

// billingNote says what the costs of a segment rest on.
func billingNote(res replay.Result) string {
	b, unpriced := res.Billing, unpricedNames(res.Runs)
	switch {
	case res.Base == replay.BaseMessages:
		return ""
	case len(unpriced) > 0:
		return "no price is known of " + console.Safe(strings.Join(unpriced, ", ")) + ", so no cost is shown; a price can be stated in plimsoll.yaml (docs/models.md)"
	case slices.ContainsFunc(res.Runs, func(r replay.Run) bool { return r.TokensSent > 0 && !r.CostUSD.Known }):
		return "no cost is shown, as list prices do not hold for some of the calls"
	case b.Cache == "":
		return ""
	case b.Cache == "off":
		return "cost: the client did not use the provider's cache, so no call does" + estimated(b)
	}
	text := ""
	if b.PaidUSD.Known && b.PaidUSD.Pico > 0 {
		text = "the client paid " + b.PaidUSD.String() + estimated(b) + "; "
	}
	text += fmt.Sprintf("cost of other calls: the provider's cache is simulated (%s, kept for %s)", console.Safe(b.Cache), lasting(b.Lifetime))
	if b.Compared > 0 && b.ReadReported > 0 {
		text += fmt.Sprintf(", which reads %s of the tokens that were reported as read for the client's own", console.Ratio(b.ReadSimulated, b.ReadReported))
	}
	return text
}

// estimated says of how many calls what was paid is an estimate.
func estimated(b replay.Billing) string {
	return estimatedCost(inspect.Totals{CostSteps: b.PaidSteps, CostEstimated: b.EstimatedSteps})
}

// unpricedNames returns the models without a price, each with what of it has none where
// the rest has one.
func unpricedNames(runs []replay.Run) []string {
	var models []string
	parts := map[string][]string{}
	for _, r := range runs {
		for i, m := range r.Bill.Unpriced {
			if !slices.Contains(models, m) {
				models = append(models, m)
			}
			if i >= len(r.Bill.UnpricedParts) {
				continue
			}
			for _, part := range partNames(r.Bill.UnpricedParts[i]) {
				if !slices.Contains(parts[m], part) {
					parts[m] = append(parts[m], part)
				}
			}
		}
	}
	for i, m := range models {
		if len(parts[m]) > 0 {
			models[i] += " (" + strings.Join(parts[m], ", ") + ")"
		}
	}
	return models
}

// partNames names the parts that have tokens.
func partNames(p replay.UnpricedPart) []string {
	var names []string
	for _, part := range []struct {
		name   string
		tokens int
	}{
		{"input", p.Input},
		{"cache read", p.CacheRead},
		{"cache write, short", p.CacheWrite5m},
		{"cache write, long", p.CacheWrite1h},
		{"output", p.Output},
	} {
		if part.tokens > 0 {
			names = append(names, part.name)
		}
	}
	return names
}

// lasting says how long something lasts.
func lasting(n int) string {
	switch {
	case n == 0:
		return "an unknown time"
	case n%3600 == 0:
		return console.Plural(n/3600, "hour")
	case n%60 == 0:
		return console.Plural(n/60, "minute")
	}
	return console.Plural(n, "second")
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

// windowGuessed reports whether the model's own window was asked for and nobody
// knows it.
func windowGuessed(res replay.Result) bool {
	return res.WindowGuessed && slices.ContainsFunc(res.Runs, func(r replay.Run) bool {
		return r.Window == replay.WindowSpec{}.String() && r.Capacity == budget.DefaultCapacity
	})
}

// commonText judges all policies by one limit, for windows on which their own
// limits differ.
func commonText(runs []replay.Run, width int) string {
	w := console.NewWriter(width)
	t := console.Table{Width: width, Columns: []console.Column{{Name: "policy"}, {Name: "window", Right: true}, {Name: "one limit", Right: true}, {Name: "over it", Right: true}}}
	said := map[string]bool{}
	for _, r := range runRows(runs) {
		same := func(o replay.Run) bool { return o.Window == r.run.Window }
		if !slices.ContainsFunc(runs, func(o replay.Run) bool { return same(o) && o.Limit != r.run.Limit }) {
			continue
		}
		if !slices.ContainsFunc(runs, func(o replay.Run) bool { return same(o) && o.OverCommon > 0 }) {
			if !said[r.run.Window] {
				w.Para(w.Style.Dim, fmt.Sprintf("at %s no policy is over the lowest of their limits, %s", console.Safe(r.run.Window), edit.Thousands(r.run.CommonLimit)))
			}
			said[r.run.Window] = true
			continue
		}
		row := console.Plain(console.Safe(r.run.Policy), console.Safe(r.run.Window), edit.Thousands(r.run.CommonLimit), strconv.Itoa(r.run.OverCommon))
		row[3].Style = w.Style.Zero(r.run.OverCommon)
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		w.WriteString("\n" + t.String())
	}
	return w.String()
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
