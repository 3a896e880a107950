package inspect

import (
	"encoding/binary"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// cachingOf looks at what was reported of a segment. A client of which nothing was
// reported is taken to use the cache.
func cachingOf(entries []sessionfile.Entry) caching {
	reported, used := false, false
	var short, long uint64 // tokens written
	for _, e := range entries {
		if e.Step == nil || !e.Step.Reported && !e.Step.ClientCount {
			continue
		}
		u := e.Step.Usage
		reported = true
		used = used || u.CacheRead+u.CacheWrite5m+u.CacheWrite1h > 0
		short, long = short+uint64(max(u.CacheWrite5m, 0)), long+uint64(max(u.CacheWrite1h, 0))
	}
	return caching{used: used || !reported, long: long > 0 && long >= short}
}

// A simulation follows the prompts of a segment through the caches of their models.
type simulation struct {
	g      *segment
	o      Options
	prompt cache.Prompt
	kept   int // blocks of the request before
	caches map[string]*cache.Cache
}

// bill says what each Step was charged for. The prompts go through package cache only if
// that is asked for: what it says matters where some prompt was not reported, or where
// another request is to be compared.
func (g *segment) bill(o Options, simulate bool) {
	g.caching = cachingOf(g.Entries)
	var shares []llm.Usage
	if g.shared() {
		shares, g.caching.used = g.shareOf(g.told), g.told.cached()
	}
	sim := &simulation{g: g, o: o, caches: map[string]*cache.Cache{}}
	sim.prompt.Add(llm.Digest{'f'}, g.hidden.all()+g.front.Total(), len(g.Sections)+len(g.hidden.Sections())+len(g.Tools))
	for i := range g.steps {
		s := &g.steps[i]
		if simulate {
			s.charge.Simulated = sim.send(*s)
		}
		s.charge.Simulated.Output = g.outputOf(*s)
		s.charge.Usage = s.charge.Simulated
		if i < len(shares) && !shares[i].IsZero() {
			s.charge.Usage = shares[i]
		}
		g.charge(s, o)
	}
}

// send returns what the prompt of a Step reads from its model's cache and writes there.
func (m *simulation) send(s step) llm.Usage {
	for i := m.prompt.Len() - 1; i < s.entry; i++ {
		var name llm.Digest
		binary.LittleEndian.PutUint64(name[:], uint64(i))
		m.prompt.Add(name, totalOf(m.g.weights[i]).Total(), len(m.g.Entries[i].Message.Parts))
	}
	if !m.g.caching.used {
		return llm.Usage{Input: s.tokens}
	}
	mark := cache.Short
	if m.g.caching.long {
		mark = cache.Long
	}
	req := m.prompt.Request(m.kept, s.tokens, mark)
	req.At, m.kept = s.sent, m.prompt.Len()
	model := m.o.modelOf(s.info.Model, m.g.model)
	c, ok := m.caches[model]
	if !ok {
		c = cache.Of(m.o.Catalog, model)
		m.caches[model] = c
	}
	return c.Send(req).Usage
}

// outputOf returns the tokens of a Step's reply: as reported, else the size of what the
// file has of it.
func (g *segment) outputOf(s step) int {
	n := s.info.Usage.Output
	if !s.info.OutputReported && s.entry < len(g.Entries) {
		n = max(n, totalOf(g.sizes[s.entry]).Total())
	}
	return n
}

// charge books what a Step cost: as the file says, else by the list prices of what was
// reported, else of what is estimated, which is its usage so far. What the file says was paid to the model that was
// asked: it does not hold where Options.Model names another. What another session paid
// is no charge of this one.
func (g *segment) charge(s *step, o Options) {
	c := &s.charge
	c.CostKind = CostEstimated
	if u := s.info.Usage; u.Prompt() > 0 {
		c.Usage = u
		c.Usage.Output = c.Simulated.Output
		if s.info.OutputReported && !s.info.ClientCount && o.Model == "" {
			c.CostKind = CostReported
		}
	}
	switch {
	case s.refused != nil: // nobody is charged for it
		c.CostUSD, c.CostKind, c.Usage = catalog.Dollars(0), CostReported, llm.Usage{}
	case s.copied():
	case s.info.Cost > 0 && o.Model == "":
		c.CostUSD, c.CostKind = catalog.Dollars(s.info.Cost), CostStated
	case s.info.Unpriced == "":
		c.CostUSD = g.price(o, o.modelOf(s.info.Model, g.model), c.Usage)
	}
	if !c.CostUSD.Known {
		c.CostKind = ""
	}
}

// shareOf divides what the file states of all calls, or of each run's or model's, among the Steps: the
// parts of the prompts in proportion to their sizes, the outputs to those of the replies
// unless they are known, and the thinking in them to the outputs, unless these are less. A
// Step of which nothing is stated has none.
func (g *segment) shareOf(t told) []llm.Usage {
	out := make([]llm.Usage, len(g.steps))
	for _, part := range t {
		prompts, outputs, final := make([]int, len(part.steps)), make([]int, len(part.steps)), false
		for i, at := range part.steps {
			s := g.steps[at]
			prompts[i], outputs[i] = s.tokens, g.outputOf(s)
			final = final || s.info.OutputReported
		}
		if !final && part.parts.Output > 0 {
			outputs = spread(part.parts.Output, outputs)
		}
		for i, u := range part.parted(prompts, outputs) {
			out[part.steps[i]] = u
		}
	}
	return out
}

// parted divides the parts among calls with these prompts and outputs.
func (s toldPart) parted(prompts, outputs []int) []llm.Usage {
	reads, all := spread(s.parts.CacheRead, prompts), 0
	for i := range prompts {
		prompts[i] -= reads[i]
		all += outputs[i]
	}
	writes, thought := spread(s.parts.CacheWrite5m, prompts), make([]int, len(prompts))
	if s.parts.Reasoning <= all {
		thought = spread(s.parts.Reasoning, outputs)
	}
	out := make([]llm.Usage, len(prompts))
	for i := range out {
		out[i] = llm.Usage{Input: prompts[i] - writes[i], CacheRead: reads[i], CacheWrite5m: writes[i], Output: outputs[i], Reasoning: thought[i]}
	}
	return out
}
