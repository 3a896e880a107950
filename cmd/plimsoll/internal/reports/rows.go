package reports

import (
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// A column is one of a table that a terminal is shown.
type column struct {
	name  string // of package rows
	as    string // over it; empty: its name
	right bool   // a word that stands as a number does
	spare int    // 1 is left out first where there is no room
	most  int    // columns that its texts take; 0: any
}

// table lays out rows for the terminal, with some of their columns.
func (w *reportWriter) table(all rows.Table, columns ...column) console.Table {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	picked := all.Pick(names...)
	t := console.Table{Width: w.Width}
	for i, c := range columns {
		name := c.as
		if name == "" {
			name = c.name
		}
		if i == 0 {
			name = "  " + name
		}
		t.Columns = append(t.Columns, console.Column{Name: name, Right: c.right || picked.Columns[i].Numbers, Spare: c.spare})
	}
	for _, row := range picked.Rows {
		out := make([]console.Cell, len(row))
		for i, c := range row {
			out[i].Text = valueText(c)
			if most := columns[i].most; most > 0 {
				out[i].Text = console.Clip(out[i].Text, most)
			}
		}
		t.Rows = append(t.Rows, out)
	}
	return t
}

// valueText writes a value, safe to print; nothing where there is none.
func valueText(c rows.Cell) string {
	switch c.Kind {
	case rows.Number:
		return edit.Thousands(c.Number)
	case rows.Money:
		return console.Money(c.Money)
	case rows.Error:
		return console.SignedPPM(c.Number)
	case rows.Missing:
		return ""
	}
	return console.Safe(c.Text)
}
