// Package cache is a model of a provider's prefix cache: how much of a request is
// still warm from the requests before it, what a request writes, and whether an
// edit that breaks the cached prefix pays for itself.
//
// A provider keeps what it computed for the beginning of a prompt for some
// minutes. A request that begins with the same bytes reads it at a fraction of the
// price; one that differs early pays for all that follows the difference again.
// [Cache] follows the requests of one conversation with one model by the rule that
// the catalogue has for it:
//
//	c := cache.New(rule, cache.Options{})
//	use := c.Send(request) // use.CacheRead, use.CacheWrite5m, use.Input …
//
// [Change] says what an edit costs and saves, and [BreakEven] after how many
// further requests it has paid for the break.
//
// The package knows neither messages nor prices of its own and sends nothing. What
// it says is a model: providers evict early, route requests to machines that have
// nothing warm, and round in ways they do not document. docs/benchmarks.md sets it
// beside what providers reported.
package cache
