package web

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// maxRows bounds the lists that can be as long as a session.
const maxRows = 200

// of puts in rows with all their columns, those of one value of Table.By under a band, and says how
// many of all rows they are.
func (t table) of(r rows.Table) table {
	r = r.Filled()
	by := r.At(r.By)
	t.Head = nil
	for i, c := range r.Columns {
		if i != by {
			t.Head = append(t.Head, column{Name: strings.ToUpper(c.Name[:1]) + c.Name[1:], Unit: c.Unit, Numbers: c.Numbers})
		}
	}
	all, listed := 0, 0
	for _, row := range r.Rows {
		if !row.Sum {
			all++
		}
		if all > maxRows && !row.Sum {
			continue
		}
		if !row.Sum {
			listed++
		}
		t.row(r, by, row)
	}
	if all > listed {
		t.Note = strings.TrimSpace(fmt.Sprintf("%s The first %s of %s are listed.", t.Note, count(listed), count(all)))
	}
	return t
}

// row adds a row, under its band if the table has some; by is the column that says which.
func (t *table) row(r rows.Table, by int, row rows.Row) {
	name := ""
	if by >= 0 {
		band := strings.ToUpper(r.By[:1]) + r.By[1:]
		name = clean(band + " " + row.Cells[by].String())
	}
	if n := len(t.Bodies); n == 0 || t.Bodies[n-1].Name != name {
		t.Bodies = append(t.Bodies, body{Name: name})
	}
	var out []cell
	for i, c := range row.Cells {
		if i != by {
			out = append(out, cellOf(r.Columns[i], c))
		}
	}
	last := &t.Bodies[len(t.Bodies)-1]
	last.Rows = append(last.Rows, out)
}

// cellOf writes a value: a dash where there is none, the arguments of a call as what it is about.
func cellOf(column rows.Column, c rows.Cell) cell {
	text := c.String()
	if column.Keep == rows.About {
		text = rows.CallOf(text).String()
	}
	if text == "" {
		return cell{Text: "–"}
	}
	out := cell{Text: clean(text)}
	if c.Look == rows.Bad {
		out.Mark = "bad"
	}
	return out
}
