package rows

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// mostTool is how many characters of the name of a tool a terminal has room for.
const mostTool = 24

// StepName is what a Step is called: without its segment in a report that has one.
func StepName(r inspect.Report, ref inspect.StepRef) string { return ShortStep(r, ref.Name()) }

// ShortStep is that for a name with the segment.
func ShortStep(r inspect.Report, name string) string {
	if len(r.Segments) > 1 {
		return name
	}
	_, step, _ := strings.Cut(name, ".")
	return step
}

// outputColumns are those of a tool output, of which the arguments stand last.
func outputColumns(between ...Column) []Column {
	columns := append([]Column{
		{Name: "step", Numbers: true, Page: true},
		{Name: "tokens", Unit: "tokens", Numbers: true},
		{Name: "steps", Unit: "prompts that it was in", Numbers: true, Spare: 3},
		{Name: "carried", Unit: "tokens of all these prompts", Numbers: true, Spare: 1},
		{Name: "cost", Unit: "dollars", Numbers: true, Spare: 2},
		{Name: "line", Unit: "in the file", Numbers: true},
	}, between...)
	return append(columns, Column{Name: "tool", Keep: Start, Most: mostTool}, Column{Name: "arguments", Keep: About})
}

func output(r inspect.Report, o inspect.Output, between ...Cell) []Cell {
	cells := append([]Cell{text(StepName(r, o.StepRef)), number(o.Tokens), number(o.Steps), number(o.Carried), money(o.CostUSD), some(o.Line)}, between...)
	return append(cells, text(o.Tool), text(o.Arguments))
}

// Outputs are the tool outputs that a report lists, the dearest first.
func Outputs(r inspect.Report) Table {
	t := Table{Columns: outputColumns()}
	for _, o := range r.Largest {
		t.add(output(r, o)...)
	}
	return t
}

// Repeats are outputs that show what an earlier one shows.
func Repeats(r inspect.Report) Table {
	t := Table{Columns: outputColumns(
		Column{Name: "again", Unit: "lines", Numbers: true, Spare: 2},
		Column{Name: "shown at", Unit: "in the file", Numbers: true, Spare: 4},
		Column{Name: "first shown by", Keep: Start, Page: true},
	)}
	t.Columns[t.At("carried")].Page = true
	for _, p := range r.Repeated {
		lines := number(p.Lines)
		if p.Whole {
			lines = text("all")
		}
		first := strings.TrimSpace(p.Earlier.Tool + " " + CallOf(p.Earlier.Arguments).String())
		t.add(output(r, p.Output, lines, some(p.Earlier.Line), text(first))...)
	}
	return t
}

// Cuts are what the client took out by itself.
func Cuts(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "step", Numbers: true},
		{Name: "line", Unit: "in the file", Numbers: true},
		{Name: "time", Unit: "UTC", Spare: 1},
		{Name: "what"},
		{Name: "before", Unit: "tokens", Numbers: true},
		{Name: "after", Unit: "tokens", Numbers: true},
		{Name: "messages", Numbers: true, Spare: 2},
		{Name: "dropped", Unit: "messages", Numbers: true, Page: true},
		{Name: "changed", Unit: "messages", Numbers: true, Page: true},
		{Name: "out", Unit: "tokens", Wrap: true, Below: true},
		{Name: "in", Unit: "tokens", Wrap: true, Below: true},
	}}
	for _, c := range r.Cuts {
		t.add(text(StepName(r, c.StepRef)), some(c.Line), of(Moment, int(c.Time)), text(c.What), number(c.Before), some(c.After),
			text(fmt.Sprintf("%s to %s", edit.Thousands(c.MessagesBefore), edit.Thousands(c.MessagesAfter))),
			number(c.DroppedMessages), number(c.ChangedMessages), contents(c.Dropped), contents(c.Added))
	}
	return t
}

// Breaks are Steps at which the provider's cache lost something, the dearest first.
func Breaks(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "step", Numbers: true},
		{Name: "expected", Unit: "tokens", Numbers: true, Page: true},
		{Name: "read", Unit: "tokens", Numbers: true, Page: true},
		{Name: "lost", Unit: "tokens", Numbers: true},
		{Name: "cost", Unit: "dollars", Numbers: true, Spare: 1},
		{Name: "idle", Numbers: true, Spare: 2},
		{Name: "cause"},
		{Name: "from", Wrap: true},
	}}
	for _, b := range r.CacheBreaks {
		t.add(text(StepName(r, b.StepRef)), number(b.Expected), number(b.Read), number(b.Lost), money(b.CostUSD), of(Span, b.Idle), text(b.Cause), text(placeText(b.At)))
	}
	return t
}

// placeText says where in a request a cache broke.
func placeText(p inspect.Place) string {
	if p.What == inspect.ItemHidden {
		return "before the first message"
	}
	if p.Byte == 0 && p.Message == 0 {
		return "the beginning"
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

// Open are the calls that never got a result.
func Open(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "step", Numbers: true, Page: true},
		{Name: "line", Unit: "in the file", Numbers: true},
		{Name: "why"},
		{Name: "call", Page: true},
		{Name: "tool", Keep: Start, Most: mostTool},
		{Name: "arguments", Keep: About},
	}}
	for _, c := range r.Unanswered {
		t.add(text(StepName(r, c.StepRef)), some(c.Line), text(c.Why), text(c.CallID), text(c.Tool), text(c.Arguments))
	}
	return t
}

// Thinking is what became of the thinking of each segment.
func Thinking(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "segment", Numbers: true},
		{Name: "blocks", Numbers: true},
		{Name: "signed", Unit: "blocks", Numbers: true},
		{Name: "hidden", Unit: "blocks", Numbers: true},
		{Name: "tokens", Unit: "tokens", Numbers: true},
		{Name: "in later prompts"},
		{Name: "seen", Unit: "ends of a turn", Numbers: true, Spare: 1},
		{Name: "dropped", Unit: "tokens", Numbers: true, Below: true},
	}}
	for _, k := range r.Thinking {
		segment, carried := number(k.Segment), k.Carried
		if len(r.Segments) <= 1 {
			segment = Cell{Kind: Missing}
		}
		if carried == "unknown" {
			carried = "cannot be told"
		}
		t.add(segment, number(k.Blocks), number(k.Signed), number(k.Hidden), number(k.Tokens), text(carried), some(k.Turns), some(k.Dropped))
	}
	return t
}
