// Package catalog holds what is known about models as data: the size of their
// windows, the family whose tokenizer they share, the constants that the size of
// a prompt is estimated with, the overhead that well-known clients add, and what
// each wire format can carry. It
// decides nothing and it counts nothing; package token counts with its numbers.
//
// The data stand in five small tables beside this file, each with its sources.
// [Load] reads them into a [Catalog], a value that its caller keeps:
//
//	known, err := catalog.Load()
//	model, ok := known.Lookup("anthropic/claude-opus-4-5-20251101")
//	family := known.FamilyOf(model.ID)
//
// A name is looked up as it stands, then without the decorations that clients
// and gateways add to it; see [Catalog.Lookup].
package catalog
