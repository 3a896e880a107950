package rows_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Every row of every table has a cell for each column, no two columns have one name, and only the
// last ones may stand below their row.
func TestWhole(t *testing.T) {
	o := inspect.Output{StepRef: inspect.StepRef{Segment: 1, Step: 2}, Tool: "read", Line: 7, Tokens: 9, CostUSD: catalog.Dollars(5)}
	r := inspect.Report{
		Segments: []inspect.Segment{{Number: 1, NotRun: "cut off", Steps: []inspect.Step{{Step: 1}}}, {Number: 2, Steps: []inspect.Step{{Step: 2, Estimate: &inspect.Prediction{Point: 4}}}}},
		Largest:  []inspect.Output{o, {}}, Repeated: []inspect.Repeat{{Output: o}, {Whole: true}}, Cuts: make([]inspect.Cut, 2), CacheBreaks: make([]inspect.Break, 2),
		Unanswered: make([]inspect.Call, 2), Thinking: make([]inspect.Thinking, 2), Problems: make([]inspect.Problem, 1), Findings: make([]inspect.Finding, 2),
		Stated: []inspect.Stated{{Figures: make([]inspect.StatedFigure, 2)}},
	}
	g := &replay.Grounding{Share: replay.Share{Spans: 2}}
	runs := []replay.Run{{Policy: "a", Grounding: g, Batches: make([]replay.Batch, 1)}, {Policy: "b", Grounding: g, Batches: make([]replay.Batch, 1)}}
	for name, table := range map[string]rows.Table{
		"outputs": rows.Outputs(r), "repeats": rows.Repeats(r), "cuts": rows.Cuts(r), "breaks": rows.Breaks(r), "open": rows.Open(r), "thinking": rows.Thinking(r),
		"problems": rows.Problems(r), "branches": rows.Branches(make([]inspect.Branch, 2)), "agents": rows.Agents([]inspect.Agent{{}}, &inspect.Family{}),
		"stated": rows.Stated(r), "steps": rows.Steps(r), "findings": rows.Findings(r), "runs": rows.Runs(runs), "kept": rows.Kept(runs), "batches": rows.Batches(runs),
		"one limit": rows.OneLimit(runs, func(string) bool { return true }),
	} {
		seen, below := map[string]bool{}, false
		for _, c := range table.Columns {
			if seen[c.Name] || c.Name == "" || c.Name != strings.ToLower(c.Name) {
				t.Errorf("%s: want each column in lower case by another name, got %q", name, c.Name)
			}
			if below && !c.Below && !c.Page {
				t.Errorf("%s: column %q stands behind one that may stand below", name, c.Name)
			}
			seen[c.Name], below = true, below || c.Below
		}
		if table.By != "" && table.At(table.By) < 0 {
			t.Errorf("%s: no column %q", name, table.By)
		}
		if len(table.Rows) != 2 {
			t.Errorf("%s: want 2 rows, got %d", name, len(table.Rows))
		}
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: want %d cells, got %d", name, len(table.Columns), len(row.Cells))
			}
		}
	}
}

// Pick takes columns in the order that is asked for, each with its own cells.
func TestPick(t *testing.T) {
	table := rows.Outputs(inspect.Report{Largest: []inspect.Output{{Tool: "read", Line: 7, Tokens: 9}}})
	got := table.Pick("tokens", "tool", "nothing", "line")
	var names []string
	for _, c := range got.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"tokens", "tool", "line"}; !reflect.DeepEqual(names, want) {
		t.Errorf("want %q, got %q", want, names)
	}
	want := []rows.Row{{Cells: []rows.Cell{{Kind: rows.Number, Number: 9}, {Kind: rows.Text, Text: "read"}, {Kind: rows.Number, Number: 7}}}}
	if !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("want %+v, got %+v", want, got.Rows)
	}
}

// A column is left out in which no row has anything, and on a terminal one that only a page shows.
func TestColumnsThatAreLeftOut(t *testing.T) {
	table := rows.Open(inspect.Report{Unanswered: []inspect.Call{{Tool: "read", CallID: "c1"}}})
	for want, got := range map[string]rows.Table{"step call tool": table.Filled(), "line why tool arguments": table.Narrow(), "tool": table.Narrow().Filled()} {
		var names []string
		for _, c := range got.Columns {
			names = append(names, c.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("want %s, got %s", want, names)
		}
	}
}

// Every kind of value is written in one way.
func TestValues(t *testing.T) {
	for want, c := range map[string]rows.Cell{
		"12,345":           {Kind: rows.Number, Number: 12_345},
		"$1.20":            {Kind: rows.Money, Money: catalog.Dollars(1_200_000_000_000)},
		"-1.25%":           {Kind: rows.Error, Number: -12_500},
		"34%":              {Kind: rows.Percent, Number: 337, Whole: 1000},
		"33.7":             {Kind: rows.Tenths, Number: 337, Whole: 1000},
		"0.34":             {Kind: rows.Ratio, Number: 337, Whole: 1000},
		"1h2m3s":           {Kind: rows.Span, Number: 3723},
		"2026-01-02 03:04": {Kind: rows.Moment, Number: 1_767_323_040_000},
		"read":             {Kind: rows.Text, Text: "read"},
		"":                 {Kind: rows.Missing},
	} {
		if got := c.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// What is to be compared stands together: runs are ordered by window, as they were asked for.
func TestRunsByWindow(t *testing.T) {
	var got []string
	for _, row := range rows.Runs([]replay.Run{{Policy: "a", Window: "model"}, {Policy: "a", Window: "50%"}, {Policy: "b", Window: "model"}, {Policy: "b", Window: "50%"}}).Rows {
		got = append(got, row.Cells[0].Text+" "+row.Cells[1].Text)
	}
	if want := "a model, b model, a 50%, b 50%"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
