package catalog

import (
	"slices"
	"strings"
)

// A Provider makes models and sells their use.
type Provider struct {
	Name string // such as "anthropic"
	// Resold: who else serves its models asks the same. Else the prices are those
	// of its own API only, as anybody may serve models with open weights.
	Resold       bool
	Cache        string       // name of its CacheRule; empty if unknown
	Limits       Limits       // of a request to any of its models
	Capabilities Capabilities // of all its models
	begins       []string     // of the names of its models
	paths        []string     // what stands before its models' names in those of gateways
}

// Provider returns the maker of that name.
func (c Catalog) Provider(name string) (Provider, bool) {
	i := slices.IndexFunc(c.providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return c.providers[i], true
}

// LimitsOf returns what a request to the model with that id may hold: what is
// known of the model, else of its maker.
func (c Catalog) LimitsOf(id string) Limits {
	m, ok := c.Lookup(id)
	if !ok {
		return Limits{}
	}
	p, _ := c.Provider(m.Provider)
	l := p.Limits
	if m.images > 0 {
		l.Images = m.images
	}
	return l
}

// maker returns the provider whose models' names begin as id does; the longest
// beginning counts.
func (c Catalog) maker(id string) Provider {
	var found Provider
	longest := 0
	for _, p := range c.providers {
		for _, b := range p.begins {
			if len(b) > longest && strings.HasPrefix(id, b) {
				found, longest = p, len(b)
			}
		}
	}
	return found
}

// sells reports whether the list prices of p hold for a name that was found by
// taking off what d says.
func (p Provider) sells(d decorated) bool {
	if p.Name == "" || p.Resold {
		return true
	}
	if d.cloud {
		return false
	}
	for part := range strings.SplitSeq(d.path, "/") {
		if part != "" && !slices.Contains(p.paths, part) {
			return false
		}
	}
	return true
}

func (c *Catalog) readProvider(r *row) Provider {
	p := Provider{
		Name: r.text(0), begins: r.list(1), paths: r.list(2), Resold: r.text(3) == "same", Cache: r.text(4),
		Limits: Limits{Bytes: r.number(5), Images: r.number(6)}, Capabilities: readCapabilities(r, 7),
	}
	if s := r.text(3); s != "same" && s != "own" {
		r.fail("prices elsewhere", "same or own", s)
	}
	c.knownCache(r, p.Cache)
	return p
}

// knownCache checks the name of a rule; an empty one is none.
func (c *Catalog) knownCache(r *row, name string) {
	if _, ok := c.CacheRule(name); !ok && name != "" {
		r.fail("cache", "one of caches.csv", name)
	}
}

func readCapabilities(r *row, i int) Capabilities {
	var p Capabilities
	words := p.words()
	for _, s := range r.list(i) {
		at := slices.IndexFunc(words, func(w capability) bool { return w.word == s })
		if at < 0 {
			r.fail("capability", "one of capability.go", s)
			return p
		}
		*words[at].has = true
	}
	return p
}

func readCacheRule(r *row) CacheRule {
	c := CacheRule{
		Name: r.text(0), Marked: r.text(1) == "marked", Marks: r.number(2), LookBack: r.number(3), Minimum: r.number(4),
		Step: r.number(5), Refresh: r.text(7) == "renewed", Keyed: r.text(8) == "keyed", Named: r.text(8) == "named", Source: r.text(9),
	}
	for _, s := range r.list(6) {
		c.Lifetimes = append(c.Lifetimes, r.integer(6, s))
	}
	if !slices.IsSorted(c.Lifetimes) {
		r.fail("lifetimes", "an ascending list", r.text(6))
	}
	return c
}
