package replay

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Batch is the edits of one Step that changed what had been sent before: a break of the
// provider's cache that is our own. What a provider lets go of by itself is none.
type Batch struct {
	Step      int      `json:"step"`
	Rules     []string `json:"rules"`
	Edits     int      `json:"edits"`
	Removed   int      `json:"removed"`    // tokens that left the prompt
	Rewritten int      `json:"rewritten"`  // tokens behind them that were still cached, and were written once more
	Calls     int      `json:"calls"`      // that it served: to the next batch, which would have taken out the same, or to the end
	BreakEven int      `json:"break_even"` // calls after which it had paid; 0: never, or no price is known
	// What was paid for writing once more, and what was not paid for reading what left, in
	// the calls that it served. Null where a price is not known.
	CostUSD  catalog.Money `json:"cost_usd"`
	SavedUSD catalog.Money `json:"saved_usd"`
	// What the policy reckoned beforehand, if it reckons.
	Expected *Expected `json:"expected,omitempty"`
}

// Expected is what a policy reckoned when it made a batch.
type Expected struct {
	Calls int `json:"calls"` // to come that it would serve, the next one included
	Gain  int `json:"gain"`  // tokens at the price of the input that it would save beyond what it costs; below 0 where it had to be
}

// A batcher finds the batches of one run.
type batcher struct {
	worths map[edit.ID]*journal.Worth // what the journal says of them
	edits  int                        // of the journal that were looked at
	end    llm.MessageID              // the newest message when the request before left
	price  rate                       // of the batch that is open
}

// A rate is what a token that is read, and one that is written, costs.
type rate struct {
	read, write catalog.Money
}

// batcher returns one that has found none; nil if nobody asked.
func (r *Replayer) batcher() *batcher {
	if !r.opts.Batches {
		return nil
	}
	return &batcher{worths: map[edit.ID]*journal.Worth{}}
}

// heard notes what the records of a Ready say that edits are worth.
func (b *batcher) heard(r engine.Ready) {
	if b == nil {
		return
	}
	for _, rec := range r.Records {
		if rec.Worth != nil {
			b.worths[rec.Edit.ID] = rec.Worth
		}
	}
}

// batch books the batch that the request of Step i brought, if it did, and one more call
// for the newest one.
func (u *runner) batch(i int, use cache.Use, model *priced) {
	b, made := u.batches, u.sess.Machine().Journal()
	if b == nil {
		return
	}
	next := Batch{Step: i + 1, CostUSD: catalog.Dollars(0), SavedUSD: catalog.Dollars(0)}
	for _, e := range made[min(b.edits, len(made)):] {
		if e.Op == edit.Insert || e.Op == edit.Undo || e.Span.From > b.end {
			continue
		}
		next.add(e)
		if w := b.worths[e.ID]; w != nil && next.Expected == nil {
			next.Expected = &Expected{Calls: w.Requests, Gain: w.Gain}
		}
	}
	b.edits, b.end = len(made), llm.MessageID(len(u.sess.Machine().Messages()))
	if next.Edits > 0 {
		next.Rewritten = max(use.Lost-next.Removed, 0)
		b.price = u.rate(model, use.Prompt())
		next.BreakEven = b.price.breakEven(next)
		next.CostUSD = times(b.price.write.Sub(b.price.read), next.Rewritten)
		u.run.Batches = append(u.run.Batches, next)
	}
	if n := len(u.run.Batches); n > 0 {
		last := &u.run.Batches[n-1]
		last.Calls++
		last.SavedUSD = last.SavedUSD.Add(times(b.price.read, last.Removed))
	}
}

func (b *Batch) add(e edit.Edit) {
	b.Edits++
	b.Removed += e.Before - e.After
	if !slices.Contains(b.Rules, e.Rule) {
		b.Rules = append(b.Rules, e.Rule)
	}
}

// rate returns what a model asks for tokens of its cache in a prompt of that size.
func (u *runner) rate(model *priced, prompt int) rate {
	p, ok := model.model.PricesAt(prompt)
	if !model.known || !ok {
		return rate{}
	}
	write := p.CacheWrite5m
	if u.raw.long {
		write = p.CacheWrite1h
	}
	return rate{moneyOf(p.CacheRead), moneyOf(write)}
}

func moneyOf(p catalog.Price) catalog.Money {
	return catalog.Money{Pico: max(int64(p), 0), Known: p >= 0}
}

func times(m catalog.Money, n int) catalog.Money {
	m.Pico *= int64(n)
	return m
}

// breakEven returns after how many calls a batch has paid; 0 if it never has, or if no price
// is known.
func (r rate) breakEven(b Batch) int {
	if !r.read.Known || !r.write.Known {
		return 0
	}
	n, _ := cache.BreakEven(catalog.Prices{CacheRead: catalog.Price(r.read.Pico), CacheWrite5m: catalog.Price(r.write.Pico)}, b.Removed, b.Rewritten, false)
	return n
}

// A clock says when a provider has let go of what it kept.
type clock struct {
	lifetime int64 // milliseconds; 0: it promises none
	last     int64 // when the call before was made; 0: nobody knows
	off      bool  // nothing is ever kept
}

// clock returns the clock of a segment. Where messages alone are looked at there is none.
func (r *Replayer) clock(raw *raw) clock {
	if raw.exactly != "" {
		return clock{}
	}
	_, seconds := r.caching(raw)
	return clock{lifetime: int64(seconds) * 1000, off: !raw.caches}
}

// cold reports whether a call at that time finds nothing of the one before.
func (c *clock) cold(at int64) bool {
	was := c.last
	c.last = at
	return c.off || c.lifetime > 0 && at > 0 && was > 0 && at-was >= c.lifetime
}
