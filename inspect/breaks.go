package inspect

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A shortfall below both is not a break: providers round, and move what they keep.
const (
	leastLost   = 1024 // tokens
	leastShared = 50   // permille of what could have been read
)

// breaks compares every reported Step with the one before it.
func (r *reading) breaks() {
	var all []found
	last := map[string]*sent{} // of each conversation
	for n, g := range r.segments {
		prev := last[g.Name]
		if g.Start == sessionfile.StartRoot || g.Start == sessionfile.StartResumed {
			prev = nil
		}
		for i, st := range g.steps {
			if !st.reported() {
				prev = nil
				continue
			}
			cur := r.sent(g, i, prev)
			out := &r.report.Segments[n].Steps[i]
			u := st.info.Usage
			out.Cache = &Cache{Read: u.CacheRead, Written: u.CacheWrite5m + u.CacheWrite1h}
			if prev != nil && !st.copied() {
				b, expected := r.compare(*prev, cur)
				out.Cache.Expected = expected
				if b != nil {
					all = append(all, found{*b, *prev, cur})
				}
			}
			prev = &cur
		}
		last[g.Name] = prev
	}
	r.list(all)
}

// sent returns a Step as the cache sees it.
func (r *reading) sent(g *segment, i int, prev *sent) sent {
	s := sent{g: g, step: g.steps[i], i: i}
	s.rule = g.listed(r.o, cmp.Or(s.info.Model, g.model)).rule
	u := s.info.Usage
	switch {
	case u.CacheWrite1h > 0: // what is kept long stands first
		s.long = u.CacheRead + u.CacheWrite1h
	case prev != nil:
		s.long = min(prev.long, u.CacheRead)
	}
	return s
}

// compare returns the break of a Step, if it is one, and what could be read by now.
func (r *reading) compare(prev, cur sent) (*Break, int) {
	there, expected := readable(prev, cur)
	read := cur.info.Usage.CacheRead
	least := max(leastLost, portion(there, leastShared, 1000))
	if there-read <= least {
		return nil, expected
	}
	b := &Break{
		StepRef: StepRef{cur.g.number, cur.i + 1}, Number: r.report.Segments[cur.g.number-1].Steps[cur.i].Number, Time: cur.sent,
		Read: read, Expected: there, Lost: there - read, Cause: causeOf(prev, cur, expected-read <= least),
	}
	if cur.entry < len(cur.g.Entries) {
		b.Line = cur.g.Entries[cur.entry].Line
	}
	if cur.sent > prev.sent && prev.sent > 0 {
		b.Idle = int((cur.sent - prev.sent) / 1000)
	}
	b.CostUSD = r.priceOf(cur, b.Lost)
	return b, expected
}

// readable asks the model of the cache what a request reads that begins with the one
// before, in any time and in the time that went by.
func readable(prev, cur sent) (ever, now int) {
	kept, prompt := prev.kept(), cur.tokens
	var blocks []cache.Block
	block := func(name byte, tokens int, m cache.Mark) {
		prefix := llm.Digest{name}
		if tokens > 0 && (len(blocks) == 0 || tokens > blocks[len(blocks)-1].Tokens) {
			blocks = append(blocks, cache.Block{Prefix: prefix, Tokens: tokens, Mark: m})
		}
	}
	block('l', min(prev.long, kept), cache.Long)
	block('k', kept, cache.Short)
	first := cache.Request{Blocks: slices.Clone(blocks)}
	block('n', max(prompt, kept+1), cache.NoMark)
	second := cache.Request{Blocks: blocks}
	ask := func(a, b int64) int {
		c := cache.New(prev.rule, cache.Options{})
		first.At, second.At = a, b
		c.Send(first)
		return min(c.Send(second).CacheRead, prompt)
	}
	ever, now = ask(0, 0), 0
	if prev.info.Model == cur.info.Model {
		now = ask(prev.sent, max(cur.sent, prev.sent))
	}
	return ever, now
}

// causeOf names what the file shows of a break. explained says that the time that
// went by is enough.
func causeOf(prev, cur sent, explained bool) string {
	switch {
	case prev.info.Model != cur.info.Model:
		return CauseModel
	case prev.g != cur.g:
		switch cur.g.Start {
		case sessionfile.StartCompaction:
			return CauseCompacted
		case sessionfile.StartMicrocompaction:
			return CauseCleared
		case sessionfile.StartRollback:
			return CauseRolledBack
		}
		return CauseRewritten
	case explained:
		return CauseLapsed
	case cur.gone > 0:
		return CauseThinking
	case cur.info.Usage.CacheRead < cur.g.hidden.Tokens && lapsed(prev, cur):
		return CauseLapsed
	case cur.info.Usage.CacheRead < cur.g.hidden.Tokens:
		return CauseHidden
	}
	return CauseUnknown
}

// longPause is from when on a cache may be empty whatever its rule says: no provider keeps
// everything for longer, and a stated lifetime is the most that it keeps something for.
const longPause = 300_000 // milliseconds

// lapsed reports whether a pause explains that not even what stands before the
// conversation was read: nothing at all was, or the provider promises nothing.
func lapsed(prev, cur sent) bool {
	long := prev.sent > 0 && cur.sent-prev.sent >= longPause
	return long && (cur.info.Usage.CacheRead == 0 || !cur.rule.Marked)
}

// priceOf returns what it costs to send tokens that could have been read.
func (r *reading) priceOf(s sent, tokens int) catalog.Money {
	prices, ok := r.pricesOf(s.g, s.step)
	if !ok {
		return catalog.Money{}
	}
	u := llm.Usage{Input: tokens}
	switch got := s.info.Usage; {
	case got.CacheWrite1h > 0 && got.CacheWrite5m == 0:
		u = llm.Usage{CacheWrite1h: tokens}
	case got.CacheWrite5m > 0:
		u = llm.Usage{CacheWrite5m: tokens}
	}
	full, ok := prices.Cost(u)
	read, known := prices.Cost(llm.Usage{CacheRead: tokens})
	if !ok || !known {
		return catalog.Money{}
	}
	return catalog.Dollars(max(full-read, 0))
}

// cause books a break by its cause.
func (r *reading) cause(f found) {
	b := f.Break
	i := slices.IndexFunc(r.report.Causes, func(c CauseSum) bool { return c.Cause == b.Cause })
	if i < 0 {
		i, r.report.Causes = len(r.report.Causes), append(r.report.Causes, CauseSum{Cause: b.Cause, CostUSD: catalog.Dollars(0)})
		if rule := f.cur.rule; rule.Marked && len(rule.Lifetimes) > 0 {
			r.report.Causes[i].Kept = rule.Lifetimes[0]
		}
	}
	c := &r.report.Causes[i]
	c.Breaks, c.Lost, c.CostUSD = c.Breaks+1, c.Lost+b.Lost, c.CostUSD.Add(b.CostUSD)
}

// list writes the most expensive breaks in the order of Steps, with their places.
func (r *reading) list(all []found) {
	t := &r.report.Totals
	t.CacheBreaks = len(all)
	for _, f := range all {
		t.CacheLost += f.Lost
		r.cause(f)
	}
	slices.SortStableFunc(r.report.Causes, func(a, b CauseSum) int { return cmp.Compare(b.Lost, a.Lost) })
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.Lost, a.Lost) })
	all = all[:min(len(all), r.o.top())]
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range all {
		f.At = r.placeOf(f)
		r.report.CacheBreaks = append(r.report.CacheBreaks, f.Break)
	}
}
