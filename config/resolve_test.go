package config_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func preset(name string) policy.Policy {
	p, err := policy.Preset(name)
	if err != nil {
		panic(err)
	}
	return p
}

// query asks for a model that the catalogue does not have.
func query(policyName string) config.Query {
	c, err := catalog.Load()
	if err != nil {
		panic(err)
	}
	return config.Query{Provider: "openai", Model: "gpt-x", Policy: preset(policyName), Catalog: c}
}

// The document's example leaves the limit that it states.
func TestResolveDocument(t *testing.T) {
	for name, text := range map[string]string{"p.yaml": guardYAML, "p.toml": guardTOML} {
		t.Run("R000-24 "+name, func(t *testing.T) {
			q := query("guard")
			q.Model = "gpt-4-turbo"
			r, err := parse(t, name, text).Resolve(q)
			if err != nil || r.Figures.Window() != (budget.Window{Capacity: 128_000, Buffer: 8_192, OutputReserve: 16_384}) || r.Limit() != 103_424 {
				t.Fatalf("got %+v, %v", r.Figures, err)
			}
			if r.ToolResponseMaxBytes.Value != 12_288 || r.Reasoning.Value != "" || r.Assumed {
				t.Errorf("got %+v", r)
			}
			if !strings.HasSuffix(r.Capacity.Source, " providers.openai.models.gpt-4-turbo.contextWindow") || r.Buffer.Source != "preset guard" {
				t.Errorf("sources: %+v", r.Figures)
			}
		})
	}
}

// Each figure comes from the nearest place that states it.
func TestResolve(t *testing.T) {
	const provider, model = "providers: {openai: {contextWindow: 100000, contextWindowBufferTokens: 300", "models: {gpt-x: {contextWindow: 50000, contextWindowBufferTokens: 200, maxOutputTokens: 1000}}"
	const defaults = "\ndefaults: {contextWindowBufferTokens: 400, maxOutputTokens: 2000, contextWindow: 60000}"
	figures := func(capacity, buffer, output int) budget.Window {
		return budget.Window{Capacity: capacity, Buffer: buffer, OutputReserve: output}
	}
	for _, c := range []struct {
		name, text, override, model string
		want                        budget.Window
		source                      string // of the capacity
	}{
		{"R000-8 R000-9 R000-7 nothing stated", "", "", "", figures(131_072, 8_192, 32_768), "preset guard (window not known)"},
		{"R000-8 model before provider", provider + ", " + model + "}}" + defaults, "", "", figures(50_000, 200, 1_000), "s.yaml:1 providers.openai.models.gpt-x.contextWindow"},
		{"R000-8 provider", provider + "}}" + defaults, "", "", figures(100_000, 300, 2_000), "s.yaml:1 providers.openai.contextWindow"},
		{"R000-8 override before model", provider + ", " + model + "}}", "contextWindow=70k", "", figures(70_000, 200, 1_000), "override contextWindow"},
		{"R000-8 what is known stands before the fallback", "", "", "gpt-4-turbo", figures(128_000, 8_192, 32_000), "catalogue (vendor)"},
		{"R000-8 and behind the provider", provider + "}}", "", "gpt-4-turbo", figures(100_000, 300, 25_000), "s.yaml:1 providers.openai.contextWindow"},
		{"R000-8 defaults are for windows that nobody knows", defaults, "", "gpt-4-turbo", figures(128_000, 400, 2_000), "catalogue (vendor)"},
		{"R000-8 the fallback of the file", defaults, "", "", figures(60_000, 400, 2_000), "s.yaml:2 defaults.contextWindow"},
		{"R000-8 another provider's", strings.ReplaceAll(provider, "openai", "anthropic") + "}}", "", "", figures(131_072, 8_192, 32_768), "preset guard (window not known)"},
		{"R000-8 the section models", "models: {gpt-x: {window: 64k}}", "", "", figures(64_000, 8_192, 16_000), "s.yaml:1 models.gpt-x.window"},
		{"R000-8 the section models, changed", "models: {gpt-4-turbo: {maxOutput: 9}}", "", "gpt-4-turbo", figures(128_000, 8_192, 32_000), "catalogue (vendor)"},
		{"R000-9 a stated 0 is stated", "providers: {openai: {contextWindowBufferTokens: 0}}" + defaults, "", "gpt-4-turbo", figures(128_000, 0, 2_000), "catalogue (vendor)"},
		{"R000-7 a quarter is rounded down", "providers: {openai: {contextWindow: 131071}}", "", "", figures(131_071, 8_192, 32_767), "s.yaml:1 providers.openai.contextWindow"},
		{"R000-7 override before defaults", defaults, "maxOutputTokens=3000", "", figures(60_000, 400, 3_000), "s.yaml:2 defaults.contextWindow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := query("guard")
			if c.model != "" {
				q.Model = c.model
			}
			if c.override != "" {
				var err error
				if q.Override, err = config.ParseOverrides([]string{c.override}, knownLimits()); err != nil {
					t.Fatal(err)
				}
			}
			r, err := parse(t, "s.yaml", c.text).Resolve(q)
			if err != nil || r.Figures.Window() != c.want || r.Capacity.Source != c.source {
				t.Errorf("got %+v, %v\nwant %+v from %s", r.Figures, err, c.want, c.source)
			}
		})
	}
}

// The policy's window rule decides which figures there are.
func TestResolvePolicies(t *testing.T) {
	s := parse(t, "s.yaml", "providers: {openai: {contextWindow: 100k, contextWindowBufferTokens: 500}}\ndefaults: {maxOutputTokens: 2000}")
	for name, want := range map[string]budget.Window{
		"guard":         {Capacity: 100_000, Buffer: 500, OutputReserve: 2_000},
		"balanced":      {Capacity: 100_000, Buffer: 500, OutputReserve: 2_000},
		"cache-compact": {Capacity: 100_000},
		"layered":       {Capacity: 100_000, OutputReserve: 2_000},
	} {
		if r, err := s.Resolve(query(name)); err != nil || r.Figures.Window() != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, r.Figures, err, want)
		}
	}
	if r, err := s.Resolve(query("cache-compact")); err != nil || r.Buffer.Source != "preset cache-compact (keeps none)" {
		t.Errorf("got %+v, %v", r.Figures, err)
	}
	var none config.Settings
	if r, err := none.Resolve(query("layered")); err != nil || r.Figures.Window() != (budget.Window{Capacity: 100_000, OutputReserve: 4_096}) || !r.Assumed {
		t.Errorf("layered: got %+v, %v", r.Figures, err)
	}
	if r, err := none.Resolve(query("turn-budget")); err != nil || r.Capacity != (policy.Figure{Value: 131_072, Source: "output x 4"}) || !r.Assumed {
		t.Errorf("turn-budget: got %+v, %v", r.Figures, err)
	}
	if _, err := none.Resolve(query("cache-compact")); !errors.Is(err, budget.ErrUnknownWindow) {
		t.Errorf("cache-compact: got %v", err)
	}
	third := query("guard")
	third.Policy.Name, third.Policy.Window.OutputPermille = "mine", 300
	if r, err := parse(t, "s.yaml", "providers: {openai: {contextWindow: 100k}}").Resolve(third); err != nil || r.Output != (policy.Figure{Value: 30_000, Source: "policy mine (300 permille)"}) {
		t.Errorf("a share of one's own: got %+v, %v", r.Figures, err)
	}
}

// Figures that leave nothing are an error that names them all, and the nearest place.
func TestNoRoom(t *testing.T) {
	t.Run("R000-6", func(t *testing.T) {
		_, err := parse(t, "s.yaml", "providers:\n  openai:\n    contextWindow: 8k\n").Resolve(query("guard"))
		e, ok := errors.AsType[*config.RoomError](err)
		want := "config: resolve openai/gpt-x: limit, want 1 or more, got -2,192: contextWindow 8,000 (s.yaml:3 providers.openai.contextWindow) - contextWindowBufferTokens 8,192 (preset guard) - maxOutputTokens 2,000 (window/4)"
		if !ok || err.Error() != want || e.From.Line != 3 {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if _, ok := errors.AsType[*budget.ConfigError](err); !ok {
			t.Errorf("the window's error is not reached: %v", err)
		}
	})
}

// A session that is given the resolved window has the limit that is shown, also where a
// figure is 0 and where the policy's buffer is cut for a small window.
func TestSessionHasTheLimit(t *testing.T) {
	for _, text := range []string{
		"providers: {openai: {contextWindow: 100k, contextWindowBufferTokens: 0}}\ndefaults: {maxOutputTokens: 2000}",
		"providers: {openai: {contextWindow: 100k, contextWindowBufferTokens: 500}}",
		"providers: {openai: {contextWindow: 24k}}",
		"providers: {openai: {contextWindow: 9001, contextWindowBufferTokens: 0}}",
	} {
		for _, name := range policy.Presets() {
			t.Run("R000-6 R000-9 "+name+" "+text, func(t *testing.T) {
				q := query(name)
				r, err := parse(t, "s.yaml", text).Resolve(q)
				if _, none := errors.AsType[*config.RoomError](err); none {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				target := budget.Target{Provider: q.Provider, Model: q.Model, Window: r.Window()}
				session, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: q.Policy, Targets: []budget.Target{target}, Catalog: &q.Catalog})
				if err != nil {
					t.Fatal(err)
				}
				if got := session.Usage().Limit; got != r.Limit() {
					t.Errorf("the session's limit is %d, shown is %d", got, r.Limit())
				}
			})
		}
	}
}

// The buffer that a policy states is cut in a small window, if the policy says so; one of
// a file is not.
func TestSmallWindow(t *testing.T) {
	for text, want := range map[string]config.Sourced[int]{
		"models: {gpt-x: {window: 8000}}":                                             {Value: 2_000, Source: "preset balanced (250 permille of the window)"},
		"models: {gpt-x: {window: 64k}}":                                              {Value: 8_192, Source: "preset balanced"},
		"providers: {openai: {contextWindow: 8000, contextWindowBufferTokens: 3000}}": {Value: 3_000, Source: "s.yaml:1 providers.openai.contextWindowBufferTokens"},
	} {
		t.Run("R000-9 "+text, func(t *testing.T) {
			r, err := parse(t, "s.yaml", text).Resolve(query("balanced"))
			if err != nil || config.Sourced[int](r.Buffer) != want {
				t.Errorf("got %+v, %v, want %+v", r.Buffer, err, want)
			}
		})
	}
}

// The tokenizer, and what is no figure of a window.
func TestResolveRest(t *testing.T) {
	s := parse(t, "s.yaml", "providers: {openai: {tokenizer: gemini, models: {gpt-x: {tokenizer: 'tiktoken:gpt-4', reasoning: high}}}}\ndefaults: {reasoning: low}\nmodels: {mine: {tokenizer: approximate}}")
	for _, c := range []struct{ name, provider, model, tokenizer, source, reasoning string }{
		{"R000-19 model", "openai", "gpt-x", "tiktoken:gpt-4", "s.yaml:1 providers.openai.models.gpt-x.tokenizer", "high"},
		{"R000-19 provider", "openai", "gpt-5", "gemini", "s.yaml:1 providers.openai.tokenizer", "low"},
		{"R000-19 section models", "anthropic", "MINE", "approximate", "s.yaml:3 models.mine.tokenizer", "low"},
		{"R000-19 catalogue", "anthropic", "gpt-5", "tiktoken:o200k_base", "catalogue", "low"},
		{"R000-19 unknown", "anthropic", "somebody-s", "pieces", "family unknown", "low"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := query("guard")
			q.Provider, q.Model = c.provider, c.model
			r, err := s.Resolve(q)
			if err != nil || r.Tokenizer != (config.Sourced[string]{Value: c.tokenizer, Source: c.source}) || string(r.Reasoning.Value) != c.reasoning {
				t.Errorf("got %+v, %+v, %v", r.Tokenizer, r.Reasoning, err)
			}
		})
	}
}

// The file's number takes the place of the preset's, in the rule that moves outputs out,
// and nothing else changes.
func TestApplyTo(t *testing.T) {
	s := parse(t, "s.yaml", "defaults: {toolResponseMaxBytes: 5000}")
	for _, c := range []struct {
		policy, rule string
		was          int
	}{{"guard", "big-output", 12_288}, {"layered", "offload-result", 4_096}} {
		t.Run("R000-24 "+c.policy, func(t *testing.T) {
			r, err := s.Resolve(query(c.policy))
			if err != nil {
				t.Fatal(err)
			}
			want, before := preset(c.policy), preset(c.policy)
			if want.Rules[0].Name != c.rule || want.Rules[0].When.Value != c.was {
				t.Fatalf("the preset's rule: %+v", want.Rules[0])
			}
			want.Rules[0].When.Value = 5_000
			want.Name, want.About = c.policy+"-custom", "A policy derived from "+c.policy+"."
			got, changed := r.ApplyTo(before)
			if !changed || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(before, preset(c.policy)) {
				t.Errorf("got %+v, %v\nwant %+v", got, changed, want)
			}
			if err := policy.Validate(got); err != nil {
				t.Error(err)
			}
			if r.ToolResponseMaxBytes != (config.Sourced[int]{Value: 5_000, Source: "s.yaml:1 defaults.toolResponseMaxBytes"}) {
				t.Errorf("got %+v", r.ToolResponseMaxBytes)
			}
		})
	}
	t.Run("R000-24 not stated", func(t *testing.T) {
		r, err := config.Settings{}.Resolve(query("guard"))
		if got, changed := r.ApplyTo(preset("guard")); err != nil || changed || !reflect.DeepEqual(got, preset("guard")) {
			t.Errorf("got %+v, %v, %v", got, changed, err)
		}
		if r.ToolResponseMaxBytes != (config.Sourced[int]{Value: 12_288, Source: "preset guard (rule big-output)"}) {
			t.Errorf("got %+v", r.ToolResponseMaxBytes)
		}
	})
	r, err := s.Resolve(query("balanced"))
	if got, changed := r.ApplyTo(preset("balanced")); err != nil || changed || !reflect.DeepEqual(got, preset("balanced")) {
		t.Errorf("balanced has no such rule: %v, %v", changed, err)
	}
}
