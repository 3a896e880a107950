package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// The fields of a model, of its prices and of a tier of them; see Settings.
var (
	modelFields = []string{"window", "maxInput", "maxOutput", "tokenizer", "family", "provider", "api", "cache", "prices", "tiers"}
	priceFields = []string{"input", "output", "cacheRead", "cacheWrite", "cacheWrite1h"}
)

// modelSource is the source of what a file says about a model.
const modelSource = "settings"

// models reads the section models: names with what the catalogue is to say about
// them.
func (r *settingsReader) models(n *node) []catalog.Model {
	if n.kind != object && n.kind != null {
		r.fault(n, "models: want names with what is known about them, got %s", describe(n))
		return nil
	}
	var out []catalog.Model
	for _, m := range n.members {
		out = append(out, r.model(m.name, m.value))
	}
	return out
}

func (r *settingsReader) model(name string, n *node) catalog.Model {
	m := catalog.Model{ID: name, Source: modelSource}
	facts := ModelLimits{Model: laidID(name)}
	path := "models." + name
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\t\n[]") {
		r.fault(n, "%s: want the name of a model", path)
	}
	if n.kind != object {
		r.fault(n, "%s: want what is known about a model, got %s", path, describe(n))
		return m
	}
	var prices *node
	for _, f := range n.members {
		at := path + "." + f.name
		switch f.name {
		case "window":
			m.Window = r.tokens(at, f.value, 1)
			facts.ContextWindow = stated(r, at, f, m.Window)
		case "maxInput":
			m.MaxInput = r.tokens(at, f.value, 1)
		case "maxOutput":
			m.MaxOutput = r.tokens(at, f.value, 1)
		case "tokenizer":
			m.Estimator = r.tokenizer(at, f.value)
			facts.Tokenizer = stated(r, at, f, m.Estimator)
		case "family":
			m.Family = r.oneOf(at, f.value, r.known.Families)
		case "provider":
			m.Provider = strings.ToLower(r.text(at, f.value))
		case "api":
			m.API = r.text(at, f.value)
		case "cache":
			m.Cache = r.oneOf(at, f.value, r.known.Caches)
		case "prices":
			prices = f.value
			m.Tiers = append([]catalog.Tier{{Prices: r.prices(at, f.value, priceFields)}}, m.Tiers...)
			m.PriceSource = modelSource
		case "tiers":
			m.Tiers = append(m.Tiers, r.tiers(at, f.value)...)
		default:
			r.fault(f.value, "%s", unknownField(at, f.name, modelFields))
		}
	}
	if facts.Model != "" && facts.Limits != (Limits{}) {
		r.facts = append(r.facts, facts)
	}
	if len(m.Tiers) > 0 && prices == nil {
		r.fault(n.get("tiers"), "%s.tiers: want prices beside it, for prompts below the first tier", path)
	}
	return m
}

// tokens reads a number of tokens, with k or m behind it or not.
func (r *settingsReader) tokens(path string, n *node, least int) int {
	digits, want := figure(n, policy.UnitTokens)
	v, err := strconv.Atoi(digits)
	switch {
	case want != "":
		r.fault(n, "%s: want %s, got %s", path, want, describe(n))
		return 0
	case err != nil || v < least || v > mostTokens:
		r.fault(n, "%s: want %d to %d tokens, got %s", path, least, mostTokens, describe(n))
		return 0
	}
	return v
}

// mostTokens is more than any window has; it keeps sums in range.
const mostTokens = 1_000_000_000

func (r *settingsReader) tokenizer(path string, n *node) string {
	id := r.text(path, n)
	if id == "" || !r.tokenizerFile(path, id, n) || r.known.Tokenizer == nil {
		return id
	}
	if err := r.known.Tokenizer(id); err != nil {
		r.fault(n, "%s: %s", path, tokenizerFault(id, err))
		return ""
	}
	return id
}

// tokenizerFault says what is wrong with an estimator's id, and of one that names an
// unknown vocabulary which there are.
func tokenizerFault(id string, err error) string {
	name, ok := strings.CutPrefix(strings.TrimSpace(id), "tiktoken:")
	if _, unknown := errors.AsType[*token.UnknownError](err); !ok || !unknown {
		return err.Error()
	}
	known := vocabularies()
	return fmt.Sprintf("want tiktoken: with one of %s, or with a model that has one of them, got %q%s", strings.Join(known, ", "), name, meant(name, known))
}

// vocabularies are the names of those that are embedded; see bpe.Load.
func vocabularies() []string { return []string{"o200k_base", "cl100k_base", "o200k_harmony"} }

// oneOf reads a word of a list. An empty list takes every word.
func (r *settingsReader) oneOf(path string, n *node, known []string) string {
	word := r.text(path, n)
	if word != "" && len(known) > 0 && !slices.Contains(known, word) {
		r.fault(n, "%s: want one of %s, got %s%s", path, strings.Join(known, ", "), describe(n), meant(word, known))
		return ""
	}
	return word
}

// prices reads an object of prices. What writing to the cache costs is what input
// costs if it is not stated; any other price that is not stated is unknown.
func (r *settingsReader) prices(path string, n *node, fields []string) catalog.Prices {
	p := catalog.UnknownPrices()
	if n.kind != object {
		r.fault(n, "%s: want input, output and so on, got %s", path, describe(n))
		return p
	}
	for _, f := range n.members {
		at := path + "." + f.name
		switch f.name {
		case "input":
			p.Input = r.price(at, f.value)
		case "output":
			p.Output = r.price(at, f.value)
		case "cacheRead":
			p.CacheRead = r.price(at, f.value)
		case "cacheWrite":
			p.CacheWrite5m = r.price(at, f.value)
		case "cacheWrite1h":
			p.CacheWrite1h = r.price(at, f.value)
		default:
			if !slices.Contains(fields, f.name) {
				r.fault(f.value, "%s", unknownField(at, f.name, fields))
			}
		}
	}
	if n.get("cacheWrite") == nil {
		p.CacheWrite5m = p.Input
	}
	return p
}

// price reads dollars for a million tokens from their digits.
func (r *settingsReader) price(path string, n *node) catalog.Price {
	if n.kind == number || n.kind == text {
		if p, ok := catalog.ParsePrice(n.text); ok {
			return p
		}
	}
	r.fault(n, "%s: want dollars for a million tokens, such as 1.25, got %s", path, describe(n))
	return catalog.UnknownPrice
}

// tiers reads the prices of longer prompts.
func (r *settingsReader) tiers(path string, n *node) []catalog.Tier {
	if n.kind != list {
		r.fault(n, "%s: want a list of prices with above, got %s", path, describe(n))
		return nil
	}
	var out []catalog.Tier
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		above := item.get("above")
		if above == nil {
			r.fault(item, "%s: want above, the tokens that a prompt must exceed", at)
			continue
		}
		t := catalog.Tier{
			Above:  r.tokens(at+".above", above, 1),
			Prices: r.prices(at, item, append([]string{"above"}, priceFields...)),
		}
		if len(out) > 0 && t.Above <= out[len(out)-1].Above {
			r.fault(above, "%s.above: want more than the tier before it, got %s", at, describe(above))
		}
		out = append(out, t)
	}
	return out
}
