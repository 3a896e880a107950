package reports

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// Listing writes the content of one request.
func Listing(l inspect.Listing, width int) string {
	w := newReportWriter(width)
	w.Title(fmt.Sprintf("%s  step %s", w.Named(l.Session), l.Name()))
	messages := 0
	for _, it := range l.Items {
		if it.What == inspect.ItemMessage {
			messages++
		}
	}
	w.Para(w.Style.Plain, fmt.Sprintf("%s, %s, %s tokens (%s)", modelName(l.Model), console.Plural(messages, "message"), edit.Thousands(l.Tokens), l.Kind))
	w.Para(w.Style.Dim, console.Safe(rows.Contents(l.By)))
	t := itemTable(width)
	for _, it := range l.Items {
		t.Rows = append(t.Rows, w.itemRows("", it)...)
	}
	w.WriteString(console.Clipped(t))
	return w.String()
}

func itemTable(width int) console.Table {
	return console.Table{Width: width, Columns: []console.Column{
		{Name: " "},
		{Name: "message", Right: true},
		{Name: "who"},
		{Name: "what"},
		{Name: "tokens", Right: true},
		{Name: "bytes", Right: true, Spare: 1},
		{Name: "line", Right: true},
		{Name: "content"},
	}}
}

// itemRows returns a row for each part. sign is what became of it.
func (w *reportWriter) itemRows(sign string, it inspect.Item) [][]console.Cell {
	number, who := "", it.What
	if it.What == inspect.ItemMessage {
		number, who = strconv.Itoa(it.Message), it.Origin
	}
	style := w.signed(sign)
	var rows [][]console.Cell
	for i, p := range it.Parts {
		line := console.Count(it.Line)
		if i > 0 {
			number, who, line = "", "", ""
		}
		bytes := p.Bytes
		if it.What == inspect.ItemHidden {
			bytes = 0
		}
		row := console.Plain(sign, number, who, p.Kind, edit.Thousands(p.Tokens), console.Count(bytes), line, console.Safe(partText(it, p)))
		for k := range row {
			row[k].Style = style
		}
		rows = append(rows, row)
	}
	return rows
}

// signed is the look of what was added, removed or changed.
func (w *reportWriter) signed(sign string) lipgloss.Style {
	switch sign {
	case "+":
		return w.Style.Good
	case "-":
		return w.Style.Bad
	}
	return w.Style.Plain
}

// callKind is what a call of a tool is called among parts.
const callKind = "call"

// partText is a part on one line.
func partText(it inspect.Item, p inspect.Part) string {
	name := p.Name
	if name == "" {
		name = it.Name
	}
	if p.Error {
		name = strings.TrimSpace(name + " failed")
	}
	text := p.Preview
	if p.Kind == callKind {
		text = argumentsText(text, len(text))
	}
	return strings.TrimSpace(name + " " + text)
}

// Difference writes what changed between two requests.
func Difference(d inspect.Diff, width int) string {
	w := newReportWriter(width)
	w.Title(fmt.Sprintf("%s  step %s to %s", w.Named(d.Session), d.A.Name(), d.B.Name()))
	w.Para(w.Style.Plain, fmt.Sprintf("%s to %s tokens, %d to %s; the same at the beginning: %d, in all: %d",
		edit.Thousands(d.A.Tokens), edit.Thousands(d.B.Tokens), d.A.Messages, console.Plural(d.B.Messages, "message"), d.Prefix, d.Same))
	w.Para(w.Style.Dim, "now: "+console.Safe(rows.Contents(d.B.By)))
	t := itemTable(width)
	for _, it := range d.Removed {
		t.Rows = append(t.Rows, w.itemRows("-", it)...)
	}
	for _, c := range d.Changed {
		t.Rows = append(t.Rows, w.itemRows("-", c.Before)...)
		t.Rows = append(t.Rows, w.itemRows("+", c.After)...)
	}
	for _, it := range d.Added {
		t.Rows = append(t.Rows, w.itemRows("+", it)...)
	}
	if len(t.Rows) == 0 {
		w.Para(w.Style.Plain, "nothing that the file has")
		return w.String()
	}
	w.WriteString(console.Clipped(t))
	return w.String()
}
