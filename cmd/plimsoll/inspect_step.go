package main

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// listingText writes the content of one request.
func listingText(l inspect.Listing, width int) string {
	w := &reportWriter{writer{width: width, st: newStyles()}}
	w.title(fmt.Sprintf("%s  step %s", w.named(l.Session), l.Name()))
	messages := 0
	for _, it := range l.Items {
		if it.What == inspect.ItemMessage {
			messages++
		}
	}
	w.para(w.st.plain, fmt.Sprintf("%s, %s, %s tokens (%s)", modelName(l.Model), plural(messages, "message"), edit.Thousands(l.Tokens), l.Kind))
	w.para(w.st.dim, contentList(l.By))
	t := itemTable(width)
	for _, it := range l.Items {
		t.rows = append(t.rows, w.itemRows("", it)...)
	}
	w.b.WriteString(clipped(t))
	return w.b.String()
}

func itemTable(width int) table {
	return table{width: width, columns: []column{
		{name: " "},
		{name: "message", right: true},
		{name: "who"},
		{name: "what"},
		{name: "tokens", right: true},
		{name: "bytes", right: true, spare: 1},
		{name: "line", right: true},
		{name: "content"},
	}}
}

// itemRows returns a row for each part. sign is what became of it.
func (w *reportWriter) itemRows(sign string, it inspect.Item) [][]cell {
	number, who := "", it.What
	if it.What == inspect.ItemMessage {
		number, who = strconv.Itoa(it.Message), it.Origin
	}
	style := w.signed(sign)
	var rows [][]cell
	for i, p := range it.Parts {
		line := positive(it.Line)
		if i > 0 {
			number, who, line = "", "", ""
		}
		bytes := p.Bytes
		if it.What == inspect.ItemHidden {
			bytes = 0
		}
		row := plain(sign, number, who, p.Kind, edit.Thousands(p.Tokens), thousandsOrNone(bytes), line, safe(partText(it, p)))
		for k := range row {
			row[k].style = style
		}
		rows = append(rows, row)
	}
	return rows
}

// signed is the look of what was added, removed or changed.
func (w *reportWriter) signed(sign string) lipgloss.Style {
	switch sign {
	case "+":
		return w.st.good
	case "-":
		return w.st.bad
	}
	return w.st.plain
}

func thousandsOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return edit.Thousands(n)
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

// diffText writes what changed between two requests.
func diffText(d inspect.Diff, width int) string {
	w := &reportWriter{writer{width: width, st: newStyles()}}
	w.title(fmt.Sprintf("%s  step %s to %s", w.named(d.Session), d.A.Name(), d.B.Name()))
	w.para(w.st.plain, fmt.Sprintf("%s to %s tokens, %d to %s; the same at the beginning: %d, in all: %d",
		edit.Thousands(d.A.Tokens), edit.Thousands(d.B.Tokens), d.A.Messages, plural(d.B.Messages, "message"), d.Prefix, d.Same))
	w.para(w.st.dim, "now: "+contentList(d.B.By))
	t := itemTable(width)
	for _, it := range d.Removed {
		t.rows = append(t.rows, w.itemRows("-", it)...)
	}
	for _, c := range d.Changed {
		t.rows = append(t.rows, w.itemRows("-", c.Before)...)
		t.rows = append(t.rows, w.itemRows("+", c.After)...)
	}
	for _, it := range d.Added {
		t.rows = append(t.rows, w.itemRows("+", it)...)
	}
	if len(t.rows) == 0 {
		w.para(w.st.plain, "nothing that the file has")
		return w.b.String()
	}
	w.b.WriteString(clipped(t))
	return w.b.String()
}
