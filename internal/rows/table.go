package rows

import "slices"

// A Keep says which side of a text is kept where there is no room for all of it.
type Keep uint8

// What is kept.
const (
	All   Keep = iota // it is not shortened
	Start             // its beginning
	End               // its end, as of a path
	About             // it is the arguments of a call: what that is about
)

// A Column is one of a table.
type Column struct {
	Name    string
	Unit    string // of its figures; empty: they have none, or the cells say it
	Numbers bool   // stands to the right
	Keep    Keep   // of its texts
	Most    int    // characters of a text in a terminal; 0: as many as there is room for
	Wrap    bool   // its texts may be broken into lines
	Below   bool   // stands under its row where there is no room beside the others; the last ones
	Spare   int    // 1 folds away first; 0: never
	Page    bool   // stands on a page alone
}

// A Row has a cell for each column of its table.
type Row struct {
	Cells []Cell
	Sum   bool // of rows before it
}

// A Table is what one list of a report says.
type Table struct {
	Columns []Column
	Rows    []Row
	By      string // the column whose equal neighbours belong together; empty: there is none
}

// add adds a row.
func (t *Table) add(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// At returns the place of a column, -1 if there is none of that name.
func (t Table) At(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Pick returns the table with some of its columns, in that order. A name that it does not have is
// left out.
func (t Table) Pick(names ...string) Table {
	var at []int
	for _, name := range names {
		if i := t.At(name); i >= 0 {
			at = append(at, i)
		}
	}
	return t.with(at)
}

// Narrow returns the table without the columns that stand on a page alone.
func (t Table) Narrow() Table {
	return t.where(func(i int) bool { return !t.Columns[i].Page })
}

// Filled returns the table without the columns in which no row has anything.
func (t Table) Filled() Table {
	return t.where(func(i int) bool {
		return slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i].String() != "" })
	})
}

// Where returns the table with some of its rows.
func (t Table) Where(keep func(Row) bool) Table {
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return !keep(r) })
	return t
}

func (t Table) where(keep func(i int) bool) Table {
	var at []int
	for i := range t.Columns {
		if keep(i) {
			at = append(at, i)
		}
	}
	return t.with(at)
}

// with returns the table with the columns at some places.
func (t Table) with(at []int) Table {
	out := Table{By: t.By, Rows: make([]Row, len(t.Rows))}
	for _, k := range at {
		out.Columns = append(out.Columns, t.Columns[k])
	}
	for i, row := range t.Rows {
		out.Rows[i].Sum = row.Sum
		for _, k := range at {
			out.Rows[i].Cells = append(out.Rows[i].Cells, row.Cells[k])
		}
	}
	return out
}
