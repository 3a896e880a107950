package catalog

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestParsePrice(t *testing.T) {
	good := map[string]Price{
		"0": 0, "1": 1_000_000, "1.25": 1_250_000, "0.0028": 2_800, ".5": 500_000, "10.": 10_000_000, "0.000001": 1, "0.1000000": 100_000, "75": 75_000_000,
	}
	for s, want := range good {
		if got, ok := ParsePrice(s); !ok || got != want {
			t.Errorf("ParsePrice(%q) = %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", ".", "-1", "+1", "1e3", "1,5", "$1", "1.2.3", "0.0000001", "99999999", "?", " 1", "99999999999999999999"} {
		if got, ok := ParsePrice(s); ok || got != UnknownPrice {
			t.Errorf("ParsePrice(%q) = %d, %v, want it refused", s, got, ok)
		}
	}
	if got := UnknownPrice.String(); got != "?" {
		t.Errorf("an unknown price is written %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := Price(rapid.Int64Range(0, maxPrice).Draw(t, "price"))
		if got, ok := ParsePrice(p.String()); !ok || got != p {
			t.Fatalf("%d is written %q, read as %d, %v", p, p, got, ok)
		}
	})
}

// What the makers asked in autumn 2026, as the project's study of wire facts has it.
func TestPrices(t *testing.T) {
	tests := []struct{ id, input, output, read, write, long string }{
		{"claude-opus-5-5", "4", "20", "0.2", "5", "8"},
		{"claude-fable-5-1", "10", "50", "0.25", "12.5", "20"},
		{"claude-sonnet-5-5", "2", "10", "0.1", "2.5", "4"},
		{"claude-haiku-4-5-20251001", "1", "5", "0.1", "1.25", "2"},
		{"claude-opus-4-5", "5", "25", "0.5", "6.25", "10"},
		{"gpt-6.1-sol", "2", "10", "0.1", "2.5", "?"},
		{"gpt-5.6-sol", "4", "20", "0.4", "5", "?"},
		{"gpt-5.5", "5", "30", "0.5", "5", "?"}, // no charge for writing before 5.6
		{"gpt-4o", "2.5", "10", "1.25", "2.5", "?"},
		{"gpt-4.1", "2", "8", "0.5", "2", "?"},
		{"o3", "2", "8", "0.5", "2", "?"},
		{"gemini-4-argon", "2", "10", "0.1", "2", "?"},
		{"gemini-3.8-flash", "0.75", "3.75", "0.075", "0.75", "?"},
		{"kimi-k3", "3", "15", "0.3", "3", "?"},
		{"minimax-m2.7", "0.3", "1.2", "0.06", "0.375", "?"},
	}
	c := load(t)
	for _, tt := range tests {
		m, _ := c.Lookup(tt.id)
		p, ok := m.PricesAt(1000)
		got := []string{p.Input.String(), p.Output.String(), p.CacheRead.String(), p.CacheWrite5m.String(), p.CacheWrite1h.String()}
		for i, want := range []string{tt.input, tt.output, tt.read, tt.write, tt.long} {
			if !ok || got[i] != want {
				t.Errorf("%s: prices %v, want %+v", tt.id, got, tt)
				break
			}
		}
		if m.PriceSource == "" {
			t.Errorf("%s: its prices have no source", tt.id)
		}
	}
}

// Every price in the tables is one that can be: a hit is not dearer than input, a
// write not cheaper than it unless the maker says so, output not cheaper.
func TestPricesAreSane(t *testing.T) {
	for _, m := range load(t).Models() {
		above := -1
		for _, p := range m.Tiers {
			if p.Above <= above || p.Above < 0 {
				t.Errorf("%s: tier above %d behind one above %d", m.ID, p.Above, above)
			}
			above = p.Above
			if p.Input < 0 { // a tier that no source states
				continue
			}
			if p.Input == 0 || p.Output < p.Input || p.CacheRead > p.Input || p.CacheWrite5m > 2*p.Input || p.CacheWrite1h > 4*p.Input {
				t.Errorf("%s: %+v", m.ID, p)
			}
		}
		if len(m.Tiers) > 0 && m.Tiers[0].Above != 0 {
			t.Errorf("%s: short prompts have no price", m.ID)
		}
	}
}

// A tier holds for prompts above it, not at it, and for the whole prompt.
func TestTiers(t *testing.T) {
	c := load(t)
	m, _ := c.Lookup("gemini-2.5-pro")
	for _, tt := range []struct {
		prompt int
		want   string
	}{{0, "1.25"}, {1, "1.25"}, {200_000, "1.25"}, {200_001, "2.5"}, {1_000_000, "2.5"}} {
		if p, ok := m.PricesAt(tt.prompt); !ok || p.Input.String() != tt.want {
			t.Errorf("a prompt of %d tokens: %s, %v, want %s", tt.prompt, p.Input, ok, tt.want)
		}
	}
	late := Model{Tiers: []Tier{{Above: 10, Prices: Prices{Input: 5}}}}
	if p, ok := late.PricesAt(10); ok || p != UnknownPrices() {
		t.Errorf("below the first tier: %+v, %v, want nothing known", p, ok)
	}
	if p, ok := (Model{}).PricesAt(10); ok || p != UnknownPrices() {
		t.Errorf("without tiers: %+v, %v, want nothing known", p, ok)
	}
	sol, _ := c.Lookup("gpt-6.1-sol")
	if p, _ := sol.PricesAt(300_000); p.Input != UnknownPrice || p.Output != UnknownPrice {
		t.Errorf("a long tier that no source states: %+v, want it unknown", p)
	}
}

func TestCost(t *testing.T) {
	p := Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite5m: 3_750_000, CacheWrite1h: UnknownPrice}
	tests := []struct {
		name string
		u    llm.Usage
		want int64
		ok   bool
	}{
		{"nothing", llm.Usage{}, 0, true},
		{"all known parts", llm.Usage{Input: 1, Output: 2, CacheRead: 10, CacheWrite5m: 4}, 3_000_000 + 30_000_000 + 3_000_000 + 15_000_000, true},
		{"reasoning is within output", llm.Usage{Output: 2, Reasoning: 2}, 30_000_000, true},
		{"a part without a price", llm.Usage{Input: 1, CacheWrite1h: 1}, 0, false},
		{"a negative part", llm.Usage{Input: -1}, 0, false},
		{"a million calls of a million tokens", llm.Usage{Input: 1_000_000_000_000}, 3_000_000_000_000_000_000, true},
		{"more than fits", llm.Usage{Input: math.MaxInt64}, 0, false},
		{"a sum that does not fit", llm.Usage{Input: 3_000_000_000_000, Output: 600_000_000_000}, 0, false},
	}
	for _, tt := range tests {
		if got, ok := p.Cost(tt.u); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %d, %v, want %d, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if _, ok := UnknownPrices().Cost(llm.Usage{Output: 1}); ok {
		t.Error("a cost was made of unknown prices")
	}
}

// The name says which price holds. Where it may be another's, none is given.
func TestPricesByName(t *testing.T) {
	tests := []struct {
		id, model, input string // input "": not priced
	}{
		{"anthropic/claude-opus-4.8", "claude-opus-4-8", "5"},
		{"anthropic/claude-opus-4.8-fast", "claude-opus-4-8", ""},
		{"global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "3"},
		{"bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", "1"},
		{"anthropic.claude-3-5-sonnet-20240620-v1:0:200k", "claude-3-5-sonnet", "3"},
		{"vertex_ai/claude-opus-4-1@20250805", "claude-opus-4-1", "15"},
		{"claude-3.7-sonnet:thinking", "claude-3-7-sonnet", "3"},
		{"openrouter/anthropic/claude-4.5-sonnet", "claude-sonnet-4-5", "3"},
		{"azure/gpt-35-turbo", "gpt-3.5-turbo", "0.5"},
		{"gpt-4o-2024-05-13", "gpt-4o-2024-05-13", "5"},
		{"gpt-4o-2024-11-20", "gpt-4o", "2.5"},
		{"gpt-4-0613", "gpt-4", "30"},
		{"gpt-5-1-codex", "gpt-5.1-codex", "1.25"},
		{"openai/gpt-4o:extended", "gpt-4o", ""},
		{"google/gemini-2.0-flash:free", "gemini-2.0-flash", "0"},
		{"gemini-2.0-flash-exp", "gemini-2.0-flash", ""},
		{"gemini-2.0-flash-001", "gemini-2.0-flash", "0.1"},
		{"kimi-k2.5", "kimi-k2.5", "0.6"},
		{"moonshotai/kimi-k2.5", "kimi-k2.5", "0.6"},
		{"fireworks/accounts/models/kimi-k2.5", "kimi-k2.5", ""},
		{"openrouter/moonshotai/kimi-k2.5", "kimi-k2.5", ""},
		{"moonshot.kimi-k2-thinking", "kimi-k2-thinking", ""},
		{"openrouter/moonshotai/kimi-k2.5:free", "kimi-k2.5", "0"},
		{"qwen3-8b:q4", "qwen3-8b", ""},
		{"mistral-large-2512", "mistral-large-2512", "0.5"},
		{"mistral-large-2999", "mistral-large", ""},
		{"gpt-oss-120b", "gpt-oss-120b", ""},
		{"deepseek-v4-pro", "deepseek-v4-pro", ""}, // it depends on the hour
		{"gpt-5.9-foo", "", ""},
		{"gpt-5-foo", "", ""},
		{"claude-opus-5-5-mini", "", ""},
	}
	c := load(t)
	for _, tt := range tests {
		m, _ := c.Lookup(tt.id)
		p, ok := m.PricesAt(100)
		if m.ID != tt.model || ok != (tt.input != "") || ok && p.Input.String() != tt.input {
			t.Errorf("%s: %q at %s (%v), want %q at %q", tt.id, m.ID, p.Input, ok, tt.model, tt.input)
		}
	}
}
