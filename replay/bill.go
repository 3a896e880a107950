package replay

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Bill is what the calls of a run cost: the tokens by what they are charged as, and
// the money. The parts of the prompts are disjoint. What was read from the provider's
// cache, and what was written to it, is simulated by package cache.
type Bill struct {
	CostUSD      catalog.Money `json:"cost_usd"` // null where a price is not known
	RawUSD       catalog.Money `json:"raw_usd"`  // of the client's own requests at the same Steps, simulated in the same way
	SavedUSD     catalog.Money `json:"saved_usd"`
	Input        int           `json:"input"` // tokens in full price
	CacheRead    int           `json:"cache_read"`
	CacheWrite5m int           `json:"cache_write_5m"`
	CacheWrite1h int           `json:"cache_write_1h"`
	Output       int           `json:"output"` // as recorded, or the size of the recorded reply
	CacheLost    int           `json:"cache_lost"`
	Unpriced     []string      `json:"unpriced"` // models without a price for something that they were used for
	// UnpricedParts says for each of Unpriced, in its order, which of its tokens have no
	// price. It is zero for a model without any price.
	UnpricedParts []UnpricedPart `json:"unpriced_parts,omitempty"`
}

// An UnpricedPart is the tokens of one model whose price is not known, while others of
// its prices are.
type UnpricedPart struct {
	Input        int `json:"input,omitempty"`
	CacheRead    int `json:"cache_read,omitempty"`
	CacheWrite5m int `json:"cache_write_5m,omitempty"`
	CacheWrite1h int `json:"cache_write_1h,omitempty"`
	Output       int `json:"output,omitempty"`
}

// add books what of a call has no price.
func (p *UnpricedPart) add(prices catalog.Prices, u llm.Usage) {
	for _, part := range []struct {
		price  catalog.Price
		tokens int
		sum    *int
	}{
		{prices.Input, u.Input, &p.Input},
		{prices.CacheRead, u.CacheRead, &p.CacheRead},
		{prices.CacheWrite5m, u.CacheWrite5m, &p.CacheWrite5m},
		{prices.CacheWrite1h, u.CacheWrite1h, &p.CacheWrite1h},
		{prices.Output, u.Output, &p.Output},
	} {
		if part.price < 0 {
			*part.sum += part.tokens
		}
	}
}

// A Billing says how the cache of a segment was simulated, and how far that is from
// what the provider reported.
type Billing struct {
	Cache       string        `json:"cache"` // name of the first model's rule, "off" where the client does not use it, "" if nothing is known
	Lifetime    int           `json:"lifetime_seconds"`
	ReportedUSD catalog.Money `json:"reported_usd"` // of the calls that were reported, by their own figures
	StatedUSD   catalog.Money `json:"stated_usd"`   // what the file itself says that they cost; null unless it does of every Step with a usage
	Compared    int           `json:"compared"`     // Steps whose cache figures were reported
	// Tokens of those Steps, as reported and as simulated for the same requests.
	ReadReported    int `json:"read_reported"`
	ReadSimulated   int `json:"read_simulated"`
	WriteReported   int `json:"write_reported"`
	WriteSimulated  int `json:"write_simulated"`
	ReadErrorP50PPM int `json:"read_error_p50_ppm"` // difference of a Step's reads, as a share of its prompt
}

// A biller books the calls of one run.
type biller struct {
	r      *Replayer
	raw    *raw
	models map[string]*priced
	bill   Bill
	breaks int
}

// A priced model has prices and a cache of its own.
type priced struct {
	model catalog.Model
	known bool
	cache *cache.Cache
}

func (r *Replayer) biller(raw *raw) *biller {
	return &biller{r: r, raw: raw, models: map[string]*priced{}, bill: Bill{CostUSD: catalog.Dollars(0), Unpriced: []string{}}}
}

// of returns a model with its cache, which is empty when it is first asked for.
func (b *biller) of(name string) *priced {
	if p, ok := b.models[name]; ok {
		return p
	}
	p := &priced{}
	p.model, p.known = b.r.catalog.Lookup(name)
	rule, _ := b.r.catalog.CacheRuleOf(name)
	if !b.raw.caches {
		rule = catalog.CacheRule{}
	}
	prices, _ := p.model.PricesAt(0)
	p.cache = cache.New(rule, cache.Options{Writes: prices.CacheWrite5m > prices.Input})
	b.models[name] = p
	return p
}

// send books the prompt of a Step.
func (b *biller) send(model string, req cache.Request) cache.Use {
	use := b.of(model).cache.Send(req)
	b.bill.Input += use.Input
	b.bill.CacheRead += use.CacheRead
	b.bill.CacheWrite5m += use.CacheWrite5m
	b.bill.CacheWrite1h += use.CacheWrite1h
	b.bill.CacheLost += use.Lost
	if use.Lost > 0 {
		b.breaks++
	}
	return use
}

// charge books what a Step cost, with its reply. It is not known where the client's
// own call was not charged by list prices.
func (b *biller) charge(step *rawStep, use llm.Usage) catalog.Money {
	use.Output = step.output
	b.bill.Output += step.output
	var cost catalog.Money
	if step.listed {
		model := b.model(step.model)
		if cost = b.of(model).cost(use); !cost.Known {
			b.unpriced(model, use)
		}
	}
	b.bill.CostUSD = b.bill.CostUSD.Add(cost)
	return cost
}

// unpriced notes a call whose cost is not known for want of a price.
func (b *biller) unpriced(model string, use llm.Usage) {
	i := slices.Index(b.bill.Unpriced, model)
	if i < 0 {
		i = len(b.bill.Unpriced)
		b.bill.Unpriced = append(b.bill.Unpriced, model)
		b.bill.UnpricedParts = append(b.bill.UnpricedParts, UnpricedPart{})
	}
	p := b.of(model)
	prices, ok := p.model.PricesAt(use.Prompt())
	if p.known && ok && prices != catalog.UnknownPrices() {
		b.bill.UnpricedParts[i].add(prices, use)
	}
}

// cost returns what a call costs, unknown where a price is.
func (p *priced) cost(u llm.Usage) catalog.Money {
	if !p.known {
		return catalog.Money{}
	}
	prices, ok := p.model.PricesAt(u.Prompt())
	if !ok {
		return catalog.Money{}
	}
	pico, ok := prices.Cost(u)
	return catalog.Money{Pico: pico, Known: ok}
}
