package replay

import (
	"math"
	"math/bits"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// A Bill is what the calls of a run cost: the tokens by what they are charged as, and
// the money. The parts of the prompts are disjoint. A request that the client sent too
// is charged as the client's was; see the package comment for the others.
type Bill struct {
	CostUSD  catalog.Money `json:"cost_usd"` // null where a price is not known
	RawUSD   catalog.Money `json:"raw_usd"`  // that the client's own requests at the same Steps cost
	SavedUSD catalog.Money `json:"saved_usd"`
	// LookUpsUSD is what it would cost to read again what was not visible, one call each: it is
	// in no other figure. Null where nobody looked, or a price is not known.
	LookUpsUSD   catalog.Money `json:"look_ups_usd"`
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
	p := &priced{cache: cache.New(catalog.CacheRule{}, cache.Options{})}
	p.model, p.known = b.r.catalog.Lookup(name)
	if b.raw.caches {
		p.cache = cache.Of(b.r.catalog, name)
	}
	b.models[name] = p
	return p
}

// send follows the request of a Step through the provider's cache.
func (b *biller) send(model string, req cache.Request) cache.Use { return b.of(model).cache.Send(req) }

// charge books what a Step was charged for.
func (b *biller) charge(step rawStep, use cache.Use, as inspect.Charge) {
	u := as.Usage
	b.bill.Input += u.Input
	b.bill.CacheRead += u.CacheRead
	b.bill.CacheWrite5m += u.CacheWrite5m
	b.bill.CacheWrite1h += u.CacheWrite1h
	b.bill.Output += u.Output
	b.bill.CacheLost += use.Lost
	if use.Lost > 0 {
		b.breaks++
	}
	if !as.CostUSD.Known && step.listed {
		b.unpriced(b.model(step.model), u)
	}
	b.bill.CostUSD = b.bill.CostUSD.Add(as.CostUSD)
}

// model returns the model that a Step is charged as.
func (b *biller) model(recorded string) string {
	if b.r.opts.Model != "" || recorded == "" {
		return b.raw.model
	}
	return recorded
}

// instead returns what a Step is charged for that sends another request than the
// client's. The simulation says what that reads and writes; what the provider reported
// for the client's request says how far the simulation was off at that Step. Where it
// read less, it reads less of this one in the same proportion. Where it read more, as
// from what another session left warm, it reads that much of this one too, as far as
// the two begin alike: shared tokens. What is not read is divided as it was reported.
func (b *biller) instead(step rawStep, use llm.Usage, shared int) inspect.Charge {
	u := use
	got, expected := step.Usage, step.Simulated
	switch total := use.Prompt(); {
	case step.reported || step.Shared:
		read := max(use.CacheRead, min(got.CacheRead, shared, total))
		if got.CacheRead < expected.CacheRead {
			read = portion(use.CacheRead, got.CacheRead, expected.CacheRead)
		}
		u = divided(total-read, got, use)
		u.CacheRead = read
	default: // hidden requests of a hosted tool come on top
		u.Input += max(got.Input-expected.Input, 0)
		u.CacheRead += max(got.CacheRead-expected.CacheRead, 0)
		u.CacheWrite5m += max(got.CacheWrite5m-expected.CacheWrite5m, 0)
		u.CacheWrite1h += max(got.CacheWrite1h-expected.CacheWrite1h, 0)
	}
	u.Output, u.Reasoning = got.Output, got.Reasoning
	out := inspect.Charge{Usage: u, Simulated: use, CostKind: inspect.CostEstimated}
	if step.listed {
		out.CostUSD = b.like(step, u)
	}
	return out
}

// like returns what a usage costs at the rate that the client paid: list prices, and
// what the file states in proportion to them.
func (b *biller) like(step rawStep, u llm.Usage) catalog.Money {
	model := b.of(b.model(step.model))
	cost, listed := model.cost(u), model.cost(step.Usage)
	if !cost.Known || !listed.Known || !step.CostUSD.Known || listed.Pico <= 0 || step.CostUSD == listed {
		return cost
	}
	return catalog.Dollars(scaled(cost.Pico, step.CostUSD.Pico, listed.Pico))
}

// divided divides so many tokens that were not read as those of got were; where got has
// none, as those of use.
func divided(tokens int, got, use llm.Usage) llm.Usage {
	like := got
	rest := like.Prompt() - like.CacheRead
	if rest <= 0 {
		like = use
		rest = like.Prompt() - like.CacheRead
	}
	u := llm.Usage{CacheWrite5m: portion(tokens, like.CacheWrite5m, rest), CacheWrite1h: portion(tokens, like.CacheWrite1h, rest)}
	u.Input = tokens - u.CacheWrite5m - u.CacheWrite1h
	return u
}

// portion returns n·part/whole, and 0 of nothing.
func portion(n, part, whole int) int { return int(scaled(int64(n), int64(part), int64(whole))) }

// scaled returns n·part/whole, and 0 of nothing. The product may be larger than an
// integer holds.
func scaled(n, part, whole int64) int64 {
	if n <= 0 || part <= 0 || whole <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), uint64(part))
	if high >= uint64(whole) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(high, low, uint64(whole))
	return int64(min(q, math.MaxInt64))
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
