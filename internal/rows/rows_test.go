package rows_test

import (
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// Every row of every table has a cell for each column, and no two columns have one name.
func TestWhole(t *testing.T) {
	o := inspect.Output{StepRef: inspect.StepRef{Segment: 1, Step: 2}, Tool: "read", Line: 7, Tokens: 9, CostUSD: catalog.Dollars(5)}
	r := inspect.Report{Segments: []inspect.Segment{{Number: 1, Steps: []inspect.Step{{Step: 1}, {Step: 2, Estimate: &inspect.Prediction{Point: 4}}}}}}
	for name, table := range map[string]rows.Table{
		"outputs": rows.Outputs([]inspect.Output{o, {}}),
		"repeats": rows.Repeats([]inspect.Repeat{{Output: o}, {Whole: true}}),
		"agents":  rows.Agents([]inspect.Agent{{}, {Line: 3}}, func(inspect.Agent) string { return "a" }),
		"steps":   rows.Steps(r, inspect.StepRef.Name),
	} {
		seen := map[string]bool{}
		for _, c := range table.Columns {
			if seen[c.Name] {
				t.Errorf("%s: two columns %q", name, c.Name)
			}
			seen[c.Name] = true
		}
		if len(table.Rows) != 2 {
			t.Errorf("%s: want 2 rows, got %d", name, len(table.Rows))
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: want %d cells, got %d", name, len(table.Columns), len(row))
			}
		}
	}
}

// Pick takes columns in the order that is asked for, each with its own cells.
func TestPick(t *testing.T) {
	table := rows.Outputs([]inspect.Output{{Tool: "read", Line: 7, Tokens: 9}})
	got := table.Pick("tokens", "tool", "nothing", "line")
	want := rows.Table{
		Columns: []rows.Column{{Name: "tokens", Numbers: true}, {Name: "tool"}, {Name: "line", Numbers: true}},
		Rows:    [][]rows.Cell{{{Kind: rows.Number, Number: 9}, {Kind: rows.Text, Text: "read"}, {Kind: rows.Number, Number: 7}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("want %+v, got %+v", want, got)
	}
}
