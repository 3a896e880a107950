package reports

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// tableText lays out rows for a terminal of so many columns; empty if there are none. What there
// is no room for folds away as the columns say.
func tableText(all rows.Table, width int, indent string) string {
	all = all.Narrow().Filled()
	if len(all.Rows) == 0 || len(all.Columns) == 0 {
		return ""
	}
	t := console.Table{Width: width}
	for i, c := range all.Columns {
		name := c.Name
		if i == 0 {
			name = indent + name
		}
		t.Columns = append(t.Columns, console.Column{Name: name, Right: c.Numbers, Spare: c.Spare, Wrap: c.Wrap, Under: c.Below, Band: c.Name == all.By})
	}
	last := len(all.Columns) - 1
	fit := fitOf(all.Columns[last].Keep)
	for _, row := range all.Rows {
		out := make([]console.Cell, len(row.Cells))
		for i, c := range row.Cells {
			out[i] = console.Cell{Text: c.String(), Style: looks(c.Look)}
			switch most := all.Columns[i].Most; {
			case most > 0:
				out[i].Text = console.Clip(out[i].Text, most)
			case i < last || fit == nil: // what fits the last one makes it safe
				out[i].Text = console.Safe(out[i].Text)
			}
		}
		t.Rows = append(t.Rows, out)
	}
	if fit != nil {
		return console.ClippedBy(t, fit)
	}
	return t.String()
}

// fitOf is what makes a text fit of which a side is kept; nil: it is not shortened.
func fitOf(k rows.Keep) func(text string, columns int) string {
	switch k {
	case rows.Start:
		return console.Clip
	case rows.End:
		return func(text string, columns int) string { return console.Shorten(console.Safe(text), columns) }
	case rows.About:
		return argumentsText
	}
	return nil
}

func looks(l rows.Look) lipgloss.Style {
	switch st := console.NewStyles(); l {
	case rows.Good:
		return st.Good
	case rows.Bad:
		return st.Bad
	default:
		return lipgloss.Style{}
	}
}

// lines writes rows as a list, for tables of few rows and long texts: what stands in a row under its
// head, what they all are if that needs words, and the text behind it.
func lines(t rows.Table, are string) []string {
	var out []string
	last := len(t.Columns) - 1
	for _, row := range t.Rows {
		var parts []string
		for i, c := range row.Cells[:last] {
			if c.String() != "" {
				parts = append(parts, figureText(t.Columns[i].Name, c))
			}
		}
		if are != "" {
			parts = append(parts, are)
		}
		text := console.Safe(row.Cells[last].String())
		if len(parts) > 0 {
			text = strings.Join(parts, ", ") + ": " + text
		}
		out = append(out, text)
	}
	return out
}

// figureText is a cell with its head in a sentence: 2 messages, line 3, cost $1.20.
func figureText(head string, c rows.Cell) string {
	text := console.Safe(c.String())
	several, plural := strings.CutSuffix(head, "s")
	if plural && !strings.Contains(text, " ") && (c.Kind != rows.Number || c.Number == 1) {
		head = several
	}
	if plural && c.Kind == rows.Number {
		return text + " " + head
	}
	return head + " " + text
}
