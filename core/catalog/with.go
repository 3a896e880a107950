package catalog

import (
	"slices"
	"strings"
)

// With returns c with models of the caller's laid over it; c is not changed. An
// ID is a whole name, as it is looked up: in lower case, without a suffix in
// brackets, and found before anything is taken off. It may be a name that c does
// not have.
//
// What a model does not state is filled in from the model that c finds by that
// ID, with its prices: a number or text that is not zero replaces what is known,
// Tiers replace all tiers, and a true flag or capability is added (none can be
// taken away). A model that c does not find gets the family that its name tells,
// or UnknownFamily, and that family's estimator. So does one whose family c does
// not have. Of two models with one ID the later is laid over the earlier.
func (c Catalog) With(models ...Model) Catalog {
	if len(models) == 0 {
		return c
	}
	c.models = slices.Clone(c.models)
	c.aliases = slices.Clone(c.aliases)
	for _, over := range models {
		id, _ := clean(over.ID)
		if id == "" {
			continue
		}
		known, ok := c.find(id)
		if !ok {
			known = c.made(Model{ID: id})
		}
		m := over.over(known)
		m.ID = id
		c.family(&m)
		if over.Estimator != "" {
			c.counted(&m)
		}
		if len(over.Tiers) == 0 && m.Provider != known.Provider {
			m.Tiers, m.PriceSource = nil, ""
		}
		c.aliases = slices.DeleteFunc(c.aliases, func(a alias) bool { return a.name == id })
		if at, ok := place(c.models, id); ok {
			c.models[at] = m
		} else {
			c.models = slices.Insert(c.models, at, m)
		}
	}
	return c
}

// family gives m a family and an estimator that exist.
func (c Catalog) family(m *Model) {
	if _, ok := c.Family(m.Family); !ok {
		m.Family = UnknownFamily
		if p, ok := c.prefix(m.ID); ok {
			m.Family = p.family
		}
	}
	if m.Estimator == "" {
		f, _ := c.Family(m.Family)
		m.Estimator = f.Estimator
	}
}

// counted gives m a family that is counted by m's estimator as it stands.
func (c *Catalog) counted(m *Model) {
	f, _ := c.Family(m.Family)
	if f.Estimator == m.Estimator {
		return
	}
	f.Name += " counted by " + m.Estimator
	f.Estimator, f.ReplyEstimator, f.Prior = m.Estimator, m.Estimator, 1000
	if _, ok := c.Family(f.Name); !ok {
		c.families = append(slices.Clip(c.families), f)
	}
	m.Family = f.Name
}

// over returns known with what m states.
func (m Model) over(known Model) Model {
	if m.Window > known.Window {
		known.MaxInput = 0 // it was of the window that was known
	}
	set(&known.Window, m.Window)
	set(&known.MaxInput, m.MaxInput)
	set(&known.MaxOutput, m.MaxOutput)
	set(&known.Estimator, m.Estimator)
	set(&known.Family, m.Family)
	set(&known.Provider, strings.ToLower(m.Provider))
	set(&known.API, m.API)
	set(&known.Cache, m.Cache)
	set(&known.CacheMinimum, m.CacheMinimum)
	set(&known.Source, m.Source)
	set(&known.Storage, m.Storage)
	set(&known.images, m.images)
	if len(m.Tiers) > 0 {
		known.Tiers, known.PriceSource = slices.Clone(m.Tiers), m.PriceSource
	}
	known.DropsThinking = known.DropsThinking || m.DropsThinking
	known.LosesThinking = known.LosesThinking || m.LosesThinking
	known.Capabilities = known.Capabilities.and(m.Capabilities)
	return known
}

// set replaces what is known by what is stated.
func set[T comparable](known *T, stated T) {
	var none T
	if stated != none {
		*known = stated
	}
}
