package inspect_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// What a file states was paid to the model that it names, not to the one that a reader asks about.
func TestStatedCostOfAnotherModel(t *testing.T) {
	l := newLog()
	l.human("Count the ships.")
	l.reply(cached(0, 10_000), text("There are four."))
	l.seg.Entries[1].Step.Cost = 5 * million
	o := withShip(t)
	if got := l.report(t, o).Totals.CostUSD; got != catalog.Dollars(5*million) {
		t.Errorf("want what the file states, got %s", got)
	}
	o.Model = drops
	if got := l.report(t, o).Totals.CostUSD; got != catalog.Dollars(40_200*million) {
		t.Errorf("want 10,000 tokens written and 20 of output by the other model's prices, got %s", got)
	}
}

// A Step that was not charged by list prices has no cost unless the file states it.
func TestOtherThanListPrices(t *testing.T) {
	l := newLog()
	for range 3 {
		l.human("Count the ships.")
		l.reply(cached(0, 10_000), text("There are four."))
	}
	steps := l.seg.Entries
	steps[3].Step.Unpriced = "a speed other than the standard one"
	steps[5].Step.Unpriced, steps[5].Step.Cost = steps[3].Step.Unpriced, 5*million
	r := l.report(t, withShip(t))
	first, second, third := r.Segments[0].Steps[0], r.Segments[0].Steps[1], r.Segments[0].Steps[2]
	if !first.CostUSD.Known || second.CostUSD.Known || third.CostUSD != catalog.Dollars(5*million) {
		t.Errorf("want a cost, none, and the stated one, got %s, %s, %s", first.CostUSD, second.CostUSD, third.CostUSD)
	}
	if r.Totals.CostUSD.Known || r.Totals.CostSteps != 2 {
		t.Errorf("totals: want two steps with a cost and no sum, got %+v", r.Totals)
	}
}
