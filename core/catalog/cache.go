package catalog

import "slices"

// A CacheRule says how a provider keeps the beginning of a prompt for later calls.
type CacheRule struct {
	Name string // such as "anthropic"
	// Marked: only what ends at a cache mark of the request is written. Else every
	// prefix may be kept, and the provider finds by itself what it has.
	Marked   bool
	Marks    int // most marks of a request; 0: none are taken
	LookBack int // positions before a mark where an earlier entry is looked for; 0: everywhere
	Minimum  int // tokens below which nothing is cached, unless the model has its own (CacheMinimum)
	Step     int // a hit is a multiple of so many tokens; 1: exact
	// Lifetimes in seconds, ascending: how long an entry is kept. The first is
	// what holds if nothing is asked for. Empty: the provider promises none.
	Lifetimes []int
	Refresh   bool // a hit renews the lifetime at no charge
	Keyed     bool // a request may name its conversation, by which it is routed
	// Named: a beginning can be kept as a resource of its own, for a price ([Prices.Storage]).
	// Requests name it, and leave out what is in it.
	Named  bool
	Source string // where the facts come from, as explained in the table
}

// CacheRule returns the rule of that name.
func (c Catalog) CacheRule(name string) (CacheRule, bool) {
	i := slices.IndexFunc(c.caches, func(r CacheRule) bool { return r.Name == name })
	if i < 0 {
		return CacheRule{}, false
	}
	r := c.caches[i]
	r.Lifetimes = slices.Clone(r.Lifetimes)
	return r, true
}

// CacheRuleOf returns the rule of the model with that id, with the model's own
// minimum in it. It is false where the model, or its rule, is not known.
func (c Catalog) CacheRuleOf(id string) (CacheRule, bool) {
	m, ok := c.Lookup(id)
	if !ok || m.Cache == "" {
		return CacheRule{}, false
	}
	r, ok := c.CacheRule(m.Cache)
	if m.CacheMinimum > 0 {
		r.Minimum = m.CacheMinimum
	}
	return r, ok
}

// CacheRules returns all rules in the order of the table. The slice is the caller's.
func (c Catalog) CacheRules() []CacheRule {
	out := slices.Clone(c.caches)
	for i := range out {
		out[i].Lifetimes = slices.Clone(out[i].Lifetimes)
	}
	return out
}
