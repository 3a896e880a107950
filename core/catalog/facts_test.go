package catalog

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCacheRules(t *testing.T) {
	c := load(t)
	tests := []struct {
		id, rule    string // "": none
		minimum     int
		first, last int // lifetimes in seconds
	}{
		{"claude-opus-5", "anthropic", 512, 300, 3600},
		{"claude-opus-4-7", "anthropic", 2048, 300, 3600},
		{"claude-haiku-4-5", "anthropic", 4096, 300, 3600},
		{"claude-sonnet-5", "anthropic", 1024, 300, 3600},
		{"gpt-5.5", "openai", 1024, 86400, 86400},
		{"gpt-5.6-luna", "openai-marks", 1024, 1800, 1800},
		{"gemini-2.5-pro", "gemini", 2048, 0, 0},
		{"gemini-3.8-flash", "gemini", 4096, 0, 0},
		{"deepseek-v4-pro", "automatic", 0, 0, 0},
		{"gpt-4-turbo", "", 0, 0, 0},
		{"no-such-model", "", 0, 0, 0},
	}
	for _, tt := range tests {
		r, ok := c.CacheRuleOf(tt.id)
		first, last := 0, 0
		if n := len(r.Lifetimes); n > 0 {
			first, last = r.Lifetimes[0], r.Lifetimes[n-1]
		}
		if r.Name != tt.rule || ok != (tt.rule != "") || r.Minimum != tt.minimum || first != tt.first || last != tt.last {
			t.Errorf("%s: %+v, %v, want %+v", tt.id, r, ok, tt)
		}
	}
	a, _ := c.CacheRule("anthropic")
	if !a.Marked || a.Marks != 4 || a.LookBack != 20 || !a.Refresh || a.Source == "" {
		t.Errorf("%+v", a)
	}
	a.Lifetimes[0] = 1
	if b, _ := c.CacheRule("anthropic"); b.Lifetimes[0] != 300 {
		t.Error("a rule can be changed through what is returned")
	}
	c.CacheRules()[0].Lifetimes[0] = 1
	if b, _ := c.CacheRule("anthropic"); b.Lifetimes[0] != 300 {
		t.Error("a rule can be changed through the list of rules")
	}
	if o, _ := c.CacheRule("openai"); o.Step != 128 || o.Marked {
		t.Errorf("%+v", o)
	}
}

// Which models bind thinking to its prefix decides what may be edited (law 6).
func TestCapabilities(t *testing.T) {
	c := load(t)
	var bound, forced []string
	for _, m := range c.Models() {
		if m.Capabilities.PrefixThinking {
			bound = append(bound, m.ID)
			if !m.Capabilities.DropBlock || !m.Capabilities.Reasoning {
				t.Errorf("%s: %v", m.ID, m.Capabilities.Words())
			}
		}
		if m.Capabilities.NoForcedTool {
			forced = append(forced, m.ID)
		}
	}
	want := []string{"claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-5-5"}
	if !slices.Equal(bound, want) || !slices.Equal(forced, want) {
		t.Errorf("bound %v, no forced tool %v, want both %v", bound, forced, want)
	}
	has := func(id, word string) bool {
		m, _ := c.Lookup(id)
		return slices.Contains(m.Capabilities.Words(), word)
	}
	if has("claude-sonnet-5", "mid-system") || !has("claude-sonnet-5-5", "mid-system") || !has("gpt-5.5", "mid-system") || has("gemini-3-pro", "mid-system") {
		t.Error("mid-system is not where it belongs")
	}
	if !has("gpt-4o", "vision") || has("gpt-4o", "reasoning") || !has("claude-sonnet-5-5", "account-bound") || has("claude-opus-5-5", "account-bound") {
		t.Error("vision, reasoning or account-bound is not where it belongs")
	}
	// Every word leads to a field of its own.
	var all Capabilities
	for _, w := range all.words() {
		*w.has = true
	}
	if v := reflect.ValueOf(all); len(all.Words()) != v.NumField() {
		t.Errorf("%d words for %d fields", len(all.Words()), v.NumField())
	} else {
		for i := range v.NumField() {
			if !v.Field(i).Bool() {
				t.Errorf("no word for %s", v.Type().Field(i).Name)
			}
		}
	}
}

func TestLimitsOf(t *testing.T) {
	c := load(t)
	want := map[string]Limits{
		"claude-opus-5": {32_000_000, 600}, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": {32_000_000, 100},
		"gpt-5": {}, "no-such-model": {},
	}
	for id, l := range want {
		if got := c.LimitsOf(id); got != l {
			t.Errorf("LimitsOf(%s) = %+v, want %+v", id, got, l)
		}
	}
}

// listed.csv is made by a program that reads prefixes.csv; both must say the same.
func TestListedFollowsPrefixes(t *testing.T) {
	c := load(t)
	for _, r := range rows("listed.csv", listedTable) {
		id, estimator, family := r.text(0), r.text(4), r.text(5)
		p, ok := c.prefix(id)
		if want := p.family; ok && family != want || !ok && family != UnknownFamily {
			t.Errorf("%s: family %s, want %s of prefixes.csv", id, family, want)
		}
		if p.encoding != "" && estimator != "tiktoken:"+p.encoding {
			t.Errorf("%s: estimator %s, want the encoding %s of prefixes.csv", id, estimator, p.encoding)
		}
	}
	for _, table := range []string{listedTable, pricesTable} {
		if !strings.Contains(table, "sha256 ") || !strings.Contains(table, "MIT") {
			t.Error("a generated table does not say what it was made of")
		}
	}
}

func TestWith(t *testing.T) {
	base := load(t)
	c := base.With(
		Model{ID: "GPT-5", Window: 1000, Tiers: []Tier{{Prices: Prices{Input: 7}}}, PriceSource: "mine"},
		Model{ID: "work/claude-opus-4-5-20251101", MaxOutput: 5, Capabilities: Capabilities{MidSystem: true}},
		Model{ID: "our-llama", Window: 8192, Cache: "openai"},
		Model{ID: "our-llama", MaxOutput: 100},
		Model{ID: "gpt-35-turbo", Window: 4000},
		Model{ID: "odd", Family: "no such family", Estimator: "bytes/4"},
		Model{ID: " "},
	)
	gpt, _ := c.Lookup("openai/gpt-5-2025-08-07")
	if gpt.Window != 1000 || gpt.MaxOutput != 128_000 || gpt.Tiers[0].Input != 7 || gpt.PriceSource != "mine" || gpt.Family != "openai" {
		t.Errorf("an entry over a known model: %+v", gpt)
	}
	opus, _ := c.Lookup("work/claude-opus-4-5-20251101")
	if opus.MaxOutput != 5 || opus.Window != 200_000 || len(opus.Tiers) == 0 || !opus.Capabilities.MidSystem || !opus.Capabilities.Vision {
		t.Errorf("an entry with a decorated name: %+v", opus)
	}
	if other, _ := c.Lookup("claude-opus-4-5"); other.MaxOutput != 64_000 {
		t.Errorf("the model behind the decorated name changed: %+v", other)
	}
	llama, _ := c.Lookup("our-llama")
	if llama.Window != 8192 || llama.MaxOutput != 100 || llama.Family != UnknownFamily || llama.Estimator == "" || llama.Tiers != nil {
		t.Errorf("a model that is not known: %+v", llama)
	}
	if r, ok := c.CacheRuleOf("our-llama"); !ok || r.Name != "openai" {
		t.Errorf("its cache: %+v", r)
	}
	if turbo, _ := c.Lookup("azure/gpt-35-turbo"); turbo.Window != 4000 {
		t.Errorf("an entry by an alias: %+v", turbo)
	}
	if odd, _ := c.Lookup("odd"); odd.Family != UnknownFamily+" counted by bytes/4" || odd.Estimator != "bytes/4" {
		t.Errorf("a family that is none: %+v", odd)
	}
	if !reflect.DeepEqual(base.Models(), load(t).Models()) {
		t.Error("With changed the catalogue it was called on")
	}
	if !slices.IsSortedFunc(c.Models(), func(a, b Model) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the models are no longer in order")
	}
	var none Catalog
	if m, ok := none.With(Model{ID: "m", Window: 5}).Lookup("m"); !ok || m.Window != 5 {
		t.Errorf("over an empty catalogue: %+v", m)
	}
}

// A look-up by what was found finds the same, in capitals or not, and decorations
// change no figure but prices and the window.
func TestLookupProperty(t *testing.T) {
	c := load(t)
	models := c.Models()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(models).Draw(t, "model")
		name := m.ID
		for _, d := range rapid.SliceOfN(rapid.SampledFrom([]string{"path", "date", "latest", "space", "capitals"}), 0, 4).Draw(t, "decorations") {
			switch d {
			case "path":
				name = "gateway/" + strings.TrimSpace(name)
			case "date":
				name = strings.TrimSpace(name) + "-20260101"
			case "latest":
				name = strings.TrimSpace(name) + "-latest"
			case "space":
				name = " " + name + "\t"
			case "capitals":
				name = strings.ToUpper(name)
			}
		}
		got, ok := c.Lookup(name)
		if !ok || got.ID != m.ID || got.Window != m.Window || got.Capabilities != m.Capabilities {
			t.Fatalf("Lookup(%q) = %+v, want %s", name, got, m.ID)
		}
		if again, _ := c.Lookup(strings.ToUpper(got.ID)); !reflect.DeepEqual(again, m) {
			t.Fatalf("Lookup of what was found = %+v, want %+v", again, m)
		}
	})
}

// TestOwnTokenizer: a model whose tokenizer the user states is counted by it wherever a count is made, which goes by family.
func TestOwnTokenizer(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	own := c.With(Model{ID: "harbour-9", Estimator: "tiktoken:cl100k_base"}, Model{ID: "claude-opus-4-5", Estimator: "hf:tok.json"}, Model{ID: "gpt-5.5", Family: "openai", Estimator: "chars/4"})
	for id, want := range map[string]string{
		"harbour-9": "tiktoken:cl100k_base", "claude-opus-4-5-20251101": "hf:tok.json", "gpt-5.5": "chars/4", "gpt-4o": "tiktoken:o200k_base",
	} {
		if f := own.FamilyOf(id); f.Estimator != want {
			t.Errorf("%s: estimator of its family, want %s, got %s", id, want, f.Estimator)
		}
	}
	claude, _ := c.Family("claude-old")
	if f := own.FamilyOf("claude-opus-4-5"); f.Message != claude.Message || f.Image != claude.Image || f.Prior != 1000 {
		t.Errorf("want the constants of claude-old as they stand and no prior, got %+v", f)
	}
	if _, ok := c.Family("claude-old counted by hf:tok.json"); ok {
		t.Error("the catalogue that With was called on has changed")
	}
}

// TestOtherProvider: prices of the maker are not those of somebody else who is named without any.
func TestOtherProvider(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	own := c.With(Model{ID: "kimi-k3", Provider: "me"}, Model{ID: "claude-opus-4-5", Window: 100_000})
	if m, _ := own.Lookup("openrouter/moonshotai/kimi-k3"); len(m.Tiers) != 0 {
		t.Errorf("kimi-k3 of another provider: want no price, got %+v", m.Tiers)
	}
	if m, _ := own.Lookup("claude-opus-4-5"); len(m.Tiers) == 0 || m.Window != 100_000 {
		t.Errorf("claude-opus-4-5 with another window: want its prices, got %+v", m)
	}
}
