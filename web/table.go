package web

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A table is drawn as it is.
type table struct {
	Title  string
	Note   string
	Head   []column
	Bodies []body
	Open   bool // not folded away
}

// A column is the head of one.
type column struct {
	Name    string
	Unit    string // of its figures; empty: they have none
	Numbers bool
}

// A body is a group of rows with a head of its own, or without one.
type body struct {
	Name string
	Rows [][]cell
}

// A cell is a text, in a column of numbers aligned as one.
type cell struct {
	Text string
	Mark string // "bad" or nothing
}

// longText is how many characters a cell holds in one line; a longer text is wrapped.
const longText = 28

// Class returns the cell's classes.
func (c cell) Class(number bool) string {
	classes := []string{}
	switch {
	case number:
		classes = append(classes, "n")
	case utf8.RuneCountInString(c.Text) > longText:
		classes = append(classes, "t")
	}
	if c.Mark != "" {
		classes = append(classes, c.Mark)
	}
	return strings.Join(classes, " ")
}

// Columns returns how wide the table is.
func (t table) Columns() int { return len(t.Head) }

// Rows returns how many rows the table has.
func (t table) Rows() int {
	n := 0
	for _, b := range t.Bodies {
		n += len(b.Rows)
	}
	return n
}

// with puts in the rows, and says how many of all they are.
func (t table) with(rows [][]cell, all int) table {
	if len(rows) == 0 {
		return t
	}
	t.Bodies = []body{{Rows: rows}}
	if all > len(rows) {
		t.Note = strings.TrimSpace(fmt.Sprintf("%s The first %s of %s are listed.", t.Note, count(len(rows)), count(all)))
	}
	return t
}

// text, number and mark make cells.
func text(s string) cell { return cell{Text: clean(s)} }

func number(n int) cell { return cell{Text: count(n)} }

// words and numbers make column heads.
func words(names ...string) []column { return columns(false, names) }

func numbers(names ...string) []column { return columns(true, names) }

func columns(numbers bool, names []string) []column {
	out := make([]column, len(names))
	for i, name := range names {
		out[i] = column{Name: name, Numbers: numbers}
	}
	return out
}
