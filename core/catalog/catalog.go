package catalog

import (
	"slices"
	"strings"
)

// A Model is what is known about one model.
type Model struct {
	ID        string // without the decorations of Lookup
	Window    int    // tokens of prompt and output together, at its maker's API; 0 if unknown
	MaxInput  int    // most tokens of a prompt, where that is less than Window; 0: it is not known to be
	MaxOutput int    // tokens it can write in one reply; 0 if unknown
	Estimator string // id of the counter that fits it best, see package token
	Family    string // name of its Family
	// DropsThinking says that the provider takes a finished Turn's thinking out of
	// the prompt when the next Turn begins.
	DropsThinking bool
	// LosesThinking says that the provider sends no thinking again, in no later request.
	LosesThinking bool
	Provider      string // who makes it, such as "anthropic"; see Provider. Empty if unknown
	API           string // id that its maker's API takes, if that is not ID
	// Tiers are its prices, ascending by Above; empty if they are not known. The
	// slice belongs to the catalogue and must not be changed.
	Tiers        []Tier
	Storage      Price  // of a token kept for an hour as a resource; 0 if it is not known
	PriceSource  string // where the prices come from, as explained in the table
	Cache        string // name of its CacheRule; empty if none is known
	CacheMinimum int    // tokens below which nothing of it is cached; 0: as its rule says
	Capabilities Capabilities
	Source       string // where the figures come from, as explained in the table
	images       int    // most in a request; 0: as its maker's
}

// longWindow is the window of a model whose name ends with [1m], in tokens.
const longWindow = 1_000_000

// Lookup returns the model of that name. A name that is not in the table is
// tried without, in this order: a suffix in brackets ([1m] sets the window to
// 1,000,000), the path before the last slash, a maker before a dot, what follows
// a colon or @, a date (-20251101, -2025-11-01, -0613), and the suffixes -latest,
// -preview, -exp and -fast. Dots between digits and dashes are the same
// (claude-opus-4.8). Letter case does not count.
//
// A name that is found so is the same model, but not always at the same price.
// With :free it costs nothing. Its prices are unknown with -exp and -fast, behind
// a colon that is no version's, without a release of four digits where the maker
// changes models under one name, and behind the path of somebody who serves
// another's open weights (see Provider.Resold).
func (c Catalog) Lookup(id string) (Model, bool) {
	name, long := clean(id)
	m, ok := c.find(name)
	if ok && long {
		m.Window = max(m.Window, longWindow)
	}
	return m, ok
}

// Models returns all models by id. The slice is the caller's.
func (c Catalog) Models() []Model { return slices.Clone(c.models) }

// Family returns the family of that name.
func (c Catalog) Family(name string) (Family, bool) {
	i := slices.IndexFunc(c.families, func(f Family) bool { return f.Name == name })
	if i < 0 {
		return Family{}, false
	}
	return c.families[i], true
}

// Families returns all families in the order of the table. The slice is the caller's.
func (c Catalog) Families() []Family { return slices.Clone(c.families) }

// FamilyOf returns the family of the model with that id: its own, else what the
// beginning of the name says, else the family [UnknownFamily].
func (c Catalog) FamilyOf(id string) Family {
	name := UnknownFamily
	if m, ok := c.Lookup(id); ok {
		name = m.Family
	} else if p, ok := c.prefix(id); ok {
		name = p.family
	}
	f, _ := c.Family(name)
	if own := c.vocabulary(id); own != "" {
		f.Estimator = own
	}
	f.Image = c.imagesOf(id, f.Image)
	return f
}

// vocabulary returns the estimator of a model whose own vocabulary is at hand, which
// need not be that of its family: gpt-4 does not count as gpt-4o does. Empty: it is not.
func (c Catalog) vocabulary(id string) string {
	if m, ok := c.Lookup(id); ok && strings.HasPrefix(m.Estimator, "hf:") {
		return m.Estimator
	}
	if encoding, ok := c.EncodingFor(id); ok {
		return "tiktoken:" + encoding
	}
	return ""
}

// EncodingFor returns the name of the byte-pair encoding that the model with
// that id uses, such as "o200k_base". It is false where no public encoding is
// known.
func (c Catalog) EncodingFor(id string) (string, bool) {
	if m, ok := c.Lookup(id); ok {
		if encoding, ok := strings.CutPrefix(m.Estimator, "tiktoken:"); ok {
			return encoding, true
		}
		return "", false
	}
	p, ok := c.prefix(id)
	return p.encoding, ok && p.encoding != ""
}

// find looks name up, less and less decorated.
func (c Catalog) find(name string) (Model, bool) {
	d := decorated{name: name}
	for range maxDecorations {
		if m, ok := c.exact(d.name); ok {
			return c.priced(m, d), true
		}
		less, ok := d.less()
		if !ok {
			return Model{}, false
		}
		d = less
	}
	return Model{}, false
}

// priced returns m with the prices that hold for a name that was found by taking
// off what d says.
func (c Catalog) priced(m Model, d decorated) Model {
	p, _ := c.Provider(m.Provider)
	switch {
	case d.free:
		m.Tiers, m.PriceSource = freeTiers, "free"
	case d.special || d.release && !p.Resold || !p.sells(d):
		m.Tiers, m.PriceSource = nil, ""
	}
	return m
}

// freeTiers are the prices of what costs nothing.
var freeTiers = []Tier{{}}

// exact looks name up as it stands, and with dashes for the dots in numbers or
// the other way round.
func (c Catalog) exact(name string) (Model, bool) {
	if m, ok := c.model(name); ok {
		return m, true
	}
	for _, n := range []string{dashed(name), dotted(name)} {
		if n == name {
			continue
		}
		if m, ok := c.model(n); ok {
			return m, true
		}
	}
	return Model{}, false
}

// model returns the model that has that name, or for which it stands.
func (c Catalog) model(name string) (Model, bool) {
	if i, ok := slices.BinarySearchFunc(c.aliases, name, func(a alias, n string) int { return strings.Compare(a.name, n) }); ok {
		name = c.aliases[i].id
	}
	i, ok := place(c.models, name)
	if !ok {
		return Model{}, false
	}
	return c.models[i], true
}

// prefix returns the longest prefix that the name has, once its maker is taken off.
func (c Catalog) prefix(id string) (found prefix, ok bool) {
	c.undecorated(id, func(name string) bool {
		i := slices.IndexFunc(c.prefixes, func(p prefix) bool { return begins(name, p.text) })
		if ok = i >= 0; ok {
			found = c.prefixes[i]
		}
		return ok
	})
	return found, ok
}

// undecorated calls found with the name and then with less and less of it, until
// that is true.
func (c Catalog) undecorated(id string, found func(name string) bool) {
	name, _ := clean(id)
	d, more := decorated{name: name}, true
	for i := 0; i < maxDecorations && more && !found(d.name); i++ {
		d, more = d.less()
	}
}
