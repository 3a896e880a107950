package cache

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Lease reckons whether the beginning of a conversation is worth a resource of its own: a
// copy that a provider keeps for a time that is paid, and reads at the price of its cache. It
// is told of each answered request, and decides by these alone. The zero Lease has seen none.
//
// What is compared is the same conversation without it, which finds by itself what it found so
// far. Only what it would have read and did not is saved, so that nothing is made where the
// provider's own cache does the work.
type Lease struct {
	Seen []Sight `json:"seen,omitempty"` // the newest ones, of one prefix
	All  int     `json:"all,omitempty"`  // how many there were
}

// A Sight is a request that was answered.
type Sight struct {
	At     int64 `json:"at"`     // when it was sent, Unix milliseconds
	Prompt int   `json:"prompt"` // tokens
	Read   int   `json:"read"`   // of these from the cache
}

// A Term is how long an explicit cache is to be kept, and what that is expected to save.
type Term struct {
	Seconds  int   // 0: it does not pay
	Requests int   // that are expected in that time, the one at hand included
	Missed   int   // tokens that each of them would have paid in full
	Gain     int64 // picodollars
}

const (
	// mostSights is over how many requests the pace is taken: as many as [Lease] looks back, few
	// enough that a pace of yesterday is forgotten.
	mostSights = 8
	// leastSights is from how many on there is a pace at all: two gaps.
	leastSights = 3
)

// stays are the lifetimes that are tried, in seconds: any is allowed, and these are far enough
// apart. The last is what the Gemini API gives where none is asked for.
var stays = [...]int{60, 120, 300, 600, 1800, 3600}

// Answered books an answered request.
func (l *Lease) Answered(s Sight) {
	l.All++
	if len(l.Seen) == mostSights {
		l.Seen = append(l.Seen[:0:0], l.Seen[1:]...)
	}
	l.Seen = append(l.Seen, s)
}

// Broken says that the next request does not begin as the ones before: what they missed says
// nothing about it.
func (l *Lease) Broken() { *l = Lease{} }

// Make returns how long a resource of so many tokens should be kept, if it were made now; with
// Seconds 0 it should not be made. Making it costs its tokens once more, at the price of input.
// held is how many of them a smaller resource holds that is there already; 0 if none is.
func (l *Lease) Make(p catalog.Prices, tokens, held int) Term {
	return l.best(p, tokens, l.missed(tokens, held), tokens)
}

// Lengthen is [Lease.Make] for a resource that is there: nothing is paid for its tokens again,
// and what it saves is what was missed before it was made.
func (l *Lease) Lengthen(p catalog.Prices, tokens, missed int) Term {
	return l.best(p, tokens, missed, 0)
}

// Longest returns the longest pause between two of the requests seen, in milliseconds.
func (l *Lease) Longest() int64 {
	var longest int64
	for i := 1; i < len(l.Seen); i++ {
		longest = max(longest, l.Seen[i].At-l.Seen[i-1].At)
	}
	return longest
}

// best tries all stays. made is what has to be paid for in full beforehand.
//
// With w and r the prices of a token that is not read and that is, and s that of one kept for an
// hour: requests · missed · (w − r) − made · w − tokens · s · seconds / 3600.
func (l *Lease) best(p catalog.Prices, tokens, missed, made int) (best Term) {
	n := len(l.Seen)
	if n < leastSights || tokens <= 0 || missed <= 0 || p.Input <= 0 || p.CacheRead < 0 || p.Storage <= 0 || p.Input <= p.CacheRead {
		return Term{}
	}
	pace := max((l.Seen[n-1].At-l.Seen[0].At)/int64(n-1), 1)
	for _, seconds := range stays {
		life := int64(seconds) * 1000
		if life <= l.Longest() {
			continue // it would be gone in a pause like that
		}
		requests := min(1+life/pace, int64(l.All)) // what has gone on for long goes on for as long again
		saved := product(product(whole(int(requests)), whole(missed)), int64(p.Input-p.CacheRead))
		cost := sum(product(whole(made), int64(p.Input)), Storage(p, tokens, seconds))
		if gain := saved - cost; gain > best.Gain {
			best = Term{Seconds: seconds, Requests: int(requests), Missed: missed, Gain: gain}
		}
	}
	return best
}

// missed returns how many of the first tokens of a prompt a request would pay in full although
// the one before had sent them, on average: those that were not read, and are not held by now.
func (l *Lease) missed(tokens, held int) int {
	if len(l.Seen) < leastSights {
		return 0
	}
	var all int64
	for i := 1; i < len(l.Seen); i++ {
		all += whole(min(tokens, l.Seen[i-1].Prompt) - max(l.Seen[i].Read, held))
	}
	return int(all / int64(len(l.Seen)-1))
}

// Storage returns what so many tokens cost that are kept for so long, in picodollars, begun ones
// as whole ones; 0 where the price is not known.
func Storage(p catalog.Prices, tokens, seconds int) int64 {
	const hour = 3600
	return sum(product(whole(max(int(p.Storage), 0)), product(whole(tokens), whole(seconds))), hour-1) / hour
}

// Hold says that a prefix is kept as a resource of so many tokens until then, in Unix
// milliseconds. A request that names it reads it all, whatever else is kept.
func (c *Cache) Hold(prefix llm.Digest, tokens int, expires int64) {
	if c.held == nil {
		c.held = map[llm.Digest]entry{}
	}
	c.held[prefix] = entry{tokens: tokens, expires: expires}
}

// Drop says that a resource is not kept any more.
func (c *Cache) Drop(prefix llm.Digest) { delete(c.held, prefix) }

// Named books a request that names the resource of a prefix, as [Cache.Send] does any other. It
// is false, and nothing is booked, where the request does not begin with that prefix or the
// resource has lapsed: the provider refuses it.
func (c *Cache) Named(r Request, prefix llm.Digest) (Use, bool) {
	e, ok := c.held[prefix]
	begins := false
	for _, b := range r.Blocks {
		begins = begins || b.Prefix == prefix
	}
	if !ok || !begins || !live(e.expires, r.At) {
		return Use{}, false
	}
	use := c.Send(r)
	if more := min(e.tokens, r.tokens()) - use.CacheRead; more > 0 {
		use.CacheRead += more
		fromInput := min(more, use.Input)
		use.Input -= fromInput
		use.CacheWrite5m -= more - fromInput
		use.Lost = max(use.Lost-more, 0)
	}
	return use, true
}
