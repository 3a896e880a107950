package cache

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// A Change is an edit as it looks to a cache.
type Change struct {
	Removed int // tokens that leave the prompt
	Suffix  int // tokens behind them, which have to be written again
	// Requests is how many more are expected while the cache stays warm, the next
	// one included; at least 1.
	Requests int
	Warm     int  // permille: how likely the prefix is still warm; 1000 means it is
	Long     bool // prefixes are written with the long lifetime
}

// Gain returns what a change saves over the expected requests less what it costs, in
// picodollars; below 0 it does not pay. It is false where a price is unknown.
//
// With w and r the prices of a token written and read, R requests and probability P:
//
//	Removed·(w + r·(R−1)) − P·(w − r)·(Suffix + Removed)
//
// Figures too large for 64 bits are held at their ends.
func (ch Change) Gain(p catalog.Prices) (int64, bool) {
	w, r, ok := rates(p, ch.Long)
	if !ok {
		return 0, false
	}
	removed, suffix := whole(ch.Removed), whole(ch.Suffix)
	saved := product(removed, sum(w, product(r, whole(ch.Requests-1))))
	cost := product(max(w-r, 0), sum(suffix, removed))
	warm := min(whole(ch.Warm), 1000)
	cost = sum(product(cost/1000, warm), product(cost%1000, warm)/1000)
	return saved - cost, true
}

// BreakEven returns how many requests it takes, the next one included, until removing
// so many tokens before a warm suffix has paid for writing that suffix again:
// ((w − r)/r)·Suffix/Removed, rounded up. It is false where a price is unknown, where
// nothing is removed, and where reading costs nothing, so that it never pays.
func BreakEven(p catalog.Prices, removed, suffix int, long bool) (int, bool) {
	w, r, ok := rates(p, long)
	if !ok || removed <= 0 || r == 0 && w > 0 && suffix > 0 {
		return 0, false
	}
	if w <= r || suffix <= 0 {
		return 1, true
	}
	up, down := product(w-r, int64(suffix)), product(r, int64(removed))
	n := up / down
	if up%down != 0 {
		n++
	}
	return int(max(n, 1)), true
}

// rates returns the prices of a token written and read.
func rates(p catalog.Prices, long bool) (w, r int64, ok bool) {
	write := p.CacheWrite5m
	if long {
		write = p.CacheWrite1h
	}
	if write < 0 || p.CacheRead < 0 {
		return 0, 0, false
	}
	return int64(write), int64(p.CacheRead), true
}

func whole(n int) int64 { return int64(max(n, 0)) }

const most = 1<<63 - 1

// product returns a·b of numbers that are not negative, or the largest number.
func product(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > most {
		return most
	}
	return int64(low)
}

// sum returns a+b of numbers that are not negative, or the largest number.
func sum(a, b int64) int64 {
	if a > most-b {
		return most
	}
	return a + b
}
