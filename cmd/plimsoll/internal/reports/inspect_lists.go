package reports

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// indent stands before the head of a table in the report of a session.
const indent = "  "

// noPart says what lines are that lead to nothing.
const noPart = "no part of it"

// listed writes the first few rows of a table under a title, and how many more there are; nothing
// if there are none.
func (w *reportWriter) listed(title string, t rows.Table, most int) {
	if len(t.Rows) == 0 {
		return
	}
	w.Part(title)
	all := len(t.Rows)
	t.Rows = console.First(t.Rows, most)
	w.WriteString(tableText(t, w.Width, indent))
	w.More(all, most)
}

// rest says how many of a list are not shown, of which --top says how many there are.
func (w *reportWriter) rest(all, shown int) {
	if all > shown {
		w.Para(w.Style.Dim, fmt.Sprintf("and %s more (--top %d)", edit.Thousands(all-shown), all))
	}
}

func (w *reportWriter) largest(r inspect.Report) {
	title := console.Plural(r.Totals.Outputs, "tool output")
	if len(r.Largest) > 1 {
		title += ", the dearest first"
	}
	w.listed(title, rows.Outputs(r), len(r.Largest))
	if len(r.Largest) > 0 {
		w.rest(r.Totals.Outputs, len(r.Largest))
	}
}

func (w *reportWriter) repeated(r inspect.Report) {
	w.listed(fmt.Sprintf("repeated content: %s tokens were shown before", edit.Thousands(r.Totals.Repeated)), rows.Repeats(r), len(r.Repeated))
}

func (w *reportWriter) cuts(r inspect.Report) {
	w.listed("what the client cut", rows.Cuts(r), mostCuts)
}

func (w *reportWriter) breaks(r inspect.Report) {
	t := r.Totals
	w.listed(fmt.Sprintf("%s of the provider's cache: %s tokens were not read", console.Plural(t.CacheBreaks, "break"), edit.Thousands(t.CacheLost)), rows.Breaks(r), len(r.CacheBreaks))
	if len(r.CacheBreaks) > 0 {
		w.rest(t.CacheBreaks, len(r.CacheBreaks))
	}
}

func (w *reportWriter) thinking(r inspect.Report) { w.listed("thinking", rows.Thinking(r), mostCuts) }

func (w *reportWriter) unanswered(r inspect.Report) {
	w.listed(console.Plural(len(r.Unanswered), "call")+" without a result", rows.Open(r), console.MostListed)
}

// unread lists what could not be read, and what leads nowhere.
func (w *reportWriter) unread(r inspect.Report) {
	texts := slices.Concat(lines(rows.Problems(r), ""), lines(rows.Branches(r.Abandoned), noPart))
	if len(texts) == 0 {
		return
	}
	w.Part("in the file")
	w.List(texts)
}
