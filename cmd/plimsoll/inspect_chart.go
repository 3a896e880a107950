package main

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// mostRows is how many lines a chart has.
const mostRows = 16

// colourful reports whether a chart on w may tell contents by colour alone.
func colourful(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" && !isDumb() }

// A mark is how a content looks in a chart: a letter, or where there is colour a
// block.
type mark struct {
	letter string
	colour color.Color
}

// markOf returns the mark of a content.
func markOf(c token.Content) mark {
	marks := [token.NumContents]mark{
		{"h", lipgloss.BrightBlack},
		{"s", lipgloss.Blue},
		{"t", lipgloss.Cyan},
		{"m", lipgloss.BrightMagenta},
		{"n", lipgloss.Yellow},
		{"u", lipgloss.Green},
		{"a", lipgloss.White},
		{"k", lipgloss.Magenta},
		{"c", lipgloss.BrightBlue},
		{"o", lipgloss.Red},
		{"x", lipgloss.BrightYellow},
		{"i", lipgloss.BrightGreen},
	}
	return marks[c]
}

// A chart shows what fills the context over the Steps of a session.
type chart struct {
	steps  []chartStep
	window int // 0: nobody knows
	width  int
	colour bool
}

// A chartStep is a Step under the name that --step takes.
type chartStep struct {
	name string
	inspect.Step
}

func chartOf(r inspect.Report, width int, colour bool) chart {
	c := chart{window: windowOf(r), width: width, colour: colour}
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			name := strconv.Itoa(s.Step)
			if len(r.Segments) > 1 {
				name = inspect.StepRef{Segment: g.Number, Step: s.Step}.Name()
			}
			c.steps = append(c.steps, chartStep{name, s})
		}
	}
	return c
}

// rows returns the largest Step of each stretch.
func (c chart) rows() []chartStep {
	n := min(len(c.steps), mostRows)
	rows := make([]chartStep, n)
	for i := range rows {
		stretch := c.steps[i*len(c.steps)/n : (i+1)*len(c.steps)/n]
		rows[i] = stretch[0]
		for _, s := range stretch {
			if s.Tokens >= rows[i].Tokens {
				rows[i] = s
			}
		}
	}
	return rows
}

// String draws the chart and its legend.
func (c chart) String() string {
	rows := c.rows()
	if len(rows) == 0 {
		return ""
	}
	names, figures, top := len("step"), len("tokens"), rows[0]
	for _, r := range rows {
		names, figures = max(names, len(r.name)), max(figures, len(edit.Thousands(r.Tokens)))
		if r.Tokens >= top.Tokens {
			top = r
		}
	}
	scale := top.Tokens
	if c.window > 0 && top.Tokens*4 >= c.window { // else the bars would be too short to read
		scale = max(scale, c.window)
	}
	room := max(c.width-names-figures-2-2*len(gap)-1, 10)
	var b strings.Builder
	end := edit.Thousands(scale)
	fmt.Fprintf(&b, "  %*s%s%*s%s%*s\n", names, "step", gap, figures, "tokens", gap, room+1, end)
	for _, r := range rows {
		bar := c.bar(r.By, scale, room)
		fmt.Fprintf(&b, "  %*s%s%*s%s%s\n", names, r.name, gap, figures, edit.Thousands(r.Tokens), gap, bar)
	}
	return b.String() + c.legend(top)
}

// What a column of a bar is if it is no content.
const (
	blankColumn  = -1
	windowColumn = -2 // where the window ends
)

// bar draws one Step in room columns that stand for scale tokens, with a line where
// the window ends.
func (c chart) bar(by map[string]int, scale, room int) string {
	columns := make([]int, room+1)
	sum, next := 0, 0
	for i := range token.NumContents {
		sum += by[token.Content(i).String()]
		for end := min(portion(sum, room, scale), room); next < end; next++ {
			columns[next] = i
		}
	}
	for ; next <= room; next++ {
		columns[next] = blankColumn
	}
	if c.window > 0 && c.window <= scale {
		columns[portion(c.window, room, scale)] = windowColumn
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
		case windowColumn:
			b.WriteString("|")
		default:
			b.WriteString(c.cells(token.Content(what), to-from))
		}
		from = to
	}
	return strings.TrimRight(b.String(), " ")
}

// portion returns part of whole as columns of room.
func portion(part, room, whole int) int {
	return int(int64(part) * int64(room) / int64(max(whole, 1)))
}

func (c chart) cells(of token.Content, n int) string {
	m := markOf(of)
	if !c.colour {
		return strings.Repeat(m.letter, n)
	}
	return lipgloss.NewStyle().Foreground(m.colour).Render(strings.Repeat("█", n))
}

// legend names the contents of the largest Step.
func (c chart) legend(top chartStep) string {
	var parts []string
	for i := range token.NumContents {
		of := token.Content(i)
		if n := top.By[of.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s (%s)", c.cells(of, 1), of, edit.Thousands(n), shareText(n, top.Tokens)))
		}
	}
	lines := []string{"at step " + top.name + ":"}
	for _, p := range parts {
		last := len(lines) - 1
		if lipgloss.Width(lines[last])+len(gap)+lipgloss.Width(p)+2 > c.width {
			lines = append(lines, "   "+p)
			continue
		}
		lines[last] += gap + p
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// shareText is ratio with a word for what is less than a percent.
func shareText(part, whole int) string {
	if text := ratio(part, whole); text != "0%" {
		return text
	}
	return "<1%"
}
