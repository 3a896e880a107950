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

	// Summaries are the calls of a [Model] for summaries, one a target, by name. They are in
	// the sums above, and in none of Lines.
	Summaries []BillLine

	// Batches are the edits that changed what had been sent before, in their order, each with
	// what that cost and saved. Their money is a part of the sums above, or was never paid.
	Batches []BillBatch
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
	session   string
	catalog   *catalog.Catalog
	lines     []BillLine
	summaries []BillLine
	batches   batcher
}

func (b *biller) reset() { b.lines, b.summaries, b.batches = nil, nil, batcher{} }

// bill returns what was booked.
func (b *biller) bill() Bill {
	sum := Bill{Cost: catalog.Dollars(0), Lines: slices.Clone(b.lines), Summaries: slices.Clone(b.summaries), Batches: b.batches.batches()}
	for _, lines := range [][]BillLine{sum.Lines, sum.Summaries} {
		slices.SortFunc(lines, func(x, y BillLine) int { return strings.Compare(x.Target, y.Target) })
		for _, l := range lines {
			sum.Calls += l.Calls
			sum.Usage = sum.Usage.Add(l.Usage)
			sum.Cost = sum.Cost.Add(l.Cost)
		}
	}
	return sum
}

// add books a call to a target, and what it cost beyond the request itself.
func (b *biller) add(t budget.Target, u, extra llm.Usage) Answered {
	a := Answered{Target: t, Usage: u.Add(extra), Cost: b.callCost(t.Model, u, extra)}
	b.lines = booked(b.lines, BillLine{Target: t.Name(), Calls: 1, Usage: a.Usage, Cost: a.Cost})
	return a
}

// callCost returns what a call costs by list prices, with what it cost beyond the request itself.
func (b *biller) callCost(model string, u, extra llm.Usage) catalog.Money {
	if extra.IsZero() {
		return b.cost(model, u)
	}
	return b.cost(model, u).Add(b.cost(model, extra))
}

// summarised books the calls for a summary.
func (b *biller) summarised(c journal.Calls) BillLine {
	l := BillLine{Target: c.Target, Calls: c.N, Usage: c.Usage, Cost: b.costs(c.Model, c.Usage, c.N)}
	b.summaries = booked(b.summaries, l)
	return l
}

// booked returns lines with one more.
func booked(lines []BillLine, more BillLine) []BillLine {
	i := slices.IndexFunc(lines, func(l BillLine) bool { return l.Target == more.Target })
	if i < 0 {
		return append(lines, more)
	}
	l := &lines[i]
	l.Calls += more.Calls
	l.Usage = l.Usage.Add(more.Usage)
	l.Cost = l.Cost.Add(more.Cost)
	return lines
}

// cost returns what a call costs by list prices.
func (b *biller) cost(model string, u llm.Usage) catalog.Money { return b.costs(model, u, 1) }

// costs returns what n calls cost together; each has its share of the prompts, by which a
// list may have other prices.
func (b *biller) costs(model string, u llm.Usage, n int) catalog.Money {
	prices, ok := b.prices(model, u.Prompt()/max(n, 1))
	if !ok {
		return catalog.Money{}
	}
	if pico, ok := prices.Cost(u); ok {
		return catalog.Dollars(pico)
	}
	return catalog.Money{}
}

// prices returns the list of a model for a prompt of so many tokens.
func (b *biller) prices(model string, prompt int) (catalog.Prices, bool) {
	m, ok := b.catalog.Lookup(model)
	if !ok {
		return catalog.Prices{}, false
	}
	return m.PricesAt(prompt)
}

// reportedOf returns what the provider said of a call, believed or not.
func reportedOf(u journal.Usage) llm.Usage {
	if !u.Stated.IsZero() {
		return u.Stated
	}
	return u.Usage
}

// note looks for batches in the next record.
func (b *biller) note(rec journal.Record) { b.batches.note(rec, b.prices) }

// remember books a call that is in the journal.
func (b *biller) remember(u journal.Usage) {
	said := reportedOf(u)
	b.lines = booked(b.lines, BillLine{Target: u.Target, Calls: 1, Usage: said.Add(u.Extra), Cost: b.callCost(u.Model, said, u.Extra)})
}

// read books a call of the session's records.
func (b *biller) read(rec journal.Record) {
	switch {
	case rec.Kind == journal.KindFork:
		if rec.Fork.Parent != b.session { // what its parent paid is on the parent's bill
			b.reset()
		}
	case rec.Kind == journal.KindUsage && rec.Usage.Target != "":
		b.remember(rec.Usage)
	case rec.Kind == journal.KindAnswer && rec.Answer.Calls.N > 0:
		b.summarised(rec.Answer.Calls)
	}
	b.note(rec)
}
