package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// reportText writes a report for people. colour says that the chart may be told by
// its colours, steps says that every Step is listed.
func reportText(r inspect.Report, width int, colour, steps bool) string {
	w := &reportWriter{writer{width: width, st: newStyles()}}
	w.head(r)
	w.b.WriteString(chartOf(r, width, colour).String())
	if steps && len(r.Segments) > 0 {
		w.steps(r)
	}
	w.agents(r)
	w.stated(r)
	w.largest(r)
	w.repeated(r)
	w.cuts(r)
	w.breaks(r)
	w.thinking(r)
	w.unanswered(r)
	w.unread(r)
	w.findings(r)
	w.next(r)
	return w.b.String()
}

// A reportWriter writes the parts of a report. What there is nothing of is left out.
type reportWriter struct{ writer }

func (w *reportWriter) title(text string) { w.b.WriteString(w.st.head.Render(text) + "\n") }

// part begins a part of the report.
func (w *reportWriter) part(title string) {
	w.b.WriteByte('\n')
	for _, line := range wrapText(title, w.width) {
		w.title(line)
	}
}

func (w *reportWriter) largest(r inspect.Report) {
	if len(r.Largest) == 0 {
		return
	}
	w.part(fmt.Sprintf("largest of %s", plural(r.Totals.Outputs, "tool output")))
	t := table{width: w.width, columns: []column{
		{name: "  tokens", right: true},
		{name: "steps", right: true},
		{name: "carried", right: true, spare: 1},
		{name: "cost", right: true, spare: 2},
		{name: "line", right: true},
		{name: "tool"},
		{name: "arguments"},
	}}
	for _, o := range r.Largest {
		t.rows = append(t.rows, plain(edit.Thousands(o.Tokens), strconv.Itoa(o.Steps), edit.Thousands(o.Carried), money(o), positive(o.Line),
			clip(o.Tool, mostTool), safe(o.Arguments)))
	}
	w.b.WriteString(clippedBy(t, argumentsText))
}

// mostTool is how many columns the name of a tool takes at most.
const mostTool = 24

// money is the cost of an output, empty if nobody knows it.
func money(o inspect.Output) string {
	if !o.CostUSD.Known {
		return ""
	}
	return o.CostUSD.String()
}

func (w *reportWriter) repeated(r inspect.Report) {
	if len(r.Repeated) == 0 {
		return
	}
	w.part(fmt.Sprintf("repeated content: %s tokens were shown before", edit.Thousands(r.Totals.Repeated)))
	t := table{width: w.width, columns: []column{
		{name: "  tokens", right: true},
		{name: "steps", right: true},
		{name: "cost", right: true, spare: 1},
		{name: "lines", right: true, spare: 2},
		{name: "line", right: true},
		{name: "shown at", right: true},
		{name: "tool"},
		{name: "arguments"},
	}}
	for _, p := range r.Repeated {
		lines := strconv.Itoa(p.Lines)
		if p.Whole {
			lines = "all"
		}
		t.rows = append(t.rows, plain(edit.Thousands(p.Tokens), strconv.Itoa(p.Steps), money(p.Output), lines, positive(p.Line),
			positive(p.Earlier.Line), clip(p.Tool, mostTool), safe(p.Arguments)))
	}
	w.b.WriteString(clippedBy(t, argumentsText))
}

// leastLast is how much of the last column of a table is always shown.
const leastLast = 14

// clipped returns a table whose last column is cut to the room that the others leave.
func clipped(t table) string { return clippedBy(t, clip) }

// clippedBy is clipped with what makes a text fit into so many columns.
func clippedBy(t table, fit func(text string, columns int) string) string {
	t = fitted(t)
	last := len(t.columns) - 1
	others := t.without(func(i int) bool { return i == last || t.empty(i) })
	room := max(t.width-others.total(others.fit())-len(gap), leastLast)
	for _, row := range t.rows {
		row[last].text = fit(row[last].text, room)
	}
	return t.String()
}

func (w *reportWriter) cuts(r inspect.Report) {
	if len(r.Cuts) == 0 {
		return
	}
	w.part("what the client cut")
	for _, c := range atMostOf(r.Cuts, mostCuts) {
		text := fmt.Sprintf("%s before step %s, line %d", safe(c.What), c.Name(), c.Line)
		if c.Time > 0 {
			text += ", " + clock(c.Time)
		}
		text += fmt.Sprintf(": %s to %s tokens, %d to %s", edit.Thousands(c.Before), edit.Thousands(c.After), c.MessagesBefore, plural(c.MessagesAfter, "message"))
		if len(c.Dropped) > 0 {
			text += "; out: " + contentList(c.Dropped)
		}
		if len(c.Added) > 0 {
			text += "; in: " + contentList(c.Added)
		}
		w.para(w.st.plain, text)
	}
	w.more(len(r.Cuts), mostCuts)
}

// mostCuts is how many cuts are shown.
const mostCuts = 20

// more says that a list goes on.
func (w *reportWriter) more(n, most int) {
	if n > most {
		w.para(w.st.dim, fmt.Sprintf("and %d more (all with --json)", n-most))
	}
}

func atMostOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// contentList writes tokens by content, most first.
func contentList(by map[string]int) string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %s", safe(name), edit.Thousands(by[name]))
	}
	return strings.Join(names, ", ")
}

func (w *reportWriter) breaks(r inspect.Report) {
	t := r.Totals
	if t.CacheBreaks == 0 {
		return
	}
	w.part(fmt.Sprintf("%s of the provider's cache: %s tokens were not read", plural(t.CacheBreaks, "break"), edit.Thousands(t.CacheLost)))
	out := table{width: w.width, columns: []column{
		{name: "    step", right: true},
		{name: "lost", right: true},
		{name: "cost", right: true, spare: 1},
		{name: "idle", right: true, spare: 2},
		{name: "cause"},
		{name: "from", wrap: true},
	}}
	for _, b := range r.CacheBreaks {
		cost := ""
		if b.CostUSD.Known {
			cost = b.CostUSD.String()
		}
		idle := ""
		if b.Idle > 0 {
			idle = (time.Duration(b.Idle) * time.Second).String()
		}
		out.rows = append(out.rows, plain(stepName(r, b.Name()), edit.Thousands(b.Lost), cost, idle, b.Cause, placeText(b.At)))
	}
	w.b.WriteString(out.String())
}

// placeText says where in a request a cache broke.
func placeText(p inspect.Place) string {
	if p.What == inspect.ItemHidden {
		return "before the first message"
	}
	text := "system prompt or tools"
	if p.Message > 0 {
		text = fmt.Sprintf("message %d", p.Message)
		if p.Line > 0 {
			text += fmt.Sprintf(", line %d", p.Line)
		}
	}
	if p.Byte < 0 {
		return text
	}
	about := ""
	if p.Kind != inspect.ExactPlace {
		about = "about "
	}
	return fmt.Sprintf("%s, %sbyte %s", text, about, edit.Thousands(p.Byte))
}

func (w *reportWriter) thinking(r inspect.Report) {
	if len(r.Thinking) == 0 {
		return
	}
	w.part("thinking")
	for _, k := range atMostOf(r.Thinking, mostCuts) {
		text := fmt.Sprintf("%s of about %s tokens, %d signed, %d hidden; ", plural(k.Blocks, "block"), edit.Thousands(k.Tokens), k.Signed, k.Hidden)
		if len(r.Segments) > 1 {
			text = fmt.Sprintf("segment %d: ", k.Segment) + text
		}
		switch k.Carried {
		case "kept":
			text += fmt.Sprintf("kept in later prompts, seen %s", times(k.Turns))
		case "dropped":
			text += fmt.Sprintf("%s tokens left later prompts", edit.Thousands(k.Dropped))
		default:
			text += "whether later prompts have it cannot be told"
		}
		w.para(w.st.plain, text)
	}
	w.more(len(r.Thinking), mostCuts)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (w *reportWriter) unanswered(r inspect.Report) {
	if len(r.Unanswered) == 0 {
		return
	}
	w.part(fmt.Sprintf("%s without a result", plural(len(r.Unanswered), "call")))
	for _, c := range atMostOf(r.Unanswered, mostListed) {
		text := fmt.Sprintf("line %d: %s %s (%s)", c.Line, clip(c.Tool, mostTool), argumentsText(c.Arguments, w.width-60), c.Why)
		w.para(w.st.plain, text)
	}
	w.more(len(r.Unanswered), mostListed)
}

// unread lists what could not be read, and what leads nowhere.
func (w *reportWriter) unread(r inspect.Report) {
	var lines []string
	for _, g := range r.Segments {
		if g.NotRun != "" {
			lines = append(lines, fmt.Sprintf("segment %d cannot be rebuilt: %s", g.Number, safe(g.NotRun)))
		}
	}
	for _, p := range r.Problems {
		if p.Line == 0 {
			lines = append(lines, safe(p.What))
			continue
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", p.Line, safe(p.What)))
	}
	for _, a := range r.Abandoned {
		lines = append(lines, branchText(a))
	}
	if len(lines) == 0 {
		return
	}
	w.part("in the file")
	w.list(lines)
}

// next says what else can be looked at.
func (w *reportWriter) next(r inspect.Report) {
	if r.Totals.Steps == 0 {
		return
	}
	name := advice.Quoted(r.Session)
	w.b.WriteByte('\n')
	w.hint("the content of one step", fmt.Sprintf("plimsoll inspect %s --step %s", name, stepName(r, r.Totals.PeakStep)))
	w.hint("what a policy would have sent", "plimsoll replay "+name)
}

// hint writes what a command shows and the command, which is whole on one line, to be pasted.
func (w *reportWriter) hint(what, command string) {
	command = safe(command)
	line := "  " + what + ": " + command
	if lipgloss.Width(line) > w.width {
		line = "  " + what + ":\n    " + command
	}
	for part := range strings.Lines(line + "\n") {
		w.b.WriteString(w.st.dim.Render(strings.TrimSuffix(part, "\n")) + "\n")
	}
}

// clock writes Unix milliseconds in UTC.
func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }

// clip returns the beginning of a text that comes from outside, safe and at most so
// many columns wide.
func clip(s string, columns int) string {
	s, columns = safe(s), max(columns, 10)
	if lipgloss.Width(s) <= columns {
		return s
	}
	var b strings.Builder
	for used, rest := 0, []rune(s); len(rest) > 0; rest = rest[1:] {
		used += lipgloss.Width(string(rest[0]))
		if used >= columns {
			break
		}
		b.WriteRune(rest[0])
	}
	return b.String() + "…"
}
