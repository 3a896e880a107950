package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batchesText lists the batches of all runs, and says what those of each run came to; empty
// if nobody asked, or there was none.
func batchesText(rows []runRow, width int) string {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "policy"},
		{Name: "window", Right: true},
		{Name: "step", Right: true},
		{Name: "by"},
		{Name: "removed", Right: true},
		{Name: "rewritten", Right: true},
		{Name: "pays after", Right: true, Spare: 1},
		{Name: "served", Right: true},
		{Name: "expected", Right: true, Spare: 2},
		{Name: "cost", Right: true},
		{Name: "saved", Right: true},
	}}
	w := console.NewWriter(width)
	for _, r := range rows {
		for _, b := range r.run.Batches {
			expected := ""
			if b.Expected != nil {
				expected = strconv.Itoa(b.Expected.Calls)
			}
			t.Rows = append(t.Rows, console.Plain(console.Safe(r.run.Policy), console.Safe(r.run.Window), strconv.Itoa(b.Step), console.Safe(strings.Join(b.Rules, ", ")),
				edit.Thousands(b.Removed), edit.Thousands(b.Rewritten), console.Count(b.BreakEven), strconv.Itoa(b.Calls), expected,
				console.Money(b.CostUSD), console.Money(b.SavedUSD)))
		}
		if n := len(r.run.Batches); n > 0 {
			w.Para(w.Style.Plain, fmt.Sprintf("%s at %s: %s", console.Safe(r.run.Policy), console.Safe(r.run.Window), batchesSum(r.run.Batches)))
		}
	}
	if len(t.Rows) == 0 {
		return ""
	}
	return "\n" + t.String() + w.String()
}

// batchesSum says what batches came to.
func batchesSum(batches []replay.Batch) string {
	cost, saved, rewritten := catalog.Dollars(0), catalog.Dollars(0), 0
	for _, b := range batches {
		cost, saved, rewritten = cost.Add(b.CostUSD), saved.Add(b.SavedUSD), rewritten+b.Rewritten
	}
	text := fmt.Sprintf("%s of our own, %s tokens written once more", console.Plural(len(batches), "cache break"), edit.Thousands(rewritten))
	if !cost.Known || !saved.Known {
		return text
	}
	return fmt.Sprintf("%s for %s; %s saved by not reading what left", text, cost, saved)
}
