package inspect

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A segment is one segment of a session, measured.
type segment struct {
	sessionfile.Segment
	number  int // from 1
	model   string
	family  catalog.Family
	counter token.Counter
	hidden  Overhead
	told    told
	sized   []int // the prompts, where they follow from what is told
	notRun  string
	front   token.Contents // of sections and tools, by the counter
	weights [][]weight     // of each entry, by the counter
	// frontSize and sizes are what they take of the prompts; see settling.
	frontSize token.Contents
	sizes     [][]weight
	calls     map[place]llm.ToolCall // that each result answers, once somebody asked
	digests   []llm.Digest           // of each entry

	// conversation is the number of the segment that it goes on from, in the end.
	conversation int
	caching      caching
	models       map[string]*listed // by name
	steps        []step
	thought      thought
}

// A thought is what became of a segment's thinking.
type thought struct {
	turns int // Turn ends at which that could be told
	gone  int // tokens of it that left the prompts by themselves
}

// A step is one Step, measured.
type step struct {
	entry    int               // its reply among the entries; all of them for a request without one
	info     *sessionfile.Step // of a request without a reply: its model alone
	tokens   int
	kind     string
	guess    guess          // of tokens, before the call
	first    bool           // of its segment to be reported
	contents token.Contents // they add up to tokens
	gone     int            // tokens of thinking that this prompt has no more
	sent     int64          // Unix milliseconds; 0 if nobody knows
	charge   Charge
	refused  *sessionfile.Failure // of a request that was refused for its length
}

// A guess is what the size of a prompt was taken for before anybody reported it.
type guess struct {
	token.Estimate     // by the calibrated count
	counter        int // tokens by the counter alone, with what is hidden
}

// reported reports whether the size is the provider's.
func (s step) reported() bool { return s.kind == Reported && s.refused == nil }

// unseen returns what a client counted beyond the content that its file has.
func (s step) unseen() int {
	if s.kind != ClientCounted {
		return 0
	}
	return max(s.tokens-s.guess.Point, 0)
}

// copied reports whether another session made the call.
func (s step) copied() bool { return s.info.Copied != "" }

// shared reports whether the Steps have their usage by what is told of several of them.
func (g *segment) shared() bool { return len(g.sized) > 0 && g.told.inParts() }

// A Charge is what one call was charged for.
type Charge struct {
	// Usage is as reported, else a share of what the file states of all calls, else as
	// Simulated. Where its output was not reported it is the size of the recorded reply.
	Usage llm.Usage
	// Simulated is what package cache says that the same prompt reads and writes, if
	// the provider has nothing warm but what this segment has sent.
	Simulated llm.Usage
	CostUSD   catalog.Money // as the file states it, else Usage by list prices
	CostKind  string        // CostStated, CostReported or CostEstimated; empty if the cost is not known
}

// A caching is how a segment uses the provider's cache.
type caching struct {
	used bool // as far as is known
	long bool // most of what is written has the long lifetime
}

// A listed is what the catalogue has of a model.
type listed struct {
	catalog.Model
	known bool
	rule  catalog.CacheRule
}

// A place is a part of an entry.
type place struct{ entry, part int }

// eachResult calls f with every tool result that the client recorded.
func (g *segment) eachResult(f func(place, llm.ToolResult)) {
	for i, e := range g.Entries {
		if e.Message.Flags.Has(llm.FlagInterrupted) {
			continue
		}
		for k, p := range e.Message.Parts {
			if res, ok := p.(llm.ToolResult); ok {
				f(place{i, k}, res)
			}
		}
	}
}

// listed returns what the catalogue has of a model, looked up once.
func (g *segment) listed(o Options, model string) *listed {
	m := g.models[model]
	if m == nil {
		m = &listed{}
		m.Model, m.known = o.Catalog.Lookup(model)
		m.rule, _ = o.Catalog.CacheRuleOf(model)
		if g.models == nil {
			g.models = map[string]*listed{}
		}
		g.models[model] = m
	}
	return m
}

// price returns what a usage costs by the list prices of a model.
func (g *segment) price(o Options, model string, u llm.Usage) catalog.Money {
	m := g.listed(o, model)
	if !m.known {
		return catalog.Money{}
	}
	prices, ok := m.PricesAt(u.Prompt())
	if !ok {
		return catalog.Money{}
	}
	pico, ok := prices.Cost(u)
	return catalog.Money{Pico: pico, Known: ok}
}
