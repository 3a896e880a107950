package rows

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// problems is a table without rows.
func problems() Table {
	return Table{Columns: []Column{{Name: "line", Unit: "in the file", Numbers: true}, {Name: "problem", Wrap: true}}}
}

// Problems are what of a report's file could not be read as it should be, and the segments that
// cannot be rebuilt.
func Problems(r inspect.Report) Table {
	t := problems()
	for _, g := range r.Segments {
		if g.NotRun != "" {
			t.add(Cell{Kind: Missing}, text(fmt.Sprintf("segment %d cannot be rebuilt: %s", g.Number, g.NotRun)))
		}
	}
	for _, p := range r.Problems {
		t.add(some(p.Line), text(p.What))
	}
	return t
}

// RunProblems are the same of a replay, which says of a segment itself why it was not run.
func RunProblems(res replay.Result) Table {
	t := problems()
	for _, p := range res.Problems {
		t.add(some(p.Line), text(p.What))
	}
	return t
}

// Branches are lines that do not lead to the session's end, and what their calls took.
func Branches(list []inspect.Branch) Table {
	t := Table{Columns: []Column{
		{Name: "lines", Unit: "in the file", Numbers: true},
		{Name: "messages", Numbers: true},
		{Name: "steps", Numbers: true},
		{Name: "tokens", Unit: "tokens of all prompts", Numbers: true},
		{Name: "cost", Unit: "dollars", Numbers: true},
		{Name: "why", Wrap: true},
	}}
	for _, b := range list {
		lines := fmt.Sprintf("%d to %d", b.First, b.Last)
		if b.First == b.Last {
			lines = fmt.Sprint(b.First)
		}
		missing := Cell{Kind: Missing}
		steps, tokens, cost := missing, missing, missing
		if f := b.Took; f != nil {
			steps, tokens, cost = number(f.Steps), sized(f.Tokens, f.Steps, f.Unsized), money(f.CostUSD)
		}
		t.add(text(lines), number(b.Messages), steps, tokens, cost, text(b.Why))
	}
	return t
}

// sized is a number of tokens of some Steps, which nobody knows if none of them has a size.
func sized(tokens, steps, unsized int) Cell {
	if unsized == steps && steps > 0 {
		return Cell{Kind: Missing}
	}
	return number(tokens)
}
