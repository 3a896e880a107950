package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// Agents are sub-agents, and behind them what the session took with them, if that is known.
func Agents(list []inspect.Agent, all *inspect.Family) Table {
	t := Table{Columns: []Column{
		{Name: "steps", Numbers: true},
		{Name: "tokens", Unit: "tokens of all prompts", Numbers: true},
		{Name: "largest", Unit: "tokens", Numbers: true, Spare: 1},
		{Name: "cost", Unit: "dollars", Numbers: true},
		{Name: "estimated", Unit: "steps whose cost is estimated", Numbers: true, Page: true},
		{Name: "file", Keep: End},
	}}
	for _, a := range list {
		file := a.Session
		if a.Line > 0 {
			file = fmt.Sprintf("in it from line %s on", edit.Thousands(a.Line))
		}
		t.add(number(a.Steps), sized(a.Tokens, a.Steps, a.Unsized), sized(a.Peak, a.Steps, a.Unsized), money(a.CostUSD), some(a.CostEstimated), text(file))
	}
	if all != nil && len(list) > 0 {
		t.add(number(all.Steps), sized(all.Tokens, all.Steps, all.Unsized), Cell{Kind: Missing}, money(all.CostUSD), some(all.CostEstimated), text("the session with them"))
		t.Rows[len(list)].Sum = true
	}
	return t
}

// How a stated figure and ours are to each other.
const (
	Same      = "as added up here"
	Divided   = "divided among the steps"
	Different = "differs"
	Unsure    = "cannot be held against ours"
)

// Stated are the figures that the file itself states of its sums, beside ours.
func Stated(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "line", Unit: "in the file", Numbers: true, Spare: 3},
		{Name: "by", Keep: Start},
		{Name: "model", Keep: Start, Spare: 1},
		{Name: "figure"},
		{Name: "stated", Unit: "steps, tokens or dollars", Numbers: true},
		{Name: "ours", Unit: "steps, tokens or dollars", Numbers: true},
		{Name: "estimated", Page: true},
		{Name: "how", Spare: 2},
		{Name: "missing", Wrap: true, Below: true},
	}}
	for _, s := range r.Stated {
		for _, f := range s.Figures {
			theirs, ours, estimated := number(int(f.Stated)), number(int(f.Ours)), Cell{Kind: Missing}
			if f.StatedUSD != nil && f.OursUSD != nil {
				theirs, ours = money(*f.StatedUSD), money(*f.OursUSD)
			}
			if f.Estimated {
				estimated = text("ours")
			}
			if f.Differs {
				ours.Look = Bad
			}
			t.add(some(s.Line), text(s.What), text(s.Model), text(strings.ReplaceAll(f.Name, "_", " ")), theirs, ours, estimated, text(how(f)), text(f.Why))
		}
	}
	return t
}

func how(f inspect.StatedFigure) string {
	switch {
	case f.Differs:
		return Different
	case f.Why != "" && !f.Estimated:
		return Unsure
	case f.Estimated && f.Stated > 0:
		return Divided
	}
	return Same
}

// Steps are all Steps of a report, with what each prompt was taken for before the call: by the
// count, which is calibrated, and by the counter alone.
func Steps(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "step", Numbers: true},
		{Name: "line", Unit: "in the file", Numbers: true, Spare: 2},
		{Name: "tokens", Unit: "tokens", Numbers: true},
		{Name: "kind"},
		{Name: "estimate", Unit: "tokens", Numbers: true},
		{Name: "off", Numbers: true},
		{Name: "bound", Unit: "tokens", Numbers: true, Page: true},
		{Name: "counter", Unit: "tokens", Numbers: true},
		{Name: "counter off", Numbers: true},
		{Name: "cost", Unit: "dollars", Numbers: true, Spare: 1},
		{Name: "note"},
	}}
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			row := []Cell{text(StepName(r, inspect.StepRef{Segment: g.Number, Step: s.Step})), some(s.Line), number(s.Tokens), text(s.Kind)}
			if p := s.Estimate; p != nil {
				row = append(row, number(p.Point), off(p.ErrorPPM), number(p.Bound), number(p.Counter), off(p.CounterErrorPPM))
			} else {
				row = append(row, slices.Repeat([]Cell{{Kind: Missing}}, 5)...)
			}
			t.add(append(row, money(s.CostUSD), text(stepNote(s)))...)
		}
	}
	return t
}

// stepNote says what is particular about a Step's figures.
func stepNote(s inspect.Step) string {
	var notes []string
	if s.Copied != "" {
		notes = append(notes, "copied")
	}
	if s.Refused != nil {
		notes = append(notes, "refused")
	}
	if s.CostKind == inspect.CostEstimated {
		notes = append(notes, "cost estimated")
	}
	return strings.Join(notes, ", ")
}
