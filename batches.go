package plimsoll

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A BillBatch is the edits before one call that changed what had been sent before: a break of
// the provider's cache that is our own. What a provider lets go of by itself is none. All sizes
// are in tokens.
type BillBatch struct {
	Call    int      // that it was sent with first, from 1, of those of Bill.Lines
	Target  string   // of that call: provider/model
	Rules   []string // that made the edits
	Edits   int
	Removed int // that left the prompt, by the count
	// Rewritten are those behind them that the call before had left in the provider's cache and
	// that were written once more: what this call did not read, by what the provider reported of
	// both. 0 where it read nothing at all, as what it kept had lapsed, or where it reports no cache.
	Rewritten int
	Calls     int // that it served: to the next batch, which would have taken out the same, or so far
	BreakEven int // calls after which it has paid; 0: never, or no price is known
	// What was paid for writing once more, and what was not paid for reading what left, in the
	// calls that it served. Not known where a price is not.
	Cost, Saved catalog.Money
	Expected    journal.Worth // what the policy reckoned beforehand; zero: it does not reckon
}

// A batcher finds the batches in the records of a session.
type batcher struct {
	messages llm.MessageID  // so far
	end      llm.MessageID  // the newest one when the call before was made
	calls    int            // so far
	cached   map[string]int // tokens that the last call to each target left in its provider's cache
	next     BillBatch      // is sent with the next call
	made     []BillBatch
}

// note looks at the next record.
func (b *batcher) note(rec journal.Record, prices func(model string, prompt int) (catalog.Prices, bool)) {
	switch {
	case rec.Kind == journal.KindMessage:
		b.messages = rec.Message.ID
	case rec.Kind == journal.KindEdit:
		b.edited(rec.Edit, rec.Worth)
	case rec.Kind == journal.KindUsage && rec.Usage.Target != "":
		said := reportedOf(rec.Usage)
		p, ok := prices(rec.Usage.Model, said.Prompt())
		rate := cache.Rate{}
		if ok {
			rate = cache.RateOf(p, said.CacheWrite1h > said.CacheWrite5m)
		}
		b.called(rec.Usage.Target, said, rate)
	}
}

// edited adds an edit to the batch of the next call, if it changes what was sent before.
func (b *batcher) edited(e edit.Edit, w *journal.Worth) {
	if e.Op == edit.Insert || e.Op == edit.Undo || e.Span.From > b.end {
		return
	}
	n := &b.next
	n.Edits++
	n.Removed += e.Before - e.After
	if !slices.Contains(n.Rules, e.Rule) {
		n.Rules = append(n.Rules, e.Rule)
	}
	if w != nil && n.Expected == (journal.Worth{}) {
		n.Expected = *w
	}
}

// called books a call: the batch that it was sent with, if there is one, and what it does not
// read since the newest one.
func (b *batcher) called(target string, u llm.Usage, rate cache.Rate) {
	if b.cached == nil {
		b.cached = map[string]int{}
	}
	b.calls++
	if n := b.next; n.Edits > 0 {
		n.Call, n.Target, n.Saved = b.calls, target, catalog.Dollars(0)
		if u.CacheRead > 0 {
			n.Rewritten = max(b.cached[target]-u.CacheRead-max(n.Removed, 0), 0)
		}
		n.BreakEven, n.Cost = rate.BreakEven(n.Removed, n.Rewritten), rate.Rewriting(n.Rewritten)
		b.made = append(b.made, n)
	}
	if last := len(b.made) - 1; last >= 0 {
		b.made[last].Calls++
		b.made[last].Saved = b.made[last].Saved.Add(rate.Reading(b.made[last].Removed))
	}
	b.next, b.end, b.cached[target] = BillBatch{}, b.messages, keptOf(u)
}

// keptOf returns how many tokens of a prompt a provider keeps: those that it read and wrote, or
// all, where it reports only what it read; 0 if it reports no cache.
func keptOf(u llm.Usage) int {
	switch written := u.CacheWrite5m + u.CacheWrite1h; {
	case written > 0:
		return u.CacheRead + written
	case u.CacheRead > 0:
		return u.Prompt()
	}
	return 0
}

// batches returns a copy of what was found.
func (b *batcher) batches() []BillBatch {
	out := slices.Clone(b.made)
	for i := range out {
		out[i].Rules = slices.Clone(out[i].Rules)
	}
	return out
}
