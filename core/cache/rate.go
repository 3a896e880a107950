package cache

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// A Rate is what a token costs that is read from a cache, and one that is written to it; not
// known where a price is not.
type Rate struct {
	Read, Write catalog.Money
}

// RateOf returns the rate of some prices; long: prefixes are written with the long lifetime.
func RateOf(p catalog.Prices, long bool) Rate {
	write := p.CacheWrite5m
	if long {
		write = p.CacheWrite1h
	}
	return Rate{priced(p.CacheRead), priced(write)}
}

func priced(p catalog.Price) catalog.Money {
	return catalog.Money{Pico: max(int64(p), 0), Known: p >= 0}
}

// Rewriting returns what it costs to write so many tokens once more that could have been read.
func (r Rate) Rewriting(tokens int) catalog.Money { return times(r.Write.Sub(r.Read), tokens) }

// Writing returns what it costs to write so many tokens.
func (r Rate) Writing(tokens int) catalog.Money { return times(r.Write, tokens) }

// Reading returns what it costs to read so many tokens, which is saved where they have left.
func (r Rate) Reading(tokens int) catalog.Money { return times(r.Read, tokens) }

func times(m catalog.Money, n int) catalog.Money {
	m.Pico *= int64(n)
	return m
}

// BreakEven is [BreakEven] at this rate; 0 where it is false.
func (r Rate) BreakEven(removed, rewritten int) int {
	if !r.Read.Known || !r.Write.Known {
		return 0
	}
	n, _ := BreakEven(catalog.Prices{CacheRead: catalog.Price(r.Read.Pico), CacheWrite5m: catalog.Price(r.Write.Pico)}, removed, rewritten, false)
	return n
}
