package plimsoll

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A BillBatch is a batch of edits on a bill. Its Rewritten is by what the provider reported of two
// calls: 0 where it read nothing at all, as what it kept had lapsed, or where it reports no cache.
type BillBatch struct {
	journal.Batch
	Call   int    // that it was sent with first, from 1, of those of Bill.Lines
	Target string // of that call: provider/model
}

// A batcher finds the batches in the records of a session.
type batcher struct {
	found    journal.Batches
	messages llm.MessageID  // so far
	calls    int            // so far
	cached   map[string]int // tokens that the last call to each target left in its provider's cache
	sent     []BillBatch    // without what is found
}

// note looks at the next record.
func (b *batcher) note(rec journal.Record, prices func(model string, prompt int) (catalog.Prices, bool)) {
	switch {
	case rec.Kind == journal.KindMessage:
		b.messages = rec.Message.ID
	case rec.Kind == journal.KindEdit:
		b.found.Edited(rec.Edit, rec.Worth)
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

func (b *batcher) called(target string, u llm.Usage, rate cache.Rate) {
	if b.cached == nil {
		b.cached = map[string]int{}
	}
	lost := 0
	if u.CacheRead > 0 {
		lost = b.cached[target] - u.CacheRead
	}
	b.calls++
	if b.found.Called(b.messages, lost, rate) {
		b.sent = append(b.sent, BillBatch{Call: b.calls, Target: target})
	}
	b.cached[target] = keptOf(u)
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
	out := slices.Clone(b.sent)
	for i, one := range b.found.Made() {
		out[i].Batch = one
	}
	return out
}
