package cache

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// Of returns the empty cache of a model by what the catalogue knows of it: its rule, and
// whether its provider asks a price of its own for what is written. A model that the
// catalogue does not know keeps nothing.
func Of(c catalog.Catalog, model string) *Cache {
	rule, _ := c.CacheRuleOf(model)
	m, _ := c.Lookup(model)
	prices, _ := m.PricesAt(0)
	return New(rule, Options{Writes: prices.CacheWrite5m > prices.Input})
}
