package catalog

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Price is in picodollars a token, which is microdollars for a million tokens:
// $1.25 a million is 1,250,000. A price that is not known is UnknownPrice, never
// a guess.
type Price int64

// UnknownPrice is a price that nothing is known of.
const UnknownPrice Price = -1

// Prices are what a provider asks. Where it asks nothing extra for what is
// written to its cache, the prices of writing are that of the input.
type Prices struct {
	Input, Output, CacheRead Price
	CacheWrite5m             Price // with the short lifetime, or the only one
	CacheWrite1h             Price // with the long lifetime
	// Storage is what a token costs that is kept for an hour as a resource of its own; 0 if
	// it is not known.
	Storage Price
}

// UnknownPrices are prices of which none is known.
func UnknownPrices() Prices {
	return Prices{Input: UnknownPrice, Output: UnknownPrice, CacheRead: UnknownPrice, CacheWrite5m: UnknownPrice, CacheWrite1h: UnknownPrice}
}

// A Tier is the prices of prompts from a size on.
type Tier struct {
	Above int // it holds for prompts of more tokens than this, cached ones included
	Prices
}

// PricesAt returns the prices of a call with a prompt of that many tokens, cached
// or not. The whole call is charged by the tier that its prompt falls into. It is
// false where no price is known; a single price may still be UnknownPrice.
func (m Model) PricesAt(prompt int) (Prices, bool) {
	found, ok := UnknownPrices(), false
	for _, t := range m.Tiers {
		if t.Above == 0 || prompt > t.Above {
			found, ok = t.Prices, true
		}
	}
	if ok {
		found.Storage = m.Storage
	}
	return found, ok
}

// Cost returns what a call with that usage costs, in picodollars. It is false if
// a price is unknown that u needs, if u has a negative figure, or if the sum does
// not fit; a part of which u has no tokens needs no price.
func (p Prices) Cost(u llm.Usage) (int64, bool) {
	var sum uint64
	for _, part := range []struct {
		tokens int
		price  Price
	}{
		{u.Input, p.Input},
		{u.Output, p.Output},
		{u.CacheRead, p.CacheRead},
		{u.CacheWrite5m, p.CacheWrite5m},
		{u.CacheWrite1h, p.CacheWrite1h},
		{u.Made, p.Input},
		{hours(u.Stored), p.storage()},
	} {
		switch {
		case part.tokens == 0:
			continue
		case part.tokens < 0 || part.price < 0:
			return 0, false
		}
		high, low := bits.Mul64(uint64(part.tokens), uint64(part.price))
		total, carry := bits.Add64(sum, low, 0)
		if high != 0 || carry != 0 || total > maxCost {
			return 0, false
		}
		sum = total
	}
	return int64(sum), true
}

// storage returns the price of storage as others are told: unknown, where it is not known.
func (p Prices) storage() Price {
	if p.Storage <= 0 {
		return UnknownPrice
	}
	return p.Storage
}

// hours returns the token-hours of token-seconds, those begun as whole ones.
func hours(stored int) int {
	if stored <= 0 {
		return stored
	}
	return (stored-1)/secondsAnHour + 1
}

const secondsAnHour = 3600

// maxCost is the largest cost that fits: nine million dollars.
const maxCost = 1<<63 - 1

// ParsePrice reads dollars for a million tokens, such as "0.075", from their
// digits. It is false for anything but digits with at most one point, for parts
// of a picodollar a token (more than six places), and above $1,000,000.
func ParsePrice(s string) (Price, bool) {
	var n, places int64
	point, digits := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.' && !point:
			point = true
		case !isDigit(c):
			return UnknownPrice, false
		case point && places == pricePlaces:
			if c != '0' {
				return UnknownPrice, false
			}
		default:
			digits = true
			n = n*10 + int64(c-'0')
			if point {
				places++
			}
			if n > maxPrice {
				return UnknownPrice, false
			}
		}
	}
	if !digits {
		return UnknownPrice, false
	}
	for ; places < pricePlaces; places++ {
		n *= 10
	}
	if n > maxPrice {
		return UnknownPrice, false
	}
	return Price(n), true
}

const (
	pricePlaces = 6                 // a picodollar a token is a millionth of a dollar a million tokens
	maxPrice    = 1_000_000_000_000 // a dollar a token
)

// String returns p in dollars for a million tokens ("1.25"), or "?" if it is unknown.
func (p Price) String() string {
	if p < 0 {
		return "?"
	}
	return decimal(int64(p))
}

// decimal writes millionths as a number without superfluous zeros.
func decimal(n int64) string {
	var b [32]byte
	i := len(b)
	for place := 0; place < pricePlaces; place++ {
		if d := n % 10; d != 0 || i < len(b) {
			i--
			b[i] = byte('0' + d)
		}
		n /= 10
	}
	if i < len(b) {
		i--
		b[i] = '.'
	}
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}
