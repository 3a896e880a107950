package journal

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Batch is the edits before one call that changed what had been sent before: a break of the
// provider's cache that is our own. What a provider lets go of by itself is none. All sizes are
// in tokens.
type Batch struct {
	Rules     []string // that made the edits
	Edits     int
	Removed   int // that left the prompt, by the count
	Rewritten int // those behind them that were still cached, and were written once more
	Calls     int // that it served: to the next batch, which would have taken out the same, or so far
	BreakEven int // calls after which it has paid; 0: never, or no price is known
	// What was paid for writing once more, and what was not paid for reading what left, in the
	// calls that it served. Not known where a price is not.
	Cost, Saved catalog.Money
	Expected    *Worth // what the policy reckoned beforehand; nil: it does not reckon
}

// Batches finds the batches of a session from its edits and calls, in their order. The zero
// Batches has seen none.
type Batches struct {
	end  llm.MessageID // the newest message when the call before was made
	next Batch         // is sent with the next call
	made []Batch
}

// Edited adds an edit to the batch of the next call, if it changes what was sent before. w is
// what the edits made with it are worth, or nil.
func (b *Batches) Edited(e edit.Edit, w *Worth) {
	if e.Op == edit.Insert || e.Op == edit.Undo || e.Span.From > b.end {
		return
	}
	n := &b.next
	n.Edits++
	n.Removed += e.Before - e.After
	if !slices.Contains(n.Rules, e.Rule) {
		n.Rules = append(n.Rules, e.Rule)
	}
	if n.Expected == nil {
		n.Expected = w
	}
}

// Called books the next call, which had the messages up to newest: the batch that it was sent
// with, if there is one, and what it does not read since the newest one. lost are the tokens
// that it did not read although the call before had left them in the provider's cache, what a
// batch removed among them. It reports whether a batch was sent with it.
func (b *Batches) Called(newest llm.MessageID, lost int, rate cache.Rate) (made bool) {
	if n := b.next; n.Edits > 0 {
		made, n.Saved = true, catalog.Dollars(0)
		n.Rewritten = max(lost-max(n.Removed, 0), 0)
		n.BreakEven, n.Cost = rate.BreakEven(n.Removed, n.Rewritten), rate.Rewriting(n.Rewritten)
		b.made = append(b.made, n)
	}
	if last := len(b.made) - 1; last >= 0 {
		b.made[last].Calls++
		b.made[last].Saved = b.made[last].Saved.Add(rate.Reading(b.made[last].Removed))
	}
	b.next, b.end = Batch{}, newest
	return made
}

// Made returns a copy of those that were sent so far.
func (b *Batches) Made() []Batch {
	out := slices.Clone(b.made)
	for i := range out {
		out[i].Rules = slices.Clone(out[i].Rules)
	}
	return out
}
