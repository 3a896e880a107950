package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// sessionsFlags are the flags of plimsoll sessions.
type sessionsFlags struct {
	limit     int
	by        string
	json, csv bool
}

// costText is a cost, with + where some calls are not in it; empty if none is.
func costText(s inspect.BriefSum) string {
	switch {
	case s.Steps == 0 || s.Unpriced == s.Steps:
		return ""
	case s.Unpriced > 0:
		return catalog.Dollars(s.Cost).String() + "+"
	}
	return catalog.Dollars(s.Cost).String()
}

// tokensText are the tokens of prompts, likewise.
func tokensText(s inspect.BriefSum) string {
	switch {
	case s.Steps == 0 || s.Unsized == s.Steps:
		return ""
	case s.Unsized > 0:
		return edit.Thousands(s.Tokens) + "+"
	}
	return edit.Thousands(s.Tokens)
}

// idOf is what a session is called.
func idOf(path string) string {
	names := places.Names(path)
	return names[len(names)-1]
}

// shortID is how many characters of an id are shown at least.
const shortID = 8

// namesOf returns all that sessions may be called, sorted.
func namesOf(found []places.Found) []string {
	var all []string
	for _, f := range found {
		all = append(all, places.Names(f.Path)...)
	}
	slices.Sort(all)
	return all
}

// shortOf returns the beginning of an id that none of the others, which are sorted, has: it is
// enough to name the session.
func shortOf(id string, all []string) string {
	n := shortID
	at, _ := slices.BinarySearch(all, id)
	for _, near := range []int{at - 1, at + 1} {
		if near < 0 || near >= len(all) || all[near] == id {
			continue
		}
		same := 0
		for same < min(len(id), len(all[near])) && id[same] == all[near][same] {
			same++
		}
		n = max(n, same+1)
	}
	if n >= len(id) || !utf8.ValidString(id[:n]) || len(id) <= shortID+shortID/2 {
		return id
	}
	return id[:n]
}

// wholeWidth is how wide a list is in a pipe: as wide as it needs.
const wholeWidth = 1 << 20

func (f sessionsFlags) printSessions(w io.Writer, all []known) error {
	switch {
	case f.json:
		return printSessionsJSON(w, all)
	case f.csv:
		return printSessionsCSV(w, all)
	}
	return console.Print(w, sessionsText(all, console.Width(w), console.ScreenWidth(w) == 0, time.Now()))
}

// sessionsText lists sessions, one a line: in a terminal as much of the first words as there is
// room for, elsewhere everything.
func sessionsText(all []known, width int, whole bool, now time.Time) string {
	st := console.NewStyles()
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "session"},
		{Name: "age", Right: true},
		{Name: "project"},
		{Name: "steps", Right: true, Spare: 3},
		{Name: "tokens", Right: true, Spare: 2},
		{Name: "cost", Right: true},
		{Name: "ended"},
		{Name: "model", Spare: 1},
		{Name: "began with"},
	}}
	if whole {
		t.Width = wholeWidth
		t.Columns = append(t.Columns, console.Column{Name: "file"})
	}
	for _, k := range all {
		project, model, first := console.Homely(k.Project), cmp.Or(k.Model, k.Found.Client), k.First
		if !whole {
			project, model = console.Shorten(project, width/projectShare), console.Clip(model, mostModel)
		}
		if k.Wrong != "" {
			first = "(" + k.Wrong + ")"
		}
		id := k.Short
		if whole || id == "" {
			id = idOf(k.Path)
		}
		row := console.Plain(console.Safe(id), console.Ago(k.Time, now), console.Safe(project), console.Count(k.Steps), tokensText(k.BriefSum), costText(k.BriefSum), console.Safe(endedText(k.Ended)), console.Safe(model), console.Safe(first))
		if k.Ended != "" && endIsBad(k.Ended) {
			row[6].Style = st.Bad
		}
		if whole {
			row = append(row, console.Cell{Text: console.Safe(console.Homely(k.Path))})
		}
		t.Rows = append(t.Rows, row)
	}
	if whole {
		return t.String()
	}
	text := console.Clipped(t)
	if slices.ContainsFunc(all, func(k known) bool { return strings.HasSuffix(tokensText(k.BriefSum)+costText(k.BriefSum), "+") }) {
		w := console.NewWriter(width)
		w.Para(st.Dim, "+: of some steps alone; the others state no usage, or no list price is known")
		text += w.String()
	}
	return text
}

// In a terminal a project's folder takes a sixth of the width, by its end, and a model's name at
// most so many columns.
const (
	projectShare = 6
	mostModel    = 18
)

// endedText is how a session ended, in one or two words; nothing where all was answered.
func endedText(how string) string {
	if how == inspect.EndAnswered {
		return ""
	}
	return how
}

// endIsBad reports whether a session ended with an error.
func endIsBad(how string) bool {
	switch how {
	case inspect.EndAnswered, inspect.EndOpen, inspect.EndStopped, inspect.EndLimit, inspect.EndWaits:
		return false
	}
	return true
}

// A sessionLine is a session as JSON.
type sessionLine struct {
	Path    string        `json:"path"`
	Client  string        `json:"client"`
	Time    time.Time     `json:"time"`
	Bytes   int64         `json:"bytes"`
	ID      string        `json:"id,omitempty"`
	Project string        `json:"project,omitempty"`
	First   string        `json:"first,omitempty"`
	Model   string        `json:"model,omitempty"`
	Steps   int           `json:"steps"`
	Tokens  int           `json:"tokens"`
	Unsized int           `json:"unsized_steps,omitempty"`
	CostUSD catalog.Money `json:"cost_usd"`
	Priced  int           `json:"cost_steps"`
	Ended   string        `json:"ended,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}

func printSessionsJSON(w io.Writer, all []known) error {
	for _, k := range all {
		err := console.PrintJSON(w, sessionLine{
			Path: k.Path, Client: k.Found.Client, Time: k.Time.UTC(), Bytes: k.Size, ID: k.ID, Project: k.Project, First: k.First, Model: k.Model,
			Steps: k.Steps, Tokens: k.Tokens, Unsized: k.Unsized, CostUSD: k.Money(), Priced: k.Steps - k.Unpriced, Ended: k.Ended, Hint: k.Wrong,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func printSessionsCSV(w io.Writer, all []known) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"id", "client", "time", "project", "model", "steps", "tokens", "cost_usd", "cost_steps", "ended", "first", "path"})
	for _, k := range all {
		_ = c.Write([]string{ // Flush has the error
			console.Safe(cmp.Or(k.ID, idOf(k.Path))), k.Found.Client, k.Time.UTC().Format(time.RFC3339), console.Safe(k.Project), console.Safe(k.Model), strconv.Itoa(k.Steps), strconv.Itoa(k.Tokens),
			dollarsText(k.Cost), strconv.Itoa(k.Steps - k.Unpriced), k.Ended, console.Safe(k.First), console.Safe(k.Path),
		})
	}
	c.Flush()
	return c.Error()
}

// dollarsText is money as a plain number of dollars.
func dollarsText(pico int64) string {
	const perMicro = 1_000_000
	micros := pico / perMicro
	return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
}

// A sumLine is a sum as JSON.
type sumLine struct {
	Name     string        `json:"name"`
	Sessions int           `json:"sessions"`
	Steps    int           `json:"steps"`
	Tokens   int           `json:"tokens"`
	Unsized  int           `json:"unsized_steps,omitempty"`
	CostUSD  catalog.Money `json:"cost_usd"`
	Priced   int           `json:"cost_steps"`
	KnownUSD catalog.Money `json:"known_usd"` // of the steps whose cost is known
}

func (f sessionsFlags) printSums(w io.Writer, sums []sessionSum) error {
	switch {
	case f.json:
		for _, s := range sums {
			err := console.PrintJSON(w, sumLine{s.Name, s.Sessions, s.Steps, s.Tokens, s.Unsized, s.Money(), s.Steps - s.Unpriced, catalog.Dollars(s.Cost)})
			if err != nil {
				return err
			}
		}
		return nil
	case f.csv:
		c := csv.NewWriter(w)
		_ = c.Write([]string{f.by, "sessions", "steps", "tokens", "cost_usd", "cost_steps"})
		for _, s := range sums {
			_ = c.Write([]string{console.Safe(s.Name), strconv.Itoa(s.Sessions), strconv.Itoa(s.Steps), strconv.Itoa(s.Tokens), dollarsText(s.Cost), strconv.Itoa(s.Steps - s.Unpriced)})
		}
		c.Flush()
		return c.Error()
	}
	return console.Print(w, sumsText(f.by, sums, console.Width(w), console.ScreenWidth(w) == 0))
}

// sumsText lists sums, and what they are together: a line each, in a terminal with the end of a name
// that is longer than half of it.
func sumsText(by string, sums []sessionSum, width int, whole bool) string {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: by}, {Name: "sessions", Right: true, Spare: 1}, {Name: "steps", Right: true}, {Name: "tokens", Right: true}, {Name: "cost", Right: true},
	}}
	if whole {
		t.Width = wholeWidth
	}
	var all inspect.BriefSum
	for _, s := range sums {
		all.Add(s.BriefSum)
		if !whole {
			s.Name = console.Shorten(s.Name, width/2)
		}
		t.Rows = append(t.Rows, console.Plain(console.Safe(s.Name), edit.Thousands(s.Sessions), edit.Thousands(s.Steps), tokensText(s.BriefSum), costText(s.BriefSum)))
	}
	if len(sums) > 1 {
		row := console.Plain("together", "", edit.Thousands(all.Steps), tokensText(all), costText(all))
		for i := range row {
			row[i].Style = console.NewStyles().Head
		}
		t.Rows = append(t.Rows, row)
	}
	text := t.String()
	if all.Unpriced > 0 {
		text += fmt.Sprintf("+ %s are not in it: their files state no cost or usage, or no list price is known\n", console.Plural(all.Unpriced, "step"))
	}
	return text
}
