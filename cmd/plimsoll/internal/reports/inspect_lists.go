package reports

import (
	"fmt"
	"time"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

func (w *reportWriter) largest(r inspect.Report) {
	if len(r.Largest) == 0 {
		return
	}
	title := console.Plural(r.Totals.Outputs, "tool output")
	if len(r.Largest) > 1 {
		title += ", the dearest first"
	}
	w.Part(title)
	t := w.table(rows.Outputs(r.Largest), column{name: "tokens"}, column{name: "steps"}, column{name: "carried", spare: 1}, column{name: "cost", spare: 2},
		column{name: "line"}, column{name: "tool", most: mostTool}, column{name: "arguments"})
	w.WriteString(console.ClippedBy(t, argumentsText))
	w.rest(r.Totals.Outputs, len(r.Largest))
}

// rest says how many of a list are not shown, of which --top says how many there are.
func (w *reportWriter) rest(all, shown int) {
	if all > shown {
		w.Para(w.Style.Dim, fmt.Sprintf("and %s more (--top %d)", edit.Thousands(all-shown), all))
	}
}

func (w *reportWriter) repeated(r inspect.Report) {
	if len(r.Repeated) == 0 {
		return
	}
	w.Part(fmt.Sprintf("repeated content: %s tokens were shown before", edit.Thousands(r.Totals.Repeated)))
	t := w.table(rows.Repeats(r.Repeated), column{name: "tokens"}, column{name: "steps"}, column{name: "cost", spare: 1},
		column{name: "lines again", as: "lines", spare: 2}, column{name: "line"}, column{name: "shown at"}, column{name: "tool", most: mostTool}, column{name: "arguments"})
	w.WriteString(console.ClippedBy(t, argumentsText))
}

func (w *reportWriter) cuts(r inspect.Report) {
	if len(r.Cuts) == 0 {
		return
	}
	w.Part("what the client cut")
	for _, c := range console.First(r.Cuts, mostCuts) {
		text := fmt.Sprintf("%s before step %s, line %d", console.Safe(c.What), c.Name(), c.Line)
		if c.Time > 0 {
			text += ", " + console.Clock(c.Time)
		}
		text += fmt.Sprintf(": %s to %s tokens, %d to %s", edit.Thousands(c.Before), edit.Thousands(c.After), c.MessagesBefore, console.Plural(c.MessagesAfter, "message"))
		if len(c.Dropped) > 0 {
			text += "; out: " + contentList(c.Dropped)
		}
		if len(c.Added) > 0 {
			text += "; in: " + contentList(c.Added)
		}
		w.Para(w.Style.Plain, text)
	}
	w.More(len(r.Cuts), mostCuts)
}

func (w *reportWriter) breaks(r inspect.Report) {
	t := r.Totals
	if t.CacheBreaks == 0 {
		return
	}
	w.Part(fmt.Sprintf("%s of the provider's cache: %s tokens were not read", console.Plural(t.CacheBreaks, "break"), edit.Thousands(t.CacheLost)))
	out := console.Table{Width: w.Width, Columns: []console.Column{
		{Name: "    step", Right: true},
		{Name: "lost", Right: true},
		{Name: "cost", Right: true, Spare: 1},
		{Name: "idle", Right: true, Spare: 2},
		{Name: "cause"},
		{Name: "from", Wrap: true},
	}}
	for _, b := range r.CacheBreaks {
		idle := ""
		if b.Idle > 0 {
			idle = (time.Duration(b.Idle) * time.Second).String()
		}
		out.Rows = append(out.Rows, console.Plain(stepName(r, b.Name()), edit.Thousands(b.Lost), console.Money(b.CostUSD), idle, b.Cause, placeText(b.At)))
	}
	w.WriteString(out.String())
	w.rest(t.CacheBreaks, len(r.CacheBreaks))
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
	w.Part("thinking")
	for _, k := range console.First(r.Thinking, mostCuts) {
		text := fmt.Sprintf("%s of about %s tokens, %d signed, %d hidden; ", console.Plural(k.Blocks, "block"), edit.Thousands(k.Tokens), k.Signed, k.Hidden)
		if len(r.Segments) > 1 {
			text = fmt.Sprintf("segment %d: ", k.Segment) + text
		}
		switch k.Carried {
		case "kept":
			text += fmt.Sprintf("kept in later prompts, seen %s", console.Times(k.Turns))
		case "dropped":
			text += fmt.Sprintf("%s tokens left later prompts", edit.Thousands(k.Dropped))
		default:
			text += "whether later prompts have it cannot be told"
		}
		w.Para(w.Style.Plain, text)
	}
	w.More(len(r.Thinking), mostCuts)
}

func (w *reportWriter) unanswered(r inspect.Report) {
	if len(r.Unanswered) == 0 {
		return
	}
	w.Part(fmt.Sprintf("%s without a result", console.Plural(len(r.Unanswered), "call")))
	for _, c := range console.First(r.Unanswered, console.MostListed) {
		text := fmt.Sprintf("line %d: %s %s (%s)", c.Line, console.Clip(c.Tool, mostTool), argumentsText(c.Arguments, w.Width-60), c.Why)
		w.Para(w.Style.Plain, text)
	}
	w.More(len(r.Unanswered), console.MostListed)
}

// unread lists what could not be read, and what leads nowhere.
func (w *reportWriter) unread(r inspect.Report) {
	var lines []string
	for _, g := range r.Segments {
		if g.NotRun != "" {
			lines = append(lines, fmt.Sprintf("segment %d cannot be rebuilt: %s", g.Number, console.Safe(g.NotRun)))
		}
	}
	for _, p := range r.Problems {
		if p.Line == 0 {
			lines = append(lines, console.Safe(p.What))
			continue
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", p.Line, console.Safe(p.What)))
	}
	for _, a := range r.Abandoned {
		lines = append(lines, branchText(a))
	}
	if len(lines) == 0 {
		return
	}
	w.Part("in the file")
	w.List(lines)
}
