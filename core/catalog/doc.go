// Package catalog holds what is known about models as data: their windows and
// prices, how their providers cache prompts and what a request may hold, the family
// whose tokenizer they share, the constants that the size of a prompt is estimated
// with, the overhead that well-known clients add, and what each wire format can
// carry. It decides nothing and it counts nothing; package token counts with its
// numbers.
//
// The data stand in tables beside this file, each with its sources. listed.csv and
// prices.csv are made by internal/gencatalog from openly licensed lists; the others
// are kept by hand. [Load] reads them into a [Catalog], a value that its caller
// keeps:
//
//	known, err := catalog.Load()
//	model, ok := known.Lookup("anthropic/claude-opus-4-5-20251101")
//	prices, ok := model.PricesAt(usage.Prompt())
//	cost, ok := prices.Cost(usage)
//
// A name is looked up as it stands, then without the decorations that clients
// and gateways add to it; see [Catalog.Lookup]. What is not known is said to be so:
// a zero, a false, or [UnknownPrice]; nothing is guessed. A user's own models are
// laid over ours by [Catalog.With].
package catalog
