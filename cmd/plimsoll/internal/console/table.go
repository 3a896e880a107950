package console

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// Gap stands between columns.
const Gap = "  "

// leastWrap is how wide a column that wraps is at least.
const leastWrap = 16

// A Column of a table.
type Column struct {
	Name  string
	Right bool // numbers stand to the right
	Wrap  bool // may be broken into lines; of several the last one that is there
	Under bool // stands on lines of its own below its row where there is no room beside the others, once for rows of which it says the same; the last ones
	Spare int  // 1 is left out first where the width is too small; 0: never
	Band  bool // one that is left out stands on lines of its own, above rows of which it says the same
}

// A Cell is a text and how it looks.
type Cell struct {
	Text  string
	Style lipgloss.Style
}

// A Table is laid out by plain text first and coloured then, so that colour moves
// nothing.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Width   int // most columns on the screen
}

// String returns the table with a line for its header. A column with nothing in it
// is left out.
func (t Table) String() string {
	t = t.without(func(i int) bool { return t.empty(i) })
	widths := t.fit()
	around := make([]beside, len(t.Rows))
	if t.total(widths) > t.Width {
		for last := len(t.Columns) - 1; last >= 0 && t.Columns[last].Under; last-- {
			t = t.lowered(around)
		}
		widths = t.fit()
	}
	for t.total(widths) > t.Width {
		spare := t.mostSpare()
		if spare < 0 {
			break
		}
		if t.Columns[spare].Band {
			t.raise(spare, around)
		}
		t = t.without(func(i int) bool { return i == spare })
		widths = t.fit()
	}
	head := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = Cell{c.Name, NewStyles().Head}
	}
	var b strings.Builder
	t.line(&b, widths, head)
	same := 1
	for i, r := range t.Rows {
		if band := around[i].above; band != "" && (i == 0 || band != around[i-1].above) {
			b.WriteString(band + "\n")
		}
		t.line(&b, widths, r)
		if i+1 < len(t.Rows) && around[i].says(around[i+1]) {
			same++
			continue
		}
		t.under(&b, around[i].below, same)
		same = 1
	}
	return b.String()
}

// under writes what stands below so many rows.
func (t Table) under(b *strings.Builder, below []string, rows int) {
	for _, text := range slices.Backward(below) {
		if rows > 1 {
			text = fmt.Sprintf("these %d, %s", rows, text)
		}
		for _, line := range Wrap(text, t.Width-len(belowIndent)) {
			b.WriteString(belowIndent + line + "\n")
		}
	}
}

// A beside is what is said of a row on lines of its own, as there is no room in its line.
type beside struct {
	above string
	below []string // the last one first
}

// says reports whether the next row has the same below it, which then needs to be said once.
func (b beside) says(next beside) bool {
	return len(b.below) > 0 && b.above == next.above && slices.Equal(b.below, next.below)
}

// Nothing is a text that says that there is nothing, which below a row needs no words.
const Nothing = "none"

// belowIndent stands before what stands below a row.
const belowIndent = "    "

// lowered returns the table without its last column, which now stands below the rows.
func (t Table) lowered(around []beside) Table {
	last := len(t.Columns) - 1
	for i, r := range t.Rows {
		if text := r[last].Text; text != "" && text != Nothing {
			around[i].below = append(around[i].below, t.Columns[last].Name+": "+text)
		}
	}
	return t.without(func(i int) bool { return i == last })
}

// raise puts a column above the rows.
func (t Table) raise(column int, around []beside) {
	for i, r := range t.Rows {
		if text := r[column].Text; text != "" {
			around[i].above = strings.TrimSpace(t.Columns[column].Name) + " " + text
		}
	}
}

// empty reports whether no row has anything in column i.
func (t Table) empty(i int) bool {
	for _, r := range t.Rows {
		if r[i].Text != "" {
			return false
		}
	}
	return true
}

// without returns the table without some of its columns.
func (t Table) without(drop func(i int) bool) Table {
	out := Table{Width: t.Width, Rows: make([][]Cell, len(t.Rows))}
	for i, c := range t.Columns {
		if drop(i) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for k, r := range t.Rows {
			out.Rows[k] = append(out.Rows[k], r[i])
		}
	}
	return out
}

// mostSpare returns the column that is missed least, or -1.
func (t Table) mostSpare() int {
	best := -1
	for i, c := range t.Columns {
		if c.Spare > 0 && (best < 0 || c.Spare < t.Columns[best].Spare) {
			best = i
		}
	}
	return best
}

// fit returns the columns' widths: what they need, and what is left for one that
// wraps.
func (t Table) fit() []int {
	widths := make([]int, len(t.Columns))
	wrap := -1
	for i, c := range t.Columns {
		widths[i] = lipgloss.Width(c.Name)
		for _, r := range t.Rows {
			widths[i] = max(widths[i], lipgloss.Width(r[i].Text))
		}
		if c.Wrap {
			wrap = i
		}
	}
	if over := t.total(widths) - t.Width; over > 0 && wrap >= 0 {
		widths[wrap] = max(widths[wrap]-over, min(leastWrap, widths[wrap]))
	}
	return widths
}

func (t Table) total(widths []int) int {
	n := len(Gap) * max(len(widths)-1, 0)
	for _, w := range widths {
		n += w
	}
	return n
}

// line writes one row, as many lines as its cells need.
func (t Table) line(b *strings.Builder, widths []int, row []Cell) {
	broken, lines := make([][]string, len(row)), 1
	for i, c := range row {
		broken[i] = []string{c.Text}
		if t.Columns[i].Wrap {
			broken[i] = Wrap(c.Text, widths[i])
		}
		lines = max(lines, len(broken[i]))
	}
	for n := range lines {
		last := -1 // column with something on this line
		for i := range row {
			if n < len(broken[i]) && broken[i][n] != "" {
				last = i
			}
		}
		for i := range row[:last+1] {
			text := ""
			if n < len(broken[i]) {
				text = broken[i][n]
			}
			if i > 0 {
				b.WriteString(Gap)
			}
			space := strings.Repeat(" ", max(widths[i]-lipgloss.Width(text), 0))
			switch {
			case t.Columns[i].Right:
				b.WriteString(space + Paint(row[i].Style, text))
			case i == last:
				b.WriteString(Paint(row[i].Style, text))
			default:
				b.WriteString(Paint(row[i].Style, text) + space)
			}
		}
		b.WriteByte('\n')
	}
}

// Paint is Render for what has something to show.
func Paint(s lipgloss.Style, text string) string {
	if text == "" {
		return ""
	}
	return s.Render(text)
}

// Plain returns cells without a look of their own.
func Plain(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i] = Cell{Text: t}
	}
	return row
}

// leastLast is how much of the last column of a table is always shown.
const leastLast = 14

// Clipped returns a table whose last column is cut to the room that the others leave.
func Clipped(t Table) string { return ClippedBy(t, Clip) }

// ClippedBy is clipped with what makes a text fit into so many columns.
func ClippedBy(t Table, fit func(text string, columns int) string) string {
	t = fitted(t)
	last := len(t.Columns) - 1
	others := t.without(func(i int) bool { return i == last || t.empty(i) })
	room := max(t.Width-others.total(others.fit())-len(Gap), leastLast)
	for _, row := range t.Rows {
		row[last].Text = fit(row[last].Text, room)
	}
	return t.String()
}

// fitted leaves out columns that there is no room for beside something of the last one.
func fitted(t Table) Table {
	last := len(t.Columns) - 1
	for {
		others := t.without(func(i int) bool { return i == last || t.empty(i) })
		spare := t.mostSpare()
		if others.total(others.fit())+len(Gap)+leastLast <= t.Width || spare < 0 {
			return t
		}
		t = t.without(func(i int) bool { return i == spare })
		last = len(t.Columns) - 1
	}
}
