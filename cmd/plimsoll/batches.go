package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batchesText lists the batches of all runs, and says what those of each run came to; empty
// if nobody asked, or there was none.
func batchesText(rows []runRow, width int) string {
	t := table{width: width, columns: []column{
		{name: "policy"},
		{name: "window", right: true},
		{name: "step", right: true},
		{name: "by"},
		{name: "removed", right: true},
		{name: "rewritten", right: true},
		{name: "pays after", right: true, spare: 1},
		{name: "served", right: true},
		{name: "expected", right: true, spare: 2},
		{name: "cost", right: true},
		{name: "saved", right: true},
	}}
	w := &writer{width: width, st: newStyles()}
	for _, r := range rows {
		for _, b := range r.run.Batches {
			expected := ""
			if b.Expected != nil {
				expected = strconv.Itoa(b.Expected.Calls)
			}
			t.rows = append(t.rows, plain(safe(r.run.Policy), safe(r.run.Window), strconv.Itoa(b.Step), safe(strings.Join(b.Rules, ", ")),
				edit.Thousands(b.Removed), edit.Thousands(b.Rewritten), positive(b.BreakEven), strconv.Itoa(b.Calls), expected,
				moneyText(b.CostUSD), moneyText(b.SavedUSD)))
		}
		if n := len(r.run.Batches); n > 0 {
			w.para(w.st.plain, fmt.Sprintf("%s at %s: %s", safe(r.run.Policy), safe(r.run.Window), batchesSum(r.run.Batches)))
		}
	}
	if len(t.rows) == 0 {
		return ""
	}
	return "\n" + t.String() + w.b.String()
}

// batchesSum says what batches came to.
func batchesSum(batches []replay.Batch) string {
	cost, saved, rewritten := catalog.Dollars(0), catalog.Dollars(0), 0
	for _, b := range batches {
		cost, saved, rewritten = cost.Add(b.CostUSD), saved.Add(b.SavedUSD), rewritten+b.Rewritten
	}
	text := fmt.Sprintf("%s of our own, %s tokens written once more", plural(len(batches), "cache break"), edit.Thousands(rewritten))
	if !cost.Known || !saved.Known {
		return text
	}
	return fmt.Sprintf("%s for %s; %s saved by not reading what left", text, cost, saved)
}

func moneyText(m catalog.Money) string {
	if !m.Known {
		return ""
	}
	return m.String()
}
