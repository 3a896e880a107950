package inspect

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A reading is a session that is analysed.
type reading struct {
	s        *sessionfile.Session
	o        Options
	segments []*segment
	report   *Report
}

// pricesOf returns the list prices of a Step, if they are known and hold for it.
func (r *reading) pricesOf(g *segment, s step) (catalog.Prices, bool) {
	if s.info.Unpriced != "" {
		return catalog.Prices{}, false
	}
	m := g.listed(r.o, r.o.modelOf(s.info.Model, g.model))
	if !m.known {
		return catalog.Prices{}, false
	}
	return m.PricesAt(s.tokens)
}
