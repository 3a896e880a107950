package catalog

import (
	"slices"
	"strings"
)

// A Model is what is known about one model.
type Model struct {
	ID        string // without the decorations of Lookup
	Window    int    // tokens of prompt and output together; 0 if unknown
	MaxOutput int    // tokens it can write in one reply; 0 if unknown
	Estimator string // id of the counter that fits it best, see package token
	Family    string // name of its Family
	// DropsThinking says that the provider takes a finished Turn's thinking out of
	// the prompt when the next Turn begins.
	DropsThinking bool
	Source        string // where the figures come from, as explained in the table
}

// longWindow is the window of a model whose name ends with [1m], in tokens.
const longWindow = 1_000_000

// Lookup returns the model of that name. A name that is not in the table is
// tried without, in this order: a suffix in brackets ([1m] sets the window to
// 1,000,000), the path before the last slash, a maker before a dot, what follows
// a colon or @, a date (-20251101, -2025-11-01, -0613), and the suffixes -latest,
// -preview, -exp and -fast. Dots between digits and dashes are the same
// (claude-opus-4.8). Letter case does not count.
func (c Catalog) Lookup(id string) (Model, bool) {
	name, long := clean(id)
	m, ok := c.find(name)
	if ok && long {
		m.Window = longWindow
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
	return f
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
	for range maxDecorations {
		if m, ok := c.exact(name); ok {
			return m, true
		}
		less, ok := undecorate(name)
		if !ok {
			return Model{}, false
		}
		name = less
	}
	return Model{}, false
}

// exact looks name up as it stands, and with dashes for the dots in numbers.
func (c Catalog) exact(name string) (Model, bool) {
	for _, n := range []string{name, dashed(name)} {
		i, ok := slices.BinarySearchFunc(c.models, n, func(m Model, n string) int { return strings.Compare(m.ID, n) })
		if ok {
			return c.models[i], true
		}
	}
	return Model{}, false
}

// prefix returns the longest prefix that the name has, once its maker is taken off.
func (c Catalog) prefix(id string) (prefix, bool) {
	name, _ := clean(id)
	for range maxDecorations {
		for _, p := range c.prefixes {
			if strings.HasPrefix(name+"$", p.text) || strings.HasPrefix(dashed(name), p.text) {
				return p, true
			}
		}
		less, ok := undecorate(name)
		if !ok {
			break
		}
		name = less
	}
	return prefix{}, false
}
