package reports

import (
	"strconv"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// contentMarks are how contents look in a chart, in their order; plimsoll inspect --help has
// the letters.
func contentMarks() []console.Mark {
	marks := [token.NumContents]console.Mark{
		{Letter: "h", Colour: lipgloss.BrightBlack},
		{Letter: "s", Colour: lipgloss.Blue},
		{Letter: "t", Colour: lipgloss.Cyan},
		{Letter: "m", Colour: lipgloss.BrightMagenta},
		{Letter: "n", Colour: lipgloss.Yellow},
		{Letter: "u", Colour: lipgloss.Green},
		{Letter: "a", Colour: lipgloss.White},
		{Letter: "k", Colour: lipgloss.Magenta},
		{Letter: "c", Colour: lipgloss.BrightBlue},
		{Letter: "o", Colour: lipgloss.Red},
		{Letter: "x", Colour: lipgloss.BrightYellow},
		{Letter: "i", Colour: lipgloss.BrightGreen},
	}
	for i := range marks {
		marks[i].Name = token.Content(i).String()
	}
	return marks[:]
}

// chartOf shows what fills the context over the Steps of a session, each under the name that
// --step takes.
func chartOf(r inspect.Report, width int, colour bool) console.Chart {
	c := console.Chart{What: "step", Marks: contentMarks(), Limit: windowOf(r), Width: width, Colour: colour}
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			b := console.Bar{Name: strconv.Itoa(s.Step), Total: s.Tokens}
			if len(r.Segments) > 1 {
				b.Name = inspect.StepRef{Segment: g.Number, Step: s.Step}.Name()
			}
			for _, m := range c.Marks {
				b.Parts = append(b.Parts, s.By[m.Name])
			}
			c.Bars = append(c.Bars, b)
		}
	}
	return c
}
