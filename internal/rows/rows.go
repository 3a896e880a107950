// Package rows has the tables of reports: which columns there are, and what stands in them, built
// once. It says nothing of how they look: a terminal takes the columns that it has room for, in its
// own order (cmd/plimsoll/internal/reports), a page all of them (web), and each writes numbers,
// money and what is missing in its own way.
package rows

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// A Kind says what a value is.
type Kind uint8

// The kinds.
const (
	Text    Kind = iota // as the session has it: not made safe
	Number              // tokens, lines, seconds and the like
	Money               // what something cost
	Error               // parts per million by which something is off
	Missing             // nobody knows it, or there is none
)

// A Cell is one value.
type Cell struct {
	Kind   Kind
	Text   string
	Number int
	Money  catalog.Money
}

func text(s string) Cell { return Cell{Kind: Text, Text: s} }

func number(n int) Cell { return Cell{Kind: Number, Number: n} }

// some is a number of which 0 means that there is none.
func some(n int) Cell {
	if n == 0 {
		return Cell{Kind: Missing}
	}
	return number(n)
}

func money(m catalog.Money) Cell { return Cell{Kind: Money, Money: m} }

func off(ppm int) Cell { return Cell{Kind: Error, Number: ppm} }

// A Column is named in lower case, each in its table by another name.
type Column struct {
	Name    string
	Numbers bool // numbers, money and errors
}

// A Table has a cell for each column in each of its rows.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Pick returns the table with some of its columns, in that order. A name that it does not have is
// left out.
func (t Table) Pick(names ...string) Table {
	var at []int
	out := Table{Rows: make([][]Cell, len(t.Rows))}
	for _, name := range names {
		if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
			at, out.Columns = append(at, i), append(out.Columns, t.Columns[i])
		}
	}
	for i, row := range t.Rows {
		for _, k := range at {
			out.Rows[i] = append(out.Rows[i], row[k])
		}
	}
	return out
}

func words(names ...string) []Column { return columns(false, names) }

func numbers(names ...string) []Column { return columns(true, names) }

func columns(numbers bool, names []string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i] = Column{name, numbers}
	}
	return out
}

// Outputs are tool outputs.
func Outputs(list []inspect.Output) Table {
	t := Table{Columns: outputColumns()}
	for _, o := range list {
		t.Rows = append(t.Rows, output(o))
	}
	return t
}

func outputColumns() []Column {
	return slices.Concat(words("step", "tool", "arguments"), numbers("line", "tokens", "steps", "carried", "cost"))
}

func output(o inspect.Output) []Cell {
	return []Cell{text(o.Name()), text(o.Tool), text(o.Arguments), some(o.Line), number(o.Tokens), number(o.Steps), number(o.Carried), money(o.CostUSD)}
}

// Repeats are outputs that show what an earlier one shows.
func Repeats(list []inspect.Repeat) Table {
	t := Table{Columns: slices.Concat(outputColumns(), numbers("lines again"), words("first shown by"), numbers("shown at"))}
	for _, r := range list {
		lines := number(r.Lines)
		if r.Whole {
			lines = text("all")
		}
		t.Rows = append(t.Rows, append(output(r.Output), lines, text(r.Earlier.Tool+" "+r.Earlier.Arguments), some(r.Earlier.Line)))
	}
	return t
}

// Agents are sub-agents. name says what a file is called.
func Agents(list []inspect.Agent, name func(inspect.Agent) string) Table {
	t := Table{Columns: slices.Concat(words("file"), numbers("steps", "tokens", "largest", "cost", "of steps estimated"))}
	for _, a := range list {
		size := func(n int) Cell {
			if a.Unsized == a.Steps && a.Steps > 0 {
				return Cell{Kind: Missing}
			}
			return number(n)
		}
		t.Rows = append(t.Rows, []Cell{text(name(a)), number(a.Steps), size(a.Tokens), size(a.Peak), money(a.CostUSD), number(a.CostEstimated)})
	}
	return t
}

// Steps are all Steps of a report, with what each prompt was taken for before the call. name says
// what a Step is called.
func Steps(r inspect.Report, name func(inspect.StepRef) string) Table {
	t := Table{Columns: slices.Concat(words("step"), numbers("line", "tokens"), words("kind"), numbers("estimate", "off", "bound", "counter alone", "counter off", "cost"))}
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			row := []Cell{text(name(inspect.StepRef{Segment: g.Number, Step: s.Step})), some(s.Line), number(s.Tokens), text(s.Kind)}
			if p := s.Estimate; p != nil {
				row = append(row, number(p.Point), off(p.ErrorPPM), number(p.Bound), number(p.Counter), off(p.CounterErrorPPM))
			} else {
				row = append(row, slices.Repeat([]Cell{{Kind: Missing}}, 5)...)
			}
			t.Rows = append(t.Rows, append(row, money(s.CostUSD)))
		}
	}
	return t
}
