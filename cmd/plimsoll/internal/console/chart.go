package console

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// mostRows is how many lines a chart has.
const mostRows = 16

// leastBars is how many columns the bars of a chart have, where there is less room.
const leastBars = 10

// A Mark is what one part of a bar looks like: a letter, or where there is colour a block.
type Mark struct {
	Name   string
	Letter string // one column wide
	Colour color.Color
}

// A Bar is one line of a chart.
type Bar struct {
	Name  string
	Total int   // tokens
	Parts []int // of Total, one for each mark of the chart
}

// A Chart shows what fills something over time, a bar for each moment: of stretches that
// are longer than its lines the largest.
type Chart struct {
	What   string // a Bar is, such as "step"
	Marks  []Mark
	Bars   []Bar
	Limit  int // tokens, where a line is drawn; 0: nobody knows
	Width  int // columns
	Colour bool
}

// largest returns the largest bar of each stretch.
func (c Chart) largest() []Bar {
	n := min(len(c.Bars), mostRows)
	rows := make([]Bar, n)
	for i := range rows {
		stretch := c.Bars[i*len(c.Bars)/n : (i+1)*len(c.Bars)/n]
		rows[i] = stretch[0]
		for _, b := range stretch {
			if b.Total >= rows[i].Total {
				rows[i] = b
			}
		}
	}
	return rows
}

// String draws the chart and its legend; empty without bars.
func (c Chart) String() string {
	rows := c.largest()
	if len(rows) == 0 {
		return ""
	}
	const unit = "tokens"
	names, figures, top := len(c.What), len(unit), rows[0]
	for _, r := range rows {
		names, figures = max(names, len(r.Name)), max(figures, len(edit.Thousands(r.Total)))
		if r.Total >= top.Total {
			top = r
		}
	}
	scale := top.Total
	if c.Limit > 0 && top.Total*4 >= c.Limit { // else the bars would be too short to read
		scale = max(scale, c.Limit)
	}
	room := max(c.Width-names-figures-2-2*len(Gap)-1, leastBars)
	var b strings.Builder
	fmt.Fprintf(&b, "  %*s%s%*s%s%*s\n", names, c.What, Gap, figures, unit, Gap, room+1, edit.Thousands(scale))
	for _, r := range rows {
		line := fmt.Sprintf("  %*s%s%*s%s%s", names, r.Name, Gap, figures, edit.Thousands(r.Total), Gap, c.bar(r, scale, room))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String() + c.legend(top)
}

// What a column of a bar is if it is no part.
const (
	blankColumn = -1
	limitColumn = -2
)

// bar draws one bar in room columns that stand for scale tokens, with a line at the limit.
func (c Chart) bar(r Bar, scale, room int) string {
	columns := make([]int, room+1)
	sum, next := 0, 0
	for i, n := range r.Parts {
		sum += n
		for end := min(portion(sum, room, scale), room); next < end; next++ {
			columns[next] = i
		}
	}
	for ; next <= room; next++ {
		columns[next] = blankColumn
	}
	if c.Limit > 0 && c.Limit <= scale {
		columns[portion(c.Limit, room, scale)] = limitColumn
	}
	var b strings.Builder
	for from := 0; from <= room; {
		to := from + 1
		for to <= room && columns[to] == columns[from] {
			to++
		}
		switch what := columns[from]; what {
		case blankColumn:
			b.WriteString(strings.Repeat(" ", to-from))
		case limitColumn:
			b.WriteString("|")
		default:
			b.WriteString(c.cells(what, to-from))
		}
		from = to
	}
	return strings.TrimRight(b.String(), " ")
}

// portion returns part of whole as columns of room.
func portion(part, room, whole int) int {
	return int(int64(part) * int64(room) / int64(max(whole, 1)))
}

func (c Chart) cells(mark, n int) string {
	m := c.Marks[mark]
	if !c.Colour {
		return strings.Repeat(m.Letter, n)
	}
	return lipgloss.NewStyle().Foreground(m.Colour).Render(strings.Repeat("█", n))
}

// legend names the parts of a bar.
func (c Chart) legend(of Bar) string {
	var parts []string
	for i, n := range of.Parts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s (%s)", c.cells(i, 1), c.Marks[i].Name, edit.Thousands(n), Share(n, of.Total)))
		}
	}
	lines := []string{"at " + c.What + " " + of.Name + ":"}
	for _, p := range parts {
		last := len(lines) - 1
		if lipgloss.Width(lines[last])+len(Gap)+lipgloss.Width(p)+2 > c.Width {
			lines = append(lines, "   "+p)
			continue
		}
		lines[last] += Gap + p
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}
