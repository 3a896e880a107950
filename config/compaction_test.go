package config_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// The section compaction has the keys of the document; what it states takes the place of
// the policy's.
func TestCompaction(t *testing.T) {
	compact := func(t *testing.T, name, text string) (config.Settings, policy.Policy, policy.Rule) {
		t.Helper()
		s := parse(t, "s.json", text)
		p, _ := s.ApplyTo(preset("cache-compact"))
		if err := policy.Validate(p); err != nil {
			t.Error(err)
		}
		return s, p, ruleOf(p, name)
	}
	t.Run("R001-11_as_printed", func(t *testing.T) {
		s, p, r := compact(t, "compact", `{"compaction": {"enabled": true, "auto": true, "thresholdRatio": 0.7, "model": "openai/gpt-5-mini",
			"summaryPrompt": "Say what was done.", "summaryDirectives": ["in French"], "retainPrompt": "Keep refs.", "retainDirectives": ["tickets"], "retainLastTurns": 3}}`)
		if r.When.Permille != 700 || r.Args.Keep != (policy.Tail{Unit: "turns", N: 3}) || s.Defaults.Compaction.Model.Value != "openai/gpt-5-mini" {
			t.Errorf("rule %+v, %+v", r, s.Defaults.Compaction)
		}
		if p.SummaryPrompt != "Say what was done." || p.RetainPrompt != "Keep refs." || !slices.Equal(p.SummaryDirectives, []string{"in French"}) || !slices.Equal(p.RetainDirectives, []string{"tickets"}) {
			t.Errorf("asks %q %q %q %q", p.SummaryPrompt, p.SummaryDirectives, p.RetainPrompt, p.RetainDirectives)
		}
	})
	t.Run("R001-11_defaults", func(t *testing.T) {
		s, p, _ := compact(t, "compact", `{"compaction": {"model": null, "thresholdRatio": 0.8, "retainLastTurns": 1}}`)
		if p.Name != "cache-compact" || s.Defaults.Compaction.Model.Set() {
			t.Errorf("%s differs from the preset", p.Name)
		}
	})
	t.Run("R001-11_null_and_nothing", func(t *testing.T) {
		_, p, r := compact(t, "compact", `{"compaction": {"retainPrompt": null, "retainLastTurns": -1, "summaryDirectives": []}}`)
		if p.RetainPrompt != "" || r.Args.Keep != (policy.Tail{}) {
			t.Errorf("asks %q, keeps %+v", p.RetainPrompt, r.Args.Keep)
		}
	})
	t.Run("R001-25_auto_off", func(t *testing.T) {
		_, _, r := compact(t, "compact", `{"compaction": {"auto": false}}`)
		if r.Do != policy.DoSummarise || r.When.Permille != 0 || r.When.Value < 1_000_000_000 {
			t.Errorf("rule %+v, want one that is only for a compaction by hand", r)
		}
	})
	t.Run("R001-11_off", func(t *testing.T) {
		if _, _, r := compact(t, "compact", `{"compaction": {"enabled": false}}`); r.Name != "" {
			t.Errorf("rule %+v, want none", r)
		}
	})
}

// The section agent has the keys of the document.
func TestAgent(t *testing.T) {
	const text = "[agent]\ncontext_budget = 50000\nmax_output_tokens = 2000\ncompact_trigger = 0.90\nhard_block = 0.97\nresult_offload_threshold = 2048\ntool_deferral_threshold = 0.15\n"
	t.Run("R002-25_as_printed", func(t *testing.T) {
		s := parse(t, "s.toml", text)
		p, changed := s.ApplyTo(preset("layered"))
		if err := policy.Validate(p); err != nil || !changed {
			t.Fatal(changed, err)
		}
		for name, want := range map[string]int{
			"compact-clear": 900, "compact-summarise": 900, "compact-truncate": 900, "block-clear": 970, "block-summarise": 970, "block-truncate": 970, "tell-model": 800,
		} {
			if got := ruleOf(p, name).When.Permille; got != want {
				t.Errorf("%s at %d, want %d permille", name, got, want)
			}
		}
		if got := p.Deferral.Permille; got != 150 {
			t.Errorf("tools leave above %d permille", got)
		}
		if got := ruleOf(p, "offload-result").When.Value; got != 2048 {
			t.Errorf("outputs leave above %d bytes", got)
		}
		c, err := catalog.Load()
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Resolve(config.Query{Provider: "openai", Model: "gpt-5", Policy: p, Catalog: c})
		if want := (budget.Window{Capacity: 50_000, OutputReserve: 2000}); err != nil || r.Figures.Window() != want {
			t.Errorf("window %+v, %v, want %+v", r.Figures.Window(), err, want)
		}
	})
	t.Run("R002-25_defaults", func(t *testing.T) {
		s := parse(t, "s.toml", "[agent]\ncompact_trigger = 0.95\nhard_block = 0.98\nresult_offload_threshold = 4096\ntool_deferral_threshold = 0.10\n")
		if p, changed := s.ApplyTo(preset("layered")); changed {
			t.Errorf("%s differs from the preset", p.Name)
		}
	})
	t.Run("R002-25_in_the_wrong_order", func(t *testing.T) {
		s := parse(t, "s.toml", "[agent]\ncompact_trigger = 0.98\nhard_block = 0.91\n")
		p, _ := s.ApplyTo(preset("layered"))
		if a, b := ruleOf(p, "compact-clear").When.Permille, ruleOf(p, "block-clear").When.Permille; a != 910 || b != 980 {
			t.Errorf("%d and %d permille, want them exchanged", a, b)
		}
	})
	t.Run("R002-25_faults", func(t *testing.T) {
		for _, wrong := range []string{"compact_trigger = 1.5", "hard_block = 0", "context_budgets = 1", "max_output_tokens = -1", "tool_deferral_threshold = \"x\""} {
			if _, err := config.ParseSettings("s.toml", []byte("[agent]\n"+wrong+"\n"), knownLimits()); err == nil {
				t.Errorf("%s is taken", wrong)
			}
		}
	})
}
