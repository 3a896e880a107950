package rows

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Batches are the edits that changed what had been sent before, with what each cost and saved, and
// behind those of a run what they came to. There are none if nobody asked.
func Batches(runs []replay.Run) Table {
	t := Table{By: "window", Columns: []Column{
		{Name: "policy"},
		{Name: "window", Unit: "tokens, or a share of the session's", Numbers: true, Spare: 3},
		{Name: "step", Numbers: true},
		{Name: "by", Keep: Start},
		{Name: "edits", Numbers: true, Page: true},
		{Name: "removed", Unit: "tokens", Numbers: true},
		{Name: "rewritten", Unit: "tokens", Numbers: true},
		{Name: "pays after", Unit: "calls", Numbers: true, Spare: 1},
		{Name: "served", Unit: "calls", Numbers: true},
		{Name: "expected", Unit: "calls", Numbers: true, Spare: 2},
		{Name: "cost", Unit: "dollars", Numbers: true},
		{Name: "saved", Unit: "dollars", Numbers: true},
	}}
	for _, r := range ByWindow(runs) {
		made := 0
		for _, b := range r.Batches {
			made += b.Edits
			even, expected := text("never"), Cell{Kind: Missing}
			if b.BreakEven > 0 {
				even = number(b.BreakEven)
			}
			if b.Expected != nil {
				expected = number(b.Expected.Calls)
			}
			t.add(text(r.Policy), text(Window(r.Window)), number(b.Step), text(strings.Join(b.Rules, ", ")), number(b.Edits), number(b.Removed), number(b.Rewritten),
				even, number(b.Calls), expected, money(b.CostUSD), saved(b.SavedUSD, b.CostUSD))
		}
		if s := r.Batched; s != nil && len(r.Batches) > 1 {
			missing := Cell{Kind: Missing}
			t.add(text(r.Policy), text(Window(r.Window)), text("all"), text("together"), number(made), number(s.Removed), number(s.Rewritten),
				missing, missing, missing, money(s.CostUSD), saved(s.SavedUSD, s.CostUSD))
			t.Rows[len(t.Rows)-1].Sum = true
		}
	}
	return t
}

// saved is bad where it is less than it cost.
func saved(m, cost catalog.Money) Cell {
	c := money(m)
	if m.Known && cost.Known && m.Pico < cost.Pico {
		c.Look = Bad
	}
	return c
}
