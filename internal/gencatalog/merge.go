package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// A model is what the tables get about one model.
type model struct {
	id, api           string
	window, output    int
	input             int // most tokens of a prompt; 0: the window is
	reasoning, vision bool
	sources           []string // that list it
	tiers             []catalog.Tier
	priceSources      string // empty: unknown, and no line
}

// merge makes the models of what the sources say, by id, and says where the
// sources disagree. The records stand with the newest source first. kept are the
// models of models.csv.
func merge(records []record, hand map[string]decision, kept []string) (models []model, disagreements []string) {
	named := map[string][]record{}
	for _, r := range records {
		if r.isTextModel() {
			id := canonical(r.maker, r.raw)
			named[id] = append(named[id], r)
		}
	}
	for id, rs := range maps.Clone(named) {
		for _, r := range rs {
			raw := strings.TrimSuffix(strings.ToLower(r.raw), "-preview")
			if _, ok := renamed()[raw]; !ok && raw != id && isOwn(r, chosen(rs, r.source, id)) {
				named[raw] = append(named[raw], r)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if isOnlyMatch(named[id]) && !slices.Contains(kept, id) {
			continue
		}
		m, differ := mergeOne(id, named[id], hand)
		disagreements = append(disagreements, differ...)
		if m.window > 0 {
			models = append(models, m)
		}
	}
	return models, disagreements
}

// isOnlyMatch reports whether no source lists a model as one.
func isOnlyMatch(records []record) bool {
	return !slices.ContainsFunc(records, func(r record) bool { return !r.match })
}

// isOwn reports whether a dated model is not what stands for its name without
// the date: another price, or another window.
func isOwn(r, stands record) bool {
	if strings.HasSuffix(r.raw, "-latest") || r.raw == stands.raw {
		return false
	}
	return r.priced && !r.sameBase(stands.base()) || r.window != stands.window && r.window > 0
}

// chosen returns the record by which a source speaks of a model: that of the name
// itself, else of the latest, else of the newest date.
func chosen(records []record, source, id string) record {
	var best record
	rank := func(r record) string {
		switch raw := strings.ToLower(r.raw); raw {
		case id:
			return "3"
		case id + "-latest":
			return "2"
		default:
			return "1" + raw
		}
	}
	for _, r := range records {
		if r.source == source && (best.raw == "" || rank(r) > rank(best)) {
			best = r
		}
	}
	return best
}

func mergeOne(id string, records []record, hand map[string]decision) (model, []string) {
	m := model{id: id}
	var said []record // one of each source
	for _, p := range pins() {
		if r := chosen(records, p.name, id); r.raw != "" {
			said = append(said, r)
			m.sources = append(m.sources, p.name)
		}
	}
	order := []string{"models.dev", "catwalk", "genai-prices"}
	if records[0].maker == "xai" { // of which catwalk has what is cheap instead of the window
		order = []string{"models.dev", "genai-prices", "catwalk"}
	}
	m.window = first(said, func(r record) int { return r.window }, order...)
	if n := first(said, func(r record) int { return r.input }, "models.dev"); n < m.window {
		m.input = n
	}
	m.output = min(first(said, func(r record) int { return r.output }, "models.dev", "catwalk"), m.window)
	for _, r := range said {
		m.reasoning, m.vision = m.reasoning || r.reasoning, m.vision || r.vision
	}
	m.api = apiName(id, records)
	if d, ok := hand[id]; ok {
		m.tiers, m.priceSources = d.tiers, d.source
		return m, nil
	}
	m.tiers, m.priceSources = prices(said)
	return m, disagreements(id, said, m.tiers)
}

// first returns the first figure that is stated, in an order of sources.
func first(said []record, figure func(record) int, order ...string) int {
	for _, source := range order {
		for _, r := range said {
			if r.source == source && figure(r) > 0 {
				return figure(r)
			}
		}
	}
	return 0
}

// apiName returns the name under which a maker's lists have the model; empty if
// that is its name here.
func apiName(id string, records []record) string {
	best := ""
	for _, r := range records {
		switch {
		case r.source == "genai-prices": // its names stand for patterns
		case r.raw == id:
			return ""
		case strings.EqualFold(r.raw, id):
			return r.raw // the API minds capitals
		case r.raw > best:
			best = r.raw
		}
	}
	return best
}

// prices returns what a model costs, and by which sources.
func prices(said []record) ([]catalog.Tier, string) {
	var lead record
	for _, r := range said {
		if r.hourly {
			return nil, ""
		}
		if !lead.priced && r.priced {
			lead = r
		}
	}
	if !lead.priced {
		return nil, ""
	}
	agree := slices.DeleteFunc(slices.Clone(said), func(r record) bool { return !r.sameBase(lead.base()) })
	tiers := slices.Clone(lead.tiers)
	for _, r := range agree {
		if len(r.tiers) > len(tiers) {
			tiers = slices.Clone(r.tiers)
		}
	}
	var names []string
	for _, r := range agree {
		names = append(names, r.source)
	}
	for i := range tiers { // the fields of catwalk for cached tokens are the least reliable
		tiers[i].CacheRead, tiers[i].CacheWrite5m, tiers[i].CacheWrite1h = catalog.UnknownPrice, catalog.UnknownPrice, catalog.UnknownPrice
		for _, source := range []string{"genai-prices", "models.dev", "catwalk"} {
			for _, r := range agree {
				if r.source == source {
					fill(&tiers[i], r)
				}
			}
		}
	}
	for i := range tiers {
		complete(&tiers[i].Prices, lead.maker)
	}
	return tiers, strings.Join(names, " ")
}

// fill takes over what r says and t has not.
func fill(t *catalog.Tier, r record) {
	i := slices.IndexFunc(r.tiers, func(o catalog.Tier) bool { return o.Above == t.Above })
	if i < 0 {
		return
	}
	o := r.tiers[i]
	for _, f := range []struct{ to, from *catalog.Price }{
		{&t.CacheRead, &o.CacheRead},
		{&t.CacheWrite5m, &o.CacheWrite5m},
		{&t.CacheWrite1h, &o.CacheWrite1h},
	} {
		if *f.to < 0 {
			*f.to = *f.from
		}
	}
}

// complete fills in what follows from the rest. With all makers but one, what
// nobody asks a price for when it is written to the cache costs what input costs.
// That one asks twice the input for the long lifetime wherever it asks 1.25 times
// for the short one (its documentation of prompt caching).
func complete(p *catalog.Prices, maker string) {
	switch {
	case maker != "anthropic":
		if p.CacheWrite5m < 0 {
			p.CacheWrite5m = p.Input
		}
	case p.CacheWrite1h < 0 && p.CacheWrite5m*4 == p.Input*5:
		p.CacheWrite1h = 2 * p.Input
	}
}

// disagreements says which sources ask something else than the tables say now.
func disagreements(id string, said []record, tiers []catalog.Tier) []string {
	if len(tiers) == 0 {
		return nil
	}
	p := tiers[0].Prices
	var out []string
	for _, r := range said {
		b := r.base()
		differs := r.priced && !r.sameBase(p)
		for _, pair := range [][2]catalog.Price{{b.CacheRead, p.CacheRead}, {b.CacheWrite5m, p.CacheWrite5m}, {b.CacheWrite1h, p.CacheWrite1h}} {
			differs = differs || r.priced && pair[0] >= 0 && pair[0] != pair[1]
		}
		if differs {
			out = append(out, fmt.Sprintf("%s: %s says %s, taken is %s", id, r.source, show(b), show(p)))
		}
	}
	return out
}

func show(p catalog.Prices) string {
	return fmt.Sprintf("%s/%s read %s write %s/%s", p.Input, p.Output, p.CacheRead, p.CacheWrite5m, p.CacheWrite1h)
}
