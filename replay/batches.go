package replay

import (
	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Batch is a [journal.Batch], of one Step of a run.
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
	found  journal.Batches
	worths map[edit.ID]*journal.Worth // what the journal says of edits
	edits  int                        // of the journal that were looked at
	steps  []int                      // with which batches were sent
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
	for _, e := range made[min(b.edits, len(made)):] {
		b.found.Edited(e, b.worths[e.ID])
	}
	b.edits = len(made)
	if b.found.Called(llm.MessageID(len(u.sess.Machine().Messages())), use.Lost, u.rate(model, use.Prompt())) {
		b.steps = append(b.steps, i+1)
	}
}

// batches returns what was found.
func (b *batcher) batches() []Batch {
	var out []Batch
	for i, one := range b.found.Made() {
		row := Batch{
			Step: b.steps[i], Rules: one.Rules, Edits: one.Edits, Removed: one.Removed, Rewritten: one.Rewritten,
			Calls: one.Calls, BreakEven: one.BreakEven, CostUSD: one.Cost, SavedUSD: one.Saved,
		}
		if w := one.Expected; w != nil {
			row.Expected = &Expected{Calls: w.Requests, Gain: w.Gain}
		}
		out = append(out, row)
	}
	return out
}

// rate returns what a model asks for tokens of its cache in a prompt of that size.
func (u *runner) rate(model *priced, prompt int) cache.Rate {
	p, ok := model.model.PricesAt(prompt)
	if !model.known || !ok {
		return cache.Rate{}
	}
	return cache.RateOf(p, u.raw.long)
}

// A BatchSum is what the batches of a run came to. Sums with something unknown are unknown.
type BatchSum struct {
	Batches   int           `json:"batches"`
	Removed   int           `json:"removed"`
	Rewritten int           `json:"rewritten"`
	CostUSD   catalog.Money `json:"cost_usd"`
	SavedUSD  catalog.Money `json:"saved_usd"`
}

// batched adds up batches.
func batched(batches []Batch) *BatchSum {
	s := &BatchSum{Batches: len(batches), CostUSD: catalog.Dollars(0), SavedUSD: catalog.Dollars(0)}
	for _, b := range batches {
		s.Removed += b.Removed
		s.Rewritten += b.Rewritten
		s.CostUSD, s.SavedUSD = s.CostUSD.Add(b.CostUSD), s.SavedUSD.Add(b.SavedUSD)
	}
	return s
}

// What a look-up takes of the model's output, in tokens, about: a call with its arguments.
const lookUpWritten = 60

// lookUps books what it would cost to read again what the request of a Step does not show and
// its calls refer to: one more call each.
func (u *runner) lookUps(model *priced, prompt int) {
	g := u.judge.ground
	if g == nil {
		return
	}
	output := catalog.Money{}
	if p, ok := model.model.PricesAt(prompt); ok && model.known {
		output = catalog.Money{Pico: int64(p.Output) * lookUpWritten, Known: p.Output >= 0}
	}
	r := u.rate(model, prompt)
	for _, tokens := range g.fetched {
		u.bill.bill.LookUpsUSD = u.bill.bill.LookUpsUSD.Add(r.Reading(prompt)).Add(r.Writing(tokens + lookUpCall)).Add(output)
	}
	g.fetched = g.fetched[:0]
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
