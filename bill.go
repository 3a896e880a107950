package plimsoll

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Bill is what the calls of a session used, as the providers reported it, and what
// that costs by list prices. It covers the time before a restart too. The bill of a fork
// begins with the fork.
type Bill struct {
	Calls int
	Usage llm.Usage     // in tokens, in disjoint parts
	Cost  catalog.Money // not known if a price is not
	Lines []BillLine    // one a target, by name
}

// A BillLine is the calls to one target.
type BillLine struct {
	Target string // provider/model
	Calls  int
	Usage  llm.Usage
	Cost   catalog.Money
}

// A biller adds up calls.
type biller struct {
	catalog *catalog.Catalog
	lines   []BillLine
}

func (b *biller) reset() { b.lines = nil }

// bill returns what was booked.
func (b *biller) bill() Bill {
	sum := Bill{Cost: catalog.Dollars(0), Lines: slices.Clone(b.lines)}
	slices.SortFunc(sum.Lines, func(x, y BillLine) int { return strings.Compare(x.Target, y.Target) })
	for _, l := range sum.Lines {
		sum.Calls += l.Calls
		sum.Usage = sum.Usage.Add(l.Usage)
		sum.Cost = sum.Cost.Add(l.Cost)
	}
	return sum
}

// add books a call to a target.
func (b *biller) add(t budget.Target, u llm.Usage) Answered {
	cost := b.cost(t.Model, u)
	b.book(t.Name(), u, cost)
	return Answered{Target: t, Usage: u, Cost: cost}
}

func (b *biller) book(target string, u llm.Usage, cost catalog.Money) {
	i := slices.IndexFunc(b.lines, func(l BillLine) bool { return l.Target == target })
	if i < 0 {
		i = len(b.lines)
		b.lines = append(b.lines, BillLine{Target: target, Cost: catalog.Dollars(0)})
	}
	l := &b.lines[i]
	l.Calls++
	l.Usage = l.Usage.Add(u)
	l.Cost = l.Cost.Add(cost)
}

// cost returns what a call costs by list prices.
func (b *biller) cost(model string, u llm.Usage) catalog.Money {
	m, ok := b.catalog.Lookup(model)
	if !ok {
		return catalog.Money{}
	}
	prices, ok := m.PricesAt(u.Prompt())
	if !ok {
		return catalog.Money{}
	}
	if pico, ok := prices.Cost(u); ok {
		return catalog.Dollars(pico)
	}
	return catalog.Money{}
}

// remember books a call that is in the journal.
func (b *biller) remember(u journal.Usage) {
	said := u.Usage
	if !u.Stated.IsZero() {
		said = u.Stated
	}
	b.book(u.Target, said, b.cost(u.Model, said))
}

// read books a call of the session's records.
func (b *biller) read(rec journal.Record) {
	switch {
	case rec.Kind == journal.KindFork: // what its parent paid is on the parent's bill
		b.reset()
	case rec.Kind == journal.KindUsage && rec.Usage.Target != "":
		b.remember(rec.Usage)
	}
}
