package config_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// knownModels is what the reader is told about models in these tests.
func knownModels() config.Known {
	k := known()
	k.Families, k.Caches = []string{"openai", "unknown"}, []string{"openai", "automatic"}
	k.Tokenizer = func(id string) error {
		if strings.HasPrefix(id, "tiktoken:") {
			return nil
		}
		return errors.New("no such tokenizer")
	}
	return k
}

const modelsYAML = `
models:
  my-model:
    window: 128k
    maxOutput: 16_384
    tokenizer: tiktoken:o200k_base
    family: openai
    provider: Team
    api: my-model-2026
    cache: automatic
    prices: {input: 1.25, output: 10, cacheRead: 0.125, cacheWrite1h: "2.5"}
    tiers:
      - {above: 64k, input: 2.5, output: 15, cacheRead: 0.25, cacheWrite: 3.125}
  gpt-5:
    prices: {input: 1, output: 8}
`

const modelsTOML = `
[models.my-model]
window = "128k"
maxOutput = 16_384
tokenizer = "tiktoken:o200k_base"
family = "openai"
provider = "Team"
api = "my-model-2026"
cache = "automatic"
prices = {input = 1.25, output = 10, cacheRead = 0.125, cacheWrite1h = "2.5"}
tiers = [{above = "64k", input = 2.5, output = 15, cacheRead = 0.25, cacheWrite = 3.125}]
[models.gpt-5]
prices = {input = 1, output = 8}
`

// What is said about a model means the same in both forms. What is not said about
// its prices stays unknown, but for writing to the cache.
func TestModels(t *testing.T) {
	want := []catalog.Model{
		{
			ID: "my-model", Window: 128_000, MaxOutput: 16_384, Estimator: "tiktoken:o200k_base", Family: "openai",
			Provider: "team", API: "my-model-2026", Cache: "automatic", Source: "settings", PriceSource: "settings",
			Tiers: []catalog.Tier{
				{Prices: catalog.Prices{Input: 1_250_000, Output: 10_000_000, CacheRead: 125_000, CacheWrite5m: 1_250_000, CacheWrite1h: 2_500_000}},
				{Above: 64_000, Prices: catalog.Prices{
					Input: 2_500_000, Output: 15_000_000, CacheRead: 250_000, CacheWrite5m: 3_125_000, CacheWrite1h: catalog.UnknownPrice,
				}},
			},
		},
		{ID: "gpt-5", Source: "settings", PriceSource: "settings", Tiers: []catalog.Tier{{Prices: catalog.Prices{
			Input: 1_000_000, Output: 8_000_000, CacheRead: catalog.UnknownPrice, CacheWrite5m: 1_000_000, CacheWrite1h: catalog.UnknownPrice,
		}}}},
	}
	for name, text := range map[string]string{"s.yaml": modelsYAML, "s.toml": modelsTOML} {
		got, err := config.ParseSettings(name, []byte(text), knownModels())
		if err != nil || !reflect.DeepEqual(got.Models, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got.Models, want)
		}
	}
}

// Everything that is wrong about a model is told with its place.
func TestModelFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"models: [a]", `1:1: models: want names with what is known about them, got a list`},
		{"models:\n  m: 5", `2:3: models.m: want what is known about a model, got 5`},
		{"models:\n  'm[1m]': {window: 5}", `2:3: models.m[1m]: want the name of a model`},
		{"models:\n  m: {windw: 5}", `2:7: models.m.windw: no such field, did you mean window?`},
		{"models:\n  m: {max_output: 5}", `2:7: models.m.max_output: no such field, did you mean maxOutput?`},
		{"models:\n  m: {window: 1.5}", `2:7: models.m.window: want an integer, or thousands or millions such as 128k and 1m, got 1.5`},
		{"models:\n  m: {window: 0}", `2:7: models.m.window: want 1 to 1000000000 tokens, got 0`},
		{"models:\n  m: {tokenizer: x}", `2:7: models.m.tokenizer: no such tokenizer`},
		{"models:\n  m: {family: opnai}", `2:7: models.m.family: want one of openai, unknown, got "opnai"; did you mean openai?`},
		{"models:\n  m: {cache: x}", `2:7: models.m.cache: want one of openai, automatic, got "x"`},
		{"models:\n  m: {prices: 5}", `2:7: models.m.prices: want input, output and so on, got 5`},
		{"models:\n  m: {prices: {input: $5}}", `2:16: models.m.prices.input: want dollars for a million tokens, such as 1.25, got "$5"`},
		{"models:\n  m: {prices: {input: -1}}", `2:16: models.m.prices.input: want dollars`},
		{"models:\n  m: {prices: {input: 1e3}}", `2:16: models.m.prices.input: want dollars`},
		{"models:\n  m: {prices: {inptu: 1}}", `2:16: models.m.prices.inptu: no such field, did you mean input?`},
		{"models:\n  m: {prices: {above: 1}}", `2:16: models.m.prices.above: no such field`},
		{"models:\n  m: {tiers: [{above: 5, input: 1}]}", `2:7: models.m.tiers: want prices beside it`},
		{"models:\n  m: {prices: {input: 1}, tiers: {}}", `models.m.tiers: want a list of prices with above, got an object`},
		{"models:\n  m: {prices: {input: 1}, tiers: [{input: 1}]}", `models.m.tiers[0]: want above`},
		{"models:\n  m: {prices: {input: 1}, tiers: [{above: 5}, {above: 5}]}", `models.m.tiers[1].above: want more than the tier before it, got 5`},
	} {
		_, err := config.ParseSettings("s.yaml", []byte(c.text), knownModels())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// The working folder's word about a model goes before the user's, field by field.
func TestFindModels(t *testing.T) {
	working := folder(t, "plimsoll.yaml", "models: {m: {window: 5k, maxOutput: 1k}}")
	user := folder(t, "plimsoll.yaml", "models: {m: {window: 9k, provider: me}, n: {window: 1k}}")
	s, err := config.FindSettings(working, user, knownModels())
	if err != nil {
		t.Fatal(err)
	}
	var c catalog.Catalog
	m, _ := c.With(s.Models...).Lookup("m")
	if m.Window != 5_000 || m.MaxOutput != 1_000 || m.Provider != "me" {
		t.Errorf("got %+v", m)
	}
	if n, ok := c.With(s.Models...).Lookup("n"); !ok || n.Window != 1_000 {
		t.Errorf("got %+v", n)
	}
}

// Whose prices the working folder states can be told.
func TestPricesHere(t *testing.T) {
	priced := folder(t, "plimsoll.yaml", "models: {m: {prices: {input: 1}}, n: {window: 1k}}")
	s, err := config.FindSettings(priced, folder(t), knownModels())
	if err != nil || s.PricesFrom != filepath.Join(priced, "plimsoll.yaml") || !reflect.DeepEqual(s.Priced, []string{"m"}) {
		t.Errorf("got %q, %q, %v", s.PricesFrom, s.Priced, err)
	}
	capitals := folder(t, "plimsoll.yaml", "models: {My-Model: {prices: {input: 1}}}")
	if s, err := config.FindSettings(capitals, "", knownModels()); err != nil || !reflect.DeepEqual(s.Priced, []string{"my-model"}) {
		t.Errorf("in other letters: got %q, %v", s.Priced, err)
	}
	if s, err := config.FindSettings(folder(t), priced, knownModels()); err != nil || s.PricesFrom != "" || s.Priced != nil {
		t.Errorf("the user's own: got %q, %q, %v", s.PricesFrom, s.Priced, err)
	}
}
