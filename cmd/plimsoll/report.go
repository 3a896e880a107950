package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// mostName is how many characters of a session's name are shown.
const mostName = 90

// resultText writes one segment with a row for each run.
func resultText(res replay.Result, width int) string {
	w := &writer{width: width, st: newStyles()}
	w.heading(res)
	w.file(res)
	if res.NotRun != "" {
		w.para(w.st.plain, "not run: "+safe(res.NotRun))
		return w.b.String() + agentsText(res, width)
	}
	w.para(w.st.dim, facts(res))
	if a := res.Accepted; a != nil {
		w.para(w.st.bad, acceptedText(*a, strconv.Itoa(a.Step)))
	}
	if len(res.Runs) > 0 {
		w.b.WriteString(runTable(runRows(res.Runs), width))
	}
	for _, l := range res.LeftOut {
		w.para(w.st.dim, fmt.Sprintf("not run at %s: %s", safe(l.Window), safe(l.Why)))
	}
	w.notes(res)
	return w.b.String() + commonText(res.Runs, width) + batchesText(runRows(res.Runs), width) + groundingText(runRows(res.Runs), width) + agentsText(res, width)
}

// agentsText says what a session took together with its sub-agents, behind its last segment.
func agentsText(res replay.Result, width int) string {
	if res.WithAgents == nil {
		return ""
	}
	w := &writer{width: width, st: newStyles()}
	w.para(w.st.plain, fmt.Sprintf("the session with its %s: %s; the policies were run without them", plural(len(res.Agents), "sub-agent"), familyText(*res.WithAgents)))
	return w.b.String()
}

// A writer collects lines of at most width columns.
type writer struct {
	b     strings.Builder
	width int
	st    styles
}

// para writes an indented paragraph.
func (w *writer) para(style lipgloss.Style, text string) {
	for i, line := range wrapText(text, w.width-4) {
		indent := "  "
		if i > 0 {
			indent = "    "
		}
		w.b.WriteString(indent + style.Render(line) + "\n")
	}
}

// besideName is how many columns stand beside the name of a session in a title, at most.
const besideName = 20

// named returns the name of a session for a title: its end, where there is no room for all.
func (w *writer) named(session string) string {
	return safe(shorten(homely(session), min(mostName, w.width-besideName)))
}

func (w *writer) heading(res replay.Result) {
	name := w.st.head.Render(w.named(res.Session))
	if res.Steps == 0 && res.Messages == 0 {
		w.b.WriteString(name + "\n")
		return
	}
	if strings.HasSuffix(res.Format, "-request") {
		w.b.WriteString(name + "  a single request\n")
		w.para(w.st.plain, fmt.Sprintf("%s, %s", modelName(res.Model), plural(res.Messages, "message")))
		return
	}
	fmt.Fprintf(&w.b, "%s  segment %d\n", name, res.Segment)
	w.para(w.st.plain, fmt.Sprintf("%s; %s, %s, %s", startOf(res.Start), modelName(res.Model), plural(res.Steps, "step"), plural(res.Messages, "message")))
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
	return safe(start)
}

// noModel is what a replay calls the model of a file that names none.
const noModel = "unknown"

func modelName(model string) string {
	if model == noModel {
		return "no model named"
	}
	return safe(model)
}

// file writes what is known about the file beside its messages.
func (w *writer) file(res replay.Result) {
	if res.Parent != "" {
		w.para(w.st.dim, kinOf(res.Parent, res.Kin, res.Copied > 0))
	}
	if res.Copied > 0 {
		w.para(w.st.dim, plural(res.Copied, "step")+" copied from another session: they are in no sum")
	}
	if text := leftText(res.Abandoned); text != "" {
		w.para(w.st.dim, text)
	}
	var lines []string
	for _, a := range res.Abandoned {
		lines = append(lines, branchText(a))
	}
	w.list(lines)
	lines = nil
	for _, p := range res.Problems {
		if p.Line == 0 {
			lines = append(lines, safe(p.What))
			continue
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", p.Line, safe(p.What)))
	}
	w.list(lines)
}

// branchText says which lines are no part of a session, and what their calls took.
func branchText(b inspect.Branch) string {
	text := fmt.Sprintf("lines %d to %d (%s) are no part of it: %s", b.First, b.Last, plural(b.Messages, "message"), safe(b.Why))
	if b.Took != nil {
		text += "; " + familyText(*b.Took)
	}
	return text
}

// list writes the first few of a list.
func (w *writer) list(lines []string) {
	shown := atMost(lines, mostListed)
	for i, l := range shown {
		if len(lines) > mostListed && i == len(shown)-1 {
			l += " (all with --json)"
		}
		w.para(w.st.dim, l)
	}
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
		text += fmt.Sprintf("; next prompt predicted to %s (median), %s (p95)", ppm(e.P50PPM), ppm(e.P95PPM))
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
	st := newStyles()
	t := table{width: width, columns: []column{
		{name: "policy"},
		{name: "window", right: true, spare: 3},
		{name: "limit", right: true},
		{name: "steps", right: true},
		{name: "over", right: true},
		{name: "irreducible", right: true},
		{name: "sent", right: true, spare: 2},
		{name: "of raw", right: true, spare: 1},
		{name: "peak", right: true},
		{name: "breaks", right: true},
		{name: "cost", right: true},
		{name: "edits", wrap: true, under: true},
	}}
	for _, r := range rows {
		row := plain(safe(r.run.Policy), safe(r.run.Window), r.limit, r.steps, strconv.Itoa(r.run.StepsOver), positive(r.irreducible),
			edit.Thousands(r.run.TokensSent), ratio(r.run.TokensSent, r.run.TokensToEnd), edit.Thousands(r.run.PeakSent),
			strconv.Itoa(r.run.CacheBreaks), cost(r.run), editList(r.run.Edits))
		row[4].style = st.count(r.run.StepsOver)
		row[5].style = st.bad
		t.rows = append(t.rows, row)
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
func (w *writer) notes(res replay.Result) {
	var texts []string
	who := map[string][]string{}
	note := func(r runRow, text string) {
		if who[text] == nil {
			texts = append(texts, text)
		}
		who[text] = append(who[text], fmt.Sprintf("%s at %s", safe(r.run.Policy), safe(r.run.Window)))
	}
	for _, r := range runRows(res.Runs) {
		for _, text := range runNotes(r.run, res.Steps) {
			note(r, text)
		}
	}
	for _, text := range texts {
		w.para(w.st.dim, strings.Join(who[text], ", ")+": "+text)
	}
	if windowGuessed(res) {
		text := fmt.Sprintf("the window of %s is not known, %s tokens are assumed; state it with --window", safe(res.Model), edit.Thousands(budget.DefaultCapacity))
		if res.Model == noModel {
			text = fmt.Sprintf("no model is named, a window of %s tokens is assumed; state one with --model or --window", edit.Thousands(budget.DefaultCapacity))
		}
		w.para(w.st.bad, text)
	}
	if text := billingNote(res); text != "" {
		w.para(w.st.dim, text)
	}
}

// billingNote says what the costs of a segment rest on.
func billingNote(res replay.Result) string {
	b, unpriced := res.Billing, unpricedNames(res.Runs)
	switch {
	case res.Base == replay.BaseMessages:
		return ""
	case len(unpriced) > 0:
		return "no price is known of " + safe(strings.Join(unpriced, ", ")) + ", so no cost is shown; a price can be stated in plimsoll.yaml (docs/models.md)"
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
	text += fmt.Sprintf("cost of other calls: the provider's cache is simulated (%s, kept for %s)", safe(b.Cache), lasting(b.Lifetime))
	if b.Compared > 0 && b.ReadReported > 0 {
		text += fmt.Sprintf(", which reads %s of the tokens that were reported as read for the client's own", ratio(b.ReadSimulated, b.ReadReported))
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
		return plural(n/3600, "hour")
	case n%60 == 0:
		return plural(n/60, "minute")
	}
	return plural(n, "second")
}

// runNotes returns what there is to say about one run.
func runNotes(r replay.Run, steps int) []string {
	var out []string
	if r.EndedAtStep > 0 {
		out = append(out, fmt.Sprintf("ended at step %d of %d: %s", r.EndedAtStep, max(steps, r.EndedAtStep), safe(engine.Reason(r.EndReason).Sentence())))
	}
	if r.StillOver > 0 {
		out = append(out, engine.StillOverText+": its last call was sent all the same")
	}
	if len(r.Irreducible) > 0 {
		out = append(out, irreducible(r.Irreducible))
	}
	if r.BackstopEdits > 0 {
		out = append(out, "the last resort below all policies acted: "+plural(r.BackstopEdits, "edit"))
	}
	if r.Orphans > 0 {
		out = append(out, plural(r.Orphans, "call or result")+" without the other")
	}
	if n := len(r.RuleBreaks); n > 0 {
		first := r.RuleBreaks[0]
		out = append(out, fmt.Sprintf("%s of the provider's rules, the first at call %d: %s", plural(n, "break"), first.Step, safe(first.Message)))
	}
	if n := r.UnresolvedRefs + r.Uncovered; n > 0 {
		out = append(out, plural(n, "removed part")+" that cannot be read back")
	}
	if r.Note != "" {
		out = append(out, safe(r.Note))
	}
	return out
}

// irreducible says of the first of some calls why it could not be sent.
func irreducible(list []replay.Irreducible) string {
	first := list[0]
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(first.Parts)) {
		if n := first.Parts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.ReplaceAll(safe(name), "_", " "), edit.Thousands(n)))
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
	w := &writer{width: width, st: newStyles()}
	t := table{width: width, columns: []column{{name: "policy"}, {name: "window", right: true}, {name: "one limit", right: true}, {name: "over it", right: true}}}
	said := map[string]bool{}
	for _, r := range runRows(runs) {
		same := func(o replay.Run) bool { return o.Window == r.run.Window }
		if !slices.ContainsFunc(runs, func(o replay.Run) bool { return same(o) && o.Limit != r.run.Limit }) {
			continue
		}
		if !slices.ContainsFunc(runs, func(o replay.Run) bool { return same(o) && o.OverCommon > 0 }) {
			if !said[r.run.Window] {
				w.para(w.st.dim, fmt.Sprintf("at %s no policy is over the lowest of their limits, %s", safe(r.run.Window), edit.Thousands(r.run.CommonLimit)))
			}
			said[r.run.Window] = true
			continue
		}
		row := plain(safe(r.run.Policy), safe(r.run.Window), edit.Thousands(r.run.CommonLimit), strconv.Itoa(r.run.OverCommon))
		row[3].style = w.st.count(r.run.OverCommon)
		t.rows = append(t.rows, row)
	}
	if len(t.rows) > 0 {
		w.b.WriteString("\n" + t.String())
	}
	return w.b.String()
}

// editList writes how many edits of each kind there were.
func editList(edits map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(edits)) {
		parts = append(parts, fmt.Sprintf("%s %d", safe(k), edits[k]))
	}
	if len(parts) == 0 {
		return nothing
	}
	return strings.Join(parts, ", ")
}

// ratio writes part of whole as a percentage.
func ratio(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return strconv.Itoa(int((int64(part)*100+int64(whole)/2)/int64(whole))) + "%"
}

// ppm writes parts per million as a percentage.
func ppm(n int) string { return fmt.Sprintf("%d.%02d%%", n/10_000, n%10_000/100) }
