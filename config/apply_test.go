package config_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// ruleOf returns a rule of a policy; the zero Rule if it has none of that name.
func ruleOf(p policy.Policy, name string) policy.Rule {
	for _, r := range p.Rules {
		if r.Name == name {
			return r
		}
	}
	return policy.Rule{}
}

// The section toolOutputCache has the keys of the document. What it states takes the place
// of the preset's figures; what it does not, and a budget of null, stays the preset's.
func TestOutputCache(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		budget       [3]int // of windows of 40k, 200k and 1M
		bytes, line  int
		cut, trimmed bool
	}{
		{"R001-1 nothing stated", "toolOutputCache: {}", [3]int{20_000, 50_000, 60_000}, 51_200, 2000, true, true},
		{"R001-1 defaults stated", "toolOutputCache: {enabled: true, contextBudgetTokens: null}", [3]int{20_000, 50_000, 60_000}, 51_200, 2000, true, true},
		{"R001-25 explicit budget", "toolOutputCache: {contextBudgetTokens: 9000}", [3]int{9000, 9000, 9000}, 51_200, 2000, true, true},
		{"R001-25 explicit budget above the clamp", "toolOutputCache: {contextBudgetTokens: 90k}", [3]int{90_000, 90_000, 90_000}, 51_200, 2000, true, true},
		{"R001-1 view", "toolOutputCache: {maxMessageBytes: 1000, maxLineLength: 80}", [3]int{20_000, 50_000, 60_000}, 1000, 80, true, true},
		{"R001-1 off", "toolOutputCache: {enabled: false, maxLineLength: 80}", [3]int{}, 0, 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, "s.yaml", c.text)
			before := preset("cache-compact")
			got, changed := s.Defaults.ApplyTo(before)
			cut, trim := ruleOf(got, "cut-output"), ruleOf(got, "trim-outputs")
			if (cut.Name != "") != c.cut || (trim.Name != "") != c.trimmed || ruleOf(got, "compact").Name == "" || cut.Args.Bytes != c.bytes || cut.Args.LineLength != c.line {
				t.Errorf("got rules %+v", got.Rules)
			}
			for i, window := range []int{40_000, 200_000, 1_000_000} {
				if n := trim.When.Threshold(budget.Window{Capacity: window}); c.trimmed && n != c.budget[i] {
					t.Errorf("in a window of %d the budget is %d, want %d", window, n, c.budget[i])
				}
			}
			if err := policy.Validate(got); err != nil {
				t.Error(err)
			}
			if changed != (got.Name == "cache-compact-custom") || !changed && got.Name != "cache-compact" || ruleOf(before, "cut-output").Args.Bytes != 51_200 {
				t.Errorf("changed %v: %s, %s", changed, got.Name, got.About)
			}
		})
	}
	t.Run("R001-25 other policies", func(t *testing.T) {
		s := parse(t, "s.yaml", "toolOutputCache: {enabled: false, contextBudgetTokens: 9000, maxMessageBytes: 7, maxLineLength: 7}")
		for _, name := range []string{"guard", "layered", "turn-budget", "balanced", "off"} {
			if _, changed := s.Defaults.ApplyTo(preset(name)); changed {
				t.Errorf("%s has no such rule", name)
			}
		}
	})
	t.Run("R001-25 where each comes from", func(t *testing.T) {
		q := query("cache-compact")
		q.Model = "gpt-4o"
		q.Override, _ = config.ParseOverrides([]string{"contextBudgetTokens=30k"}, knownLimits())
		s := parse(t, "s.yaml", "toolOutputCache: {contextBudgetTokens: 9000, maxLineLength: 99}")
		r, err := s.Resolve(q)
		if err != nil || r.ContextBudgetTokens.Value != 30_000 || r.ContextBudgetTokens.Source != "override contextBudgetTokens" || !r.ContextBudgetTokens.Acts {
			t.Errorf("got %+v, %v", r.ContextBudgetTokens, err)
		}
		if r.MaxLineLength.Source != "s.yaml:1 toolOutputCache.maxLineLength" || r.MaxMessageBytes.Source != "preset cache-compact (rule cut-output)" || r.MaxMessageBytes.Value != 51_200 {
			t.Errorf("got %+v, %+v", r.MaxLineLength, r.MaxMessageBytes)
		}
		if p, changed := r.ApplyTo(q.Policy); !changed || ruleOf(p, "trim-outputs").When.Value != 30_000 {
			t.Errorf("got %+v", p.Rules)
		}
	})
}

func TestOutputCacheFaults(t *testing.T) {
	for text, want := range map[string]string{
		"toolOutputCache: [1]":                                          "s.yaml:1:1: toolOutputCache: want how much of tool outputs is shown, got a list",
		"toolOutputCache: {enabled: 'yes'}":                             "s.yaml:1:19: toolOutputCache.enabled: want true or false, got \"yes\"",
		"toolOutputCache: {contextBudgetTokens: 0}":                     "s.yaml:1:19: toolOutputCache.contextBudgetTokens: want 1 to 1000000000 tokens, got 0",
		"toolOutputCache: {maxMessageBytes: 50k}":                       "s.yaml:1:19: toolOutputCache.maxMessageBytes: want an integer, got \"50k\"",
		"toolOutputCache: {maxLineLenght: 5}":                           "s.yaml:1:19: toolOutputCache.maxLineLenght: no such field, did you mean maxLineLength?",
		"defaults: {contextBudgetTokens: 5}":                            "s.yaml:1:12: defaults.contextBudgetTokens: cannot be stated here, want it in toolOutputCache",
		"toolOutputCach: {}":                                            "s.yaml:1:1: toolOutputCach: no such field, did you mean toolOutputCache?",
		"toolOutputCache:":                                              "",
		"toolOutputCache: {maxMessageBytes: 1, contextBudgetTokens: 1}": "",
	} {
		t.Run("R001-1 "+text, func(t *testing.T) {
			_, err := config.ParseSettings("s.yaml", []byte(text), knownLimits())
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
