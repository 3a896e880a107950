package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// genaiMakers are the providers that are makers, with the maker's name.
func genaiMakers() map[string]string {
	return map[string]string{
		"anthropic": "anthropic", "openai": "openai", "google": "google", "x-ai": "xai", "deepseek": "deepseek",
		"moonshotai": "moonshotai", "zai": "zai", "mistral": "mistral", "minimax": "minimax", "cohere": "cohere",
	}
}

func readGenai(data []byte) ([]record, error) {
	script, err := fileOfTgz(data, "package/dist/index.js")
	if err != nil {
		return nil, fmt.Errorf("gencatalog: genai-prices: %w", err)
	}
	start := bytes.IndexByte(script, '[')
	if start < 0 {
		return nil, errors.New("gencatalog: genai-prices: want a list, got none")
	}
	tree, err := parseLiteral(string(script[start:]))
	if err != nil {
		return nil, fmt.Errorf("gencatalog: genai-prices: %w", err)
	}
	var out []record
	for _, p := range items(tree) {
		maker, ok := genaiMakers()[text(p, "id")]
		if !ok {
			continue
		}
		for _, m := range items(member(p, "models")) {
			out = append(out, genaiRecords(maker, m)...)
		}
	}
	return out, nil
}

func fileOfTgz(data []byte, name string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}

// genaiRecords returns a record for the model, and one for each further name that
// the source gives it letter by letter.
func genaiRecords(maker string, m any) []record {
	r := record{source: "genai-prices", maker: maker, raw: text(m, "id")}
	if n, ok := member(m, "context_window").(float64); ok {
		r.window = int(n)
	}
	prices, hourly := currentPrices(member(m, "prices"))
	r.hourly = hourly
	r.tiers, r.priced = genaiTiers(prices)
	out := []record{r}
	for _, name := range equalNames(member(m, "match")) {
		if name != r.raw {
			other := r
			other.raw, other.match = name, true
			out = append(out, other)
		}
	}
	return out
}

// currentPrices returns the prices of the day asOf, and whether there are others
// at some hours.
func currentPrices(v any) (prices any, hourly bool) {
	list, ok := v.([]any)
	if !ok {
		return v, false
	}
	for _, p := range list {
		c := member(p, "constraint")
		switch {
		case c == nil:
			prices = member(p, "prices")
		case text(c, "start_date") != "" && text(c, "start_date") <= asOf:
			prices = member(p, "prices")
		case text(c, "start_time") != "":
			hourly = true
		}
	}
	return prices, hourly
}

// equalNames returns the names that a match takes as they stand.
func equalNames(match any) []string {
	if name := text(match, "equals"); name != "" {
		return []string{name}
	}
	var out []string
	for _, m := range items(member(match, "or")) {
		out = append(out, equalNames(m)...)
	}
	return out
}

// genaiTiers turns the fields of a price, each with tiers of its own, into tiers
// with all of them. A start is the largest prompt that the tier is not for.
func genaiTiers(prices any) ([]catalog.Tier, bool) {
	starts := []int{0}
	fields := []string{"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok"}
	for _, f := range fields {
		for _, t := range items(member(member(prices, f), "tiers")) {
			if n, ok := member(t, "start").(float64); ok && !slices.Contains(starts, int(n)) {
				starts = append(starts, int(n))
			}
		}
	}
	slices.Sort(starts)
	var out []catalog.Tier
	for _, s := range starts {
		t := catalog.Tier{Above: s, Prices: catalog.UnknownPrices()}
		for i, to := range []*catalog.Price{&t.Input, &t.Output, &t.CacheRead, &t.CacheWrite5m, &t.CacheWrite1h} {
			*to = genaiPrice(member(prices, fields[i]), s)
		}
		out = append(out, t)
	}
	return out, out[0].Input > 0 && out[0].Output > 0
}

func genaiPrice(v any, start int) catalog.Price {
	if n, ok := v.(float64); ok {
		return price(n)
	}
	n, ok := member(v, "base").(float64)
	if !ok {
		return catalog.UnknownPrice
	}
	for _, t := range items(member(v, "tiers")) {
		from, _ := member(t, "start").(float64)
		if p, ok := member(t, "price").(float64); ok && int(from) <= start && start > 0 {
			n = p
		}
	}
	return price(n)
}

func items(v any) []any { list, _ := v.([]any); return list }

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

func text(v any, name string) string { s, _ := member(v, name).(string); return s }
