package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in picodollars (a millionth of a millionth of a dollar). The
// zero Money is not known: what has no price is never taken to be free.
type Money struct {
	Pico  int64
	Known bool
}

// Dollars returns an amount that is known.
func Dollars(pico int64) Money { return Money{pico, true} }

// Add returns the sum, unknown if one of them is or it does not fit.
func (m Money) Add(o Money) Money {
	sum := m.Pico + o.Pico
	if !m.Known || !o.Known || m.Pico > 0 && o.Pico > 0 && sum < 0 || m.Pico < 0 && o.Pico < 0 && sum >= 0 {
		return Money{}
	}
	return Money{sum, true}
}

// Sub returns m less o, unknown if one of them is or it does not fit.
func (m Money) Sub(o Money) Money {
	if o.Pico == -o.Pico && o.Pico != 0 {
		return Money{}
	}
	return m.Add(Money{-o.Pico, o.Known})
}

const picoPerMicro = 1_000_000

// micro returns the amount in microdollars, rounded to the nearest.
func (m Money) micro() int64 {
	n := m.Pico / picoPerMicro
	switch rest := m.Pico % picoPerMicro; {
	case rest >= picoPerMicro/2:
		n++
	case rest <= -picoPerMicro/2:
		n--
	}
	return n
}

// MarshalJSON writes dollars with up to six places, and null for what is not known.
func (m Money) MarshalJSON() ([]byte, error) {
	if !m.Known {
		return []byte("null"), nil
	}
	n := m.micro()
	if n < 0 {
		return []byte("-" + decimal(-n)), nil
	}
	return []byte(decimal(n)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		*m = Money{}
		return nil
	}
	digits, minus := strings.CutPrefix(text, "-")
	whole, places, _ := strings.Cut(digits, ".")
	if len(places) > pricePlaces || whole == "" {
		return fmt.Errorf("catalog: money: want dollars with at most %d places, got %.40s", pricePlaces, text)
	}
	n, err := strconv.ParseInt(whole+places+strings.Repeat("0", pricePlaces-len(places)), 10, 64)
	if err != nil || n < 0 || n > maxCost/picoPerMicro {
		return fmt.Errorf("catalog: money: want dollars, got %.40s", text)
	}
	if minus {
		n = -n
	}
	*m = Dollars(n * picoPerMicro)
	return nil
}

// String returns the amount for people: cents above ten cents, more places below.
// What is not known is "?".
func (m Money) String() string {
	if !m.Known {
		return "?"
	}
	n, sign := m.micro(), ""
	if n < 0 {
		n, sign = -n, "-"
	}
	switch {
	case n == 0 && m.Pico == 0:
		return "$0"
	case n >= 100_000:
		return fmt.Sprintf("%s$%d.%02d", sign, (n+5000)/1_000_000, (n+5000)/10_000%100)
	case n >= 100:
		return fmt.Sprintf("%s$0.%04d", sign, (n+50)/100)
	}
	return fmt.Sprintf("%s$0.%06d", sign, n)
}
