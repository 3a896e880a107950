package replay

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A Billing says what the calls of a segment cost, how the cache was simulated, and how
// far that is from what the provider reported. Copied calls are in none of it.
type Billing struct {
	Cache    string `json:"cache"` // name of the first model's rule, "off" where the client does not use it, "" if nothing is known
	Lifetime int    `json:"lifetime_seconds"`
	// PaidUSD is what the client's own calls cost, as package inspect says: null unless
	// that is known of every one.
	PaidUSD        catalog.Money `json:"paid_usd"`
	PaidSteps      int           `json:"paid_steps"`      // of which it is known
	EstimatedSteps int           `json:"estimated_steps"` // of these, of which something was not reported
	SimulatedUSD   catalog.Money `json:"simulated_usd"`   // what the simulation would have charged for all of them
	StatedUSD      catalog.Money `json:"stated_usd"`      // what the file itself says that they cost; null unless it does of every Step with a usage
	Compared       int           `json:"compared"`        // Steps whose cache figures were reported
	// Tokens of those Steps, as reported and as simulated for the same requests.
	ReadReported    int `json:"read_reported"`
	ReadSimulated   int `json:"read_simulated"`
	WriteReported   int `json:"write_reported"`
	WriteSimulated  int `json:"write_simulated"`
	ReadErrorP50PPM int `json:"read_error_p50_ppm"` // difference of a Step's reads, as a share of its prompt
}

// bill sums up what a segment cost.
func (r *Replayer) bill(raw *raw, seg sessionfile.Segment) {
	b := &raw.billing
	b.Cache, b.Lifetime = r.caching(raw)
	b.PaidUSD, b.SimulatedUSD = catalog.Dollars(0), catalog.Dollars(0)
	var errors []int // of the reads of each Step that was compared, ppm of its prompt
	prices := r.biller(raw)
	for _, s := range raw.steps {
		if s.copied {
			continue
		}
		if s.CostUSD.Known {
			b.PaidSteps++
		}
		if s.CostKind == inspect.CostEstimated {
			b.EstimatedSteps++
		}
		b.PaidUSD = b.PaidUSD.Add(s.CostUSD)
		simulated := catalog.Money{}
		if s.listed {
			simulated = prices.of(prices.model(s.model)).cost(s.Simulated)
		}
		b.SimulatedUSD = b.SimulatedUSD.Add(simulated)
		if s.reported && raw.caches {
			errors = append(errors, b.compare(s.Usage, s.Simulated))
		}
	}
	b.StatedUSD = statedOf(seg)
	if n := len(errors); n > 0 {
		slices.Sort(errors)
		b.ReadErrorP50PPM = errors[n/2]
	}
}

// compare sets what was simulated beside what was reported.
func (b *Billing) compare(reported, simulated llm.Usage) (ppm int) {
	b.Compared++
	b.ReadReported += reported.CacheRead
	b.ReadSimulated += simulated.CacheRead
	b.WriteReported += reported.CacheWrite5m + reported.CacheWrite1h
	b.WriteSimulated += simulated.CacheWrite5m + simulated.CacheWrite1h
	return int(int64(abs(reported.CacheRead-simulated.CacheRead)) * 1_000_000 / int64(max(reported.Prompt(), 1)))
}

// caching names the rule by which the cache of a segment is simulated.
func (r *Replayer) caching(raw *raw) (name string, lifetime int) {
	if !raw.caches {
		return "off", 0
	}
	rule, ok := r.catalog.CacheRuleOf(raw.model)
	if !ok || len(rule.Lifetimes) == 0 {
		return rule.Name, 0
	}
	if raw.long {
		return rule.Name, rule.Lifetimes[len(rule.Lifetimes)-1]
	}
	return rule.Name, rule.Lifetimes[0]
}

// statedOf sums up what a file says that the calls of a segment cost. A sum with
// something unknown is unknown, and so is one of nothing.
func statedOf(seg sessionfile.Segment) catalog.Money {
	sum := catalog.Dollars(0)
	for _, e := range seg.Entries {
		switch s := e.Step; {
		case s == nil || s.Copied != "":
		case s.Cost > 0:
			sum = sum.Add(catalog.Dollars(s.Cost))
		case !s.Usage.IsZero():
			return catalog.Money{}
		}
	}
	if sum.Pico == 0 {
		return catalog.Money{}
	}
	return sum
}
