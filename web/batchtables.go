package web

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batches lists the edits that changed what had been sent before, with what each cost and saved,
// and below them what those of a run came to.
func (b *replayPage) batches(res replay.Result) table {
	t := table{
		Title: "What each batch cost and saved",
		Note: "A batch is the edits of one Step that broke the provider's cache. “Rewritten” are tokens behind what left that were still cached and were written once more; " +
			"“served” are the calls to the next batch or the end, “expected” those that the policy reckoned with. By list prices; what the provider let go of by itself costs nothing here.",
		Head: slices.Concat(words("Policy"), numbers("Step"), words("By"), numbers("Edits", "Removed", "Rewritten", "Pays after", "Served", "Expected", "Cost", "Saved")),
	}
	n := 0
	for _, window := range b.windows {
		one := body{Name: "Window " + windowName(window)}
		for _, run := range res.Runs {
			if run.Window == window {
				one.Rows = append(one.Rows, batchRows(run, &n)...)
			}
		}
		if len(one.Rows) > 0 {
			t.Bodies = append(t.Bodies, one)
		}
	}
	if n > maxRows {
		t.Note += " The first " + count(maxRows) + " of " + count(n) + " are listed; the sums are of all."
	}
	return t
}

// batchRows are the batches of a run, of all the page's the first ones, and their sum. n counts
// them.
func batchRows(run replay.Run, n *int) [][]cell {
	if run.Batched == nil || len(run.Batches) == 0 {
		return nil
	}
	var rows [][]cell
	edits := 0
	for _, x := range run.Batches {
		edits += x.Edits
		if *n++; *n > maxRows {
			continue
		}
		even, expected := cell{Text: "never"}, cell{Text: "–"}
		if x.BreakEven > 0 {
			even = number(x.BreakEven)
		}
		if x.Expected != nil {
			expected = number(x.Expected.Calls)
		}
		rows = append(rows, []cell{
			text(run.Policy), number(x.Step),
			{Text: clean(strings.Join(x.Rules, ", "))},
			number(x.Edits), number(x.Removed), number(x.Rewritten),
			even, number(x.Calls), expected,
			{Text: x.CostUSD.String()},
			saving(x.SavedUSD, x.CostUSD),
		})
	}
	s := run.Batched
	return append(rows, []cell{
		text(run.Policy),
		{Text: "all"},
		{Text: "together"},
		number(edits), number(s.Removed), number(s.Rewritten),
		{Text: "–"},
		{Text: "–"},
		{Text: "–"},
		{Text: s.CostUSD.String()},
		saving(s.SavedUSD, s.CostUSD),
	})
}

// saving marks what is saved where it is less than it cost.
func saving(saved, cost catalog.Money) cell {
	c := cell{Text: saved.String()}
	if saved.Known && cost.Known && saved.Pico < cost.Pico {
		c.Mark = "bad"
	}
	return c
}
