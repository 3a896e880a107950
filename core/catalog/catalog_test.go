package catalog

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func load(t testing.TB) Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLookup(t *testing.T) {
	tests := []struct {
		id, want string // "": not known
		window   int
	}{
		{"claude-opus-4-5", "claude-opus-4-5", 200_000},
		{"claude-opus-4-5-20251101", "claude-opus-4-5", 200_000},
		{"anthropic/claude-opus-4.8-fast", "claude-opus-4-8", 1_000_000},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", 200_000},
		{"claude-sonnet-4@20250514", "claude-sonnet-4", 200_000},
		{"claude-sonnet-4.6", "claude-sonnet-4-6", 1_000_000},
		{"claude-opus-4-6[1m]", "claude-opus-4-6", 1_000_000},
		{"Claude-Sonnet-4-5-20250929[1M]", "claude-sonnet-4-5", 1_000_000},
		{"claude-haiku-4-5-20251001", "claude-haiku-4-5", 200_000},
		{"claude-3-5-sonnet-latest", "claude-3-5-sonnet", 200_000},
		{"gpt-5.4-2026-03-05", "gpt-5.4", 1_050_000},
		{"gpt-5.5/xhigh", "gpt-5.5", 1_050_000},
		{"openai.gpt-5.6-luna", "gpt-5.6-luna", 1_050_000},
		{"openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini", 128_000},
		{"openrouter/openai/gpt-4o:free", "gpt-4o", 128_000},
		{"gpt-3.5-turbo-0125", "gpt-3.5-turbo", 16_385},
		{"gpt-4-0613", "gpt-4", 8_192},
		{"gpt-4-1106-preview", "gpt-4-1106", 128_000},
		{"o4-mini-2025-04-16", "o4-mini", 200_000},
		{"models/gemini-2.5-flash-preview-05-20", "gemini-2.5-flash", 1_048_576},
		{"gemini-3-flash-preview", "gemini-3-flash", 1_048_576},
		{"gemini-2.0-flash-001", "gemini-2.0-flash", 1_048_576},
		{"glm-4.7", "glm-4.7", 200_000},
		{"moonshotai/kimi-k2", "kimi-k2", 131_072},
		{" gpt-5 ", "gpt-5", 400_000},
		{"gpt-5-2025-08-07", "gpt-5", 400_000},
		{"", "", 0},
		{"gpt", "", 0},
		{"claude-opus-4-5-turbo", "", 0},
		{"<synthetic>", "", 0},
		{"some/unknown-model-20250101[1m]", "", 0},
		{strings.Repeat("a/", 4000), "", 0},
	}
	c := load(t)
	for _, tt := range tests {
		m, ok := c.Lookup(tt.id)
		if m.ID != tt.want || ok != (tt.want != "") || m.Window != tt.window {
			t.Errorf("Lookup(%.60q) = %q, %v, window %d, want %q, window %d", tt.id, m.ID, ok, m.Window, tt.want, tt.window)
		}
	}
}

// The generation of a model's tokenizer decides how its prompts are estimated.
func TestFamilyOf(t *testing.T) {
	want := map[string]string{
		"claude-sonnet-4-20250514": "claude-old", "claude-opus-4-5": "claude-old", "claude-opus-4-6": "claude-old", "claude-sonnet-4-5": "claude-old",
		"claude-opus-4.8": "claude-new", "claude-opus-5": "claude-new", "claude-sonnet-5": "claude-new", "claude-fable-5": "claude-new",
		"claude-opus-9-20290101": "claude-new", "anthropic/claude-sonnet-4-9": "claude-old", "claude-3-9-sonnet": "claude-old",
		"gpt-5.5": "openai", "gpt-5.9-nova": "openai", "o3-pro": "openai", "azure/gpt-35-turbo": "openai",
		"gemini-3-flash-preview": "gemini", "gemini-9-pro": "gemini",
		"glm-4.7": "unknown", "mistral-large": "unknown", "": "unknown",
	}
	c := load(t)
	for id, name := range want {
		if got := c.FamilyOf(id); got.Name != name {
			t.Errorf("FamilyOf(%q) = %q, want %q", id, got.Name, name)
		}
	}
}

func TestEncodingFor(t *testing.T) {
	want := map[string]string{
		"gpt-4": "cl100k_base", "gpt-4-0613": "cl100k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-4-turbo-2024-04-09": "cl100k_base",
		"gpt-4o": "o200k_base", "openai/gpt-4.1-mini": "o200k_base", "gpt-5.3-codex": "o200k_base", "gpt-5.9-nova": "o200k_base",
		"o3-pro": "o200k_base", "gpt-oss-20b": "o200k_harmony", "openai/gpt-oss-120b": "o200k_harmony", "cl100k_base": "cl100k_base",
		"claude-opus-5": "", "gemini-2.5-pro": "", "glm-4.7": "", "": "", "nonsense": "",
	}
	c := load(t)
	for id, encoding := range want {
		if got, ok := c.EncodingFor(id); got != encoding || ok != (encoding != "") {
			t.Errorf("EncodingFor(%q) = %q, %v, want %q", id, got, ok, encoding)
		}
	}
}

// The tables are complete: every figure is there and in range.
func TestTables(t *testing.T) {
	c := load(t)
	for _, m := range c.Models() {
		if m.Window < 4096 || m.MaxOutput < 0 || m.MaxOutput > m.Window || m.Estimator == "" || m.Source == "" || m.Provider == "" {
			t.Errorf("model %+v", m)
		}
		if strings.ToLower(m.ID) != m.ID {
			t.Errorf("model %q is not in lower case", m.ID)
		}
		if got, ok := c.Lookup(m.ID); !ok || !reflect.DeepEqual(got, m) {
			t.Errorf("model %q is found as %+v", m.ID, got)
		}
	}
	if len(c.Models()) < 50 {
		t.Errorf("%d models", len(c.Models()))
	}
	for _, f := range c.Families() {
		if f.Prior < 500 || f.Prior > 2000 || f.First <= 0 || f.More <= 0 || f.Message <= 0 || f.Use <= 0 || f.Image.Tokens(0, 0, "") <= 0 || f.Image.Page() <= 0 || f.Estimator == "" {
			t.Errorf("family %+v", f)
		}
	}
	if f, ok := c.Family(UnknownFamily); !ok || f != c.FamilyOf("nobody knows this") {
		t.Errorf("the family of unknown models is %+v", f)
	}
	models, families := c.Models(), c.Families()
	models[0], families[0] = Model{}, Family{}
	if c.Models()[0].ID == "" || c.Families()[0] == families[0] {
		t.Error("the catalogue can be changed through what it returns")
	}
}

func TestOverheadOf(t *testing.T) {
	tests := []struct {
		client, version, family string
		typical                 int // 0: not known
	}{
		{"claude-code", "1.0.95", "claude-old", 15_000},
		{"claude-code", "2.1.39", "claude-old", 33_400},
		{"claude-code", "2.1.217", "claude-new", 41_500},
		{"claude-code", "", "", 41_500},
		{"claude-code/sub-agent", "2.1.39", "claude-old", 12_000},
		{"codex", "0.39.0", "openai", 6_300},
		{"opencode", "", "claude-new", 11_000},
		{"pi", "", "", 1_600},
		{"somebody", "1", "openai", 0},
	}
	c := load(t)
	for _, tt := range tests {
		o, ok := c.OverheadOf(tt.client, tt.version, tt.family)
		if o.Typical != tt.typical || ok != (tt.typical > 0) {
			t.Errorf("OverheadOf(%q, %q, %q) = %+v, %v, want %d", tt.client, tt.version, tt.family, o, ok, tt.typical)
		}
		if o.Low > o.Typical || o.Typical > o.High {
			t.Errorf("%+v is not in order", o)
		}
	}
}

func TestDialects(t *testing.T) {
	c := load(t)
	for _, d := range c.dialects {
		if got, ok := c.Dialect(d.Name); !ok || got != d || d.Image == Drop {
			t.Errorf("dialect %+v is found as %+v", d, got)
		}
		if !d.ToolName.Allows("read_file") || !d.CallID.Allows("call_1") {
			t.Errorf("%s: want ordinary names to fit, got %+v", d.Name, d)
		}
	}
	if d, ok := c.Dialect("nobody"); ok {
		t.Errorf("want nothing, got %+v", d)
	}
	tests := []struct {
		rule NameRule
		name string
		want bool
	}{
		{NameRule{Extra: "_-", Max: 4}, "a_-9", true},
		{NameRule{Extra: "_-", Max: 4}, "a_-99", false},
		{NameRule{Extra: "_-"}, "a.b", false},
		{NameRule{Extra: "_-"}, "é", false},
		{NameRule{Any: true}, "call:1/é", true},
		{NameRule{Any: true}, "", false},
	}
	for _, tt := range tests {
		if got := tt.rule.Allows(tt.name); got != tt.want {
			t.Errorf("%+v allows %q: want %v, got %v", tt.rule, tt.name, tt.want, got)
		}
	}
}

// A faulty table is refused with its line and what is wrong.
func TestFaultyTables(t *testing.T) {
	good := embedded()
	tests := []struct {
		name   string
		change func(*tables)
		want   string
	}{
		{"unknown family", func(t *tables) { t.models += "x, 1, 0, 1, pieces, nobody, assumed\n" }, `family, want one of families.csv, got "nobody"`},
		{"no number", func(t *tables) { t.models += "x, many, 0, 1, pieces, unknown, assumed\n" }, "field 2"},
		{"negative number", func(t *tables) { t.clients += "x, -, -, -1, 2, 3\n" }, "want a number from 0"},
		{"too few fields", func(t *tables) { t.prefixes += "x, openai\n" }, "fields, want 3"},
		{"too many fields", func(t *tables) { t.families += "x, -, -, 1, 1, 1, 1, 1, 1, 0, claude, 1, 1, 1, 1\n" }, "fields, want 14, got 15"},
		{"a fate that is none", func(t *tables) {
			t.dialects += "x, any, 0, any, 0, lose, keep, keep, keep, keep, keep, keep, keep, keep, keep, any, 1, 0, keep, any\n"
		}, "want keep, note or drop, got lose"},
		{"a listed model twice", func(t *tables) {
			t.listed += "gpt-5, 1, 0, 1, pieces, unknown, -, -, x\nx, 1, 0, 1, pieces, unknown, -, -, x\nx, 1, 0, 1, pieces, unknown, -, -, x\n"
		}, `listed.csv: model "x", want it once`},
		{"a capability that is none", func(t *tables) { t.listed += "x, 1, 0, 1, pieces, unknown, flying, -, x\n" }, "capability, want one of capability.go, got flying"},
		{"no price", func(t *tables) { t.prices += "gpt-5, 9, $1, 1, 1, 1, 1, x\n" }, `want dollars for a million tokens, or ?, got "$1"`},
		{"a price of no model", func(t *tables) { t.prices += "nobody, 0, 1, 1, 1, 1, 1, x\n" }, `want one of models.csv or listed.csv, got "nobody"`},
		{"tiers out of order", func(t *tables) { t.prices += "gpt-5, 0, 1, 1, 1, 1, 1, x\n" }, "tier, want an ascending order, got 0"},
		{"an alias of no model", func(t *tables) { t.aliases += "x, nobody\n" }, `got "nobody"`},
		{"a fact about no model", func(t *tables) { t.facts += "nobody, -, 0, 0, -\n" }, `got "nobody"`},
		{"a cache that is none", func(t *tables) { t.facts += "gpt-5, nobody, 0, 0, -\n" }, "cache, want one of caches.csv, got nobody"},
		{"a maker's cache that is none", func(t *tables) { t.providers += "x, x-, x, own, nobody, 0, 0, -\n" }, "cache, want one of caches.csv, got nobody"},
		{"a maker without a rule for others", func(t *tables) { t.providers += "x, x-, x, maybe, -, 0, 0, -\n" }, "want same or own, got maybe"},
		{"lifetimes out of order", func(t *tables) { t.caches += "x, marked, 1, 1, 1, 1, 9 5, fixed, -, x\n" }, "lifetimes, want an ascending list"},
		{"a lifetime that is none", func(t *tables) { t.caches += "x, marked, 1, 1, 1, 1, long, fixed, -, x\n" }, "want a number from 0"},
		{"a model twice", func(t *tables) { t.models += "gpt-5, 1, 0, 1, pieces, unknown, -, assumed\n" }, "got it twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			faulty := good
			tt.change(&faulty)
			if _, err := parse(faulty); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %s", err, tt.want)
			}
		})
	}
}

// Names of any shape end, and decorations do not change what is found.
func FuzzLookup(f *testing.F) {
	for _, id := range []string{"anthropic/claude-opus-4-5-20251101", "gpt-5.5/high", "a.b.c/d:e@f[1m]", "x-0000-00-00", "....", "-v1"} {
		f.Add(id)
	}
	c := load(f)
	ids := c.Models()
	f.Fuzz(func(t *testing.T, id string) {
		m, ok := c.Lookup(id)
		if ok != slices.ContainsFunc(ids, func(known Model) bool { return known.ID == m.ID }) {
			t.Fatalf("Lookup(%q) = %+v, %v", id, m, ok)
		}
		if family := c.FamilyOf(id); family.Name == "" || ok && family.Name != m.Family {
			t.Fatalf("FamilyOf(%q) = %q, Lookup says %q", id, family.Name, m.Family)
		}
		if again, found := c.Lookup("openrouter/maker/" + m.ID + "-20250101"); ok && (!found || again.ID != m.ID) {
			t.Fatalf("%q, decorated, is %q", m.ID, again.ID)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	c := load(b)
	b.ReportAllocs()
	for b.Loop() {
		c.Lookup("anthropic/claude-opus-4-5-20251101")
	}
}
