package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// Widths of what is printed, in columns.
const (
	pipeWidth  = 120 // where there is no screen
	mostWidth  = 200
	leastWidth = 60
	leastWrap  = 16 // of a column that wraps
	gap        = "  "
)

// widthOf returns how wide a table on w may be.
func widthOf(w io.Writer) int {
	if width := screenWidth(w); width > 0 {
		return min(max(width, leastWidth), mostWidth)
	}
	return pipeWidth
}

// screenWidth returns how wide the screen is that w is shown on: the terminal's width, else what
// COLUMNS says; 0: there is none, or it does not know.
func screenWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return pipeWidth // some terminals do not know
	}
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width < 0 {
		return 0
	}
	return width
}

// styles are how people's output looks. Package lipgloss leaves out what the output
// cannot show, so that a pipe gets plain text.
type styles struct{ plain, head, good, bad, dim lipgloss.Style }

// newStyles returns the styles, none where NO_COLOR is set (no-color.org).
func newStyles() styles {
	if os.Getenv("NO_COLOR") != "" || isDumb() {
		return styles{}
	}
	s := lipgloss.NewStyle()
	return styles{
		plain: s, head: s.Bold(true), good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red).Bold(true), dim: s.Faint(true),
	}
}

// count is the look of a number that should be 0.
func (s styles) count(n int) lipgloss.Style {
	if n > 0 {
		return s.bad
	}
	return s.good
}

// A column of a table.
type column struct {
	name  string
	right bool // numbers stand to the right
	wrap  bool // may be broken into lines; of several the last one that is there
	under bool // stands on lines of its own below its row where there is no room beside the others; the last column
	spare int  // 1 is left out first where the width is too small; 0: never
}

// A cell is a text and how it looks.
type cell struct {
	text  string
	style lipgloss.Style
}

// A table is laid out by plain text first and coloured then, so that colour moves
// nothing.
type table struct {
	columns []column
	rows    [][]cell
	width   int // most columns on the screen
}

// String returns the table with a line for its header. A column with nothing in it
// is left out.
func (t table) String() string {
	t = t.without(func(i int) bool { return t.empty(i) })
	widths := t.fit()
	var below []string
	if last := len(t.columns) - 1; last >= 0 && t.columns[last].under && t.total(widths) > t.width {
		t, below = t.lowered()
		widths = t.fit()
	}
	for t.total(widths) > t.width {
		spare := t.mostSpare()
		if spare < 0 {
			break
		}
		t = t.without(func(i int) bool { return i == spare })
		widths = t.fit()
	}
	head := make([]cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{c.name, newStyles().head}
	}
	var b strings.Builder
	t.line(&b, widths, head)
	for i, r := range t.rows {
		t.line(&b, widths, r)
		if below != nil && below[i] != "" {
			for _, line := range wrapText(below[i], t.width-len(belowIndent)) {
				b.WriteString(belowIndent + line + "\n")
			}
		}
	}
	return b.String()
}

// nothing is a text that says that there is nothing, which below a row needs no words.
const nothing = "none"

// belowIndent stands before what stands below a row.
const belowIndent = "    "

// lowered returns the table without its last column, and what that says of each row.
func (t table) lowered() (table, []string) {
	last := len(t.columns) - 1
	below := make([]string, len(t.rows))
	for i, r := range t.rows {
		if text := r[last].text; text != "" && text != nothing {
			below[i] = t.columns[last].name + ": " + text
		}
	}
	return t.without(func(i int) bool { return i == last }), below
}

// empty reports whether no row has anything in column i.
func (t table) empty(i int) bool {
	for _, r := range t.rows {
		if r[i].text != "" {
			return false
		}
	}
	return true
}

// without returns the table without some of its columns.
func (t table) without(drop func(i int) bool) table {
	out := table{width: t.width, rows: make([][]cell, len(t.rows))}
	for i, c := range t.columns {
		if drop(i) {
			continue
		}
		out.columns = append(out.columns, c)
		for k, r := range t.rows {
			out.rows[k] = append(out.rows[k], r[i])
		}
	}
	return out
}

// mostSpare returns the column that is missed least, or -1.
func (t table) mostSpare() int {
	best := -1
	for i, c := range t.columns {
		if c.spare > 0 && (best < 0 || c.spare < t.columns[best].spare) {
			best = i
		}
	}
	return best
}

// fit returns the columns' widths: what they need, and what is left for one that
// wraps.
func (t table) fit() []int {
	widths := make([]int, len(t.columns))
	wrap := -1
	for i, c := range t.columns {
		widths[i] = lipgloss.Width(c.name)
		for _, r := range t.rows {
			widths[i] = max(widths[i], lipgloss.Width(r[i].text))
		}
		if c.wrap {
			wrap = i
		}
	}
	if over := t.total(widths) - t.width; over > 0 && wrap >= 0 {
		widths[wrap] = max(widths[wrap]-over, min(leastWrap, widths[wrap]))
	}
	return widths
}

func (t table) total(widths []int) int {
	n := len(gap) * max(len(widths)-1, 0)
	for _, w := range widths {
		n += w
	}
	return n
}

// line writes one row, as many lines as its cells need.
func (t table) line(b *strings.Builder, widths []int, row []cell) {
	broken, lines := make([][]string, len(row)), 1
	for i, c := range row {
		broken[i] = []string{c.text}
		if t.columns[i].wrap {
			broken[i] = wrapText(c.text, widths[i])
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
				b.WriteString(gap)
			}
			space := strings.Repeat(" ", max(widths[i]-lipgloss.Width(text), 0))
			switch {
			case t.columns[i].right:
				b.WriteString(space + paint(row[i].style, text))
			case i == last:
				b.WriteString(paint(row[i].style, text))
			default:
				b.WriteString(paint(row[i].style, text) + space)
			}
		}
		b.WriteByte('\n')
	}
}

// paint is Render for what has something to show.
func paint(s lipgloss.Style, text string) string {
	if text == "" {
		return ""
	}
	return s.Render(text)
}

// wrapText breaks a text between words.
func wrapText(text string, width int) []string {
	lines := strings.Split(lipgloss.Wrap(text, max(width, 1), " "), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return lines
}

// plain returns cells without a look of their own.
func plain(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, t := range texts {
		row[i] = cell{text: t}
	}
	return row
}
