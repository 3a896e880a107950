package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An economist reckons what edits cost and save, by the prices of the preferred target and
// a model of its cache.
type economist struct {
	measures
	cold     bool           // of the request that is on its way to its Ready: its provider keeps nothing of the one before
	patient  bool           // the rule at work waits until its edit pays
	waiting  bool           // and what it has planned does not yet
	reckoned *journal.Worth // of the plan that is being adopted, until its first edit has it
}

// pays reckons what a plan is worth, if the policy does, and reports whether it is made now:
// its rule does not wait, or it pays.
func (m *economist) pays(p edit.Plan) bool {
	if m.policy.Economy.Horizon == 0 || len(p.Edits) == 0 {
		return true
	}
	w, ok := m.worthOf(m.change(p))
	if !ok {
		return true // nobody knows a price
	}
	if m.waiting = m.patient && w.Gain <= 0; m.waiting {
		return false
	}
	m.reckoned = &w
	return true
}

// change returns a plan as a cache sees it. What the last request did not hold is not
// cached, so that it costs nothing to write it in another form.
func (m *economist) change(p edit.Plan) cache.Change {
	first := llm.MessageID(len(m.messages)) + 1
	for _, e := range p.Edits {
		first = min(first, e.Span.From)
		if len(e.Sections) > 0 { // the system prompt stands before all messages
			first = 0
		}
	}
	at := len(m.view.Items)
	for at > 0 && m.view.Items[at-1].Before >= first {
		at--
	}
	behind := 0
	for _, it := range m.view.Items[m.rewritten(at):] {
		if int(it.Before) <= m.sent.end {
			behind += m.gauge.Message(it.Message)
		}
	}
	return m.changing(p.Gain(), behind)
}

// rewritten returns the item of the view from which on everything is written once more where
// item i changes. That is item i, but for a provider that reads its cache only where a mark of an
// earlier request is near, and lets go of marks that nobody uses: where much stands behind the
// change it reads what is before all messages, which every request marks anew, and hardly ever more.
func (m *economist) rewritten(i int) int {
	if m.cfg.Exactly != "" {
		return i
	}
	rule, ok := m.cfg.Catalog.CacheRuleOf(m.resolved[0].Model)
	if ok && rule.Marked && len(m.view.Items)-i > rule.LookBack {
		return 0
	}
	return i
}

// changing returns a change by what it takes out and how many cached tokens stand from
// its beginning on.
func (m *economist) changing(removed, cached int) cache.Change {
	ch := cache.Change{Removed: removed, Suffix: max(cached-removed, 0), Requests: m.further(), Warm: 1000}
	if m.nothingCached() {
		ch.Warm = 0
	}
	return ch
}

// nothingCached reports whether a provider keeps nothing of the last request, as far as anybody
// knows: of the one that is being made, or of the next one, for what is edited between two.
func (m *economist) nothingCached() bool { return m.cold || m.anew || m.elsewhere() }

// worthOf reckons a change; false where no price is known.
func (m *economist) worthOf(ch cache.Change) (journal.Worth, bool) {
	p := m.prices()
	gain, ok := ch.Gain(p)
	if !ok || p.Input <= 0 {
		return journal.Worth{}, false
	}
	return journal.Worth{
		Removed: ch.Removed, Suffix: ch.Suffix, Requests: ch.Requests, Warm: ch.Warm, Gain: int(gain / int64(p.Input)),
	}, true
}

// prices returns what the preferred target asks for tokens, or, where it is not known or
// is not what counts, the policy's own proportions.
func (m *economist) prices() catalog.Prices {
	if m.cfg.Exactly == "" {
		model, _ := m.cfg.Catalog.Lookup(m.resolved[0].Model)
		if p, ok := model.PricesAt(m.Count().Point); ok && p.Input > 0 && p.CacheRead >= 0 && p.CacheWrite5m >= 0 {
			return p
		}
	}
	e := m.policy.Economy
	if e.Write == 0 || e.Read == 0 {
		return catalog.UnknownPrices()
	}
	const input = 1000 // permille
	p := catalog.UnknownPrices()
	p.Input, p.CacheRead, p.CacheWrite5m = input, catalog.Price(e.Read), catalog.Price(e.Write)
	return p
}

// further returns how many calls an edit is expected to serve, the next one included: as
// many as there were, for what has gone on for long goes on for as long again, but no more
// than the policy reckons with, and none beyond the one for which the window forces an edit
// anyway.
func (m *economist) further() int {
	return max(min(m.replies, m.policy.Economy.Horizon, m.untilFull()), 1)
}

// untilFull returns how many more Steps like those of late have room.
func (m *economist) untilFull() int {
	return max(m.window().Limit()-m.Count().Point, 0) / max(m.growth(), 1)
}

// restFits reports whether the rest of the session is expected to have room: what it takes out
// early is then not going to be taken out anyway.
func (m *economist) restFits() bool { return m.replies <= m.untilFull() }

// growthSteps is over how many of the last Steps growth is taken: as many as a Turn often
// has, few enough that the cost of looking does not grow with the session.
const growthSteps = 20

// growth returns how many tokens a Step of late has added to the view.
func (m *economist) growth() int {
	tokens, steps := 0, 0
	for i := len(m.view.Items) - 1; i >= 0 && steps < growthSteps; i-- {
		it := m.view.Items[i]
		tokens += m.gauge.Message(it.Message)
		if isReply(it.Message) {
			steps++
		}
	}
	return tokens / max(steps, 1)
}
