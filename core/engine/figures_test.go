package engine_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// opened is a machine of a preset with one target.
func opened(t testing.TB, name string, w budget.Window) *host {
	t.Helper()
	p, err := policy.Preset(name)
	must(t, err)
	c, err := configured(p, budget.Target{Provider: "p", Model: "gpt-4o", Window: w})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	return h
}

// What a machine acts by is what explain shows: the figure, and what takes the one that
// is compared with it.
func TestThresholdsAreThoseExplained(t *testing.T) {
	for _, name := range policy.Presets() {
		for _, capacity := range []int{41_000, 99_999, 128_000, 131_071, 200_000, 1_000_001, 1 << 40} {
			t.Run(fmt.Sprintf("%s %d", name, capacity), func(t *testing.T) {
				m := opened(t, name, budget.Window{Capacity: capacity}).m
				explained := map[string]policy.Line{}
				for _, l := range policy.Explain(m.Policy(), m.Targets()[0].Window) {
					explained[l.Rule] = l
				}
				for _, th := range m.Thresholds() {
					l := explained[th.Rule]
					if th.Measure == policy.MeasureGuard { // a verdict here, what it compares there
						l.Threshold, l.Op = th.At, th.Op
					}
					if th.At != l.Threshold || th.Op != l.Op || th.Estimator != l.Estimator || th.Do != l.Do || th.At <= 0 {
						t.Errorf("%s: acts %s %d by %q, explained are %s %d by %q", th.Rule, th.Op, th.At, th.Estimator, l.Op, l.Threshold, l.Estimator)
					}
				}
			})
		}
	}
}

// The documents' figures decide in the machine as they are printed: one token below, at
// and above them. System prompt and tools count, whatever rule looks (R002-3).
func TestThresholdsOfTheDocuments(t *testing.T) {
	layered := budget.Window{Capacity: 14_096}
	for _, c := range []struct {
		name, preset, rule string
		window             budget.Window
		value              int // of the measure
		reached            bool
	}{
		{"R002-2 R002-9 at 95 %", "layered", "compact-clear", layered, 9_500, false},
		{"R002-2 R002-9 above 95 %", "layered", "compact-clear", layered, 9_501, true},
		{"R002-10 at 98 %", "layered", "block-clear", layered, 9_800, false},
		{"R002-10 above 98 %", "layered", "block-clear", layered, 9_801, true},
		{"R002-23 at 80 %", "layered", "tell-model", layered, 8_000, false},
		{"R002-23 above 80 %", "layered", "tell-model", layered, 8_001, true},
		{"R003-2 R003-8 messages, tools and output fill the window", "turn-budget", "would-not-fit", budget.Window{Capacity: 10_000, OutputReserve: 2_000}, 8_000, false},
		{"R003-2 R003-8 and exceed it", "turn-budget", "would-not-fit", budget.Window{Capacity: 10_000, OutputReserve: 2_000}, 8_001, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := filledTo(t, c.preset, c.window, c.rule, c.value).m
			if got := thresholdOf(t, m, c.rule); got.Value != c.value || got.Reached != c.reached {
				t.Errorf("%s: %d of %d, reached %v, want %d, %v", c.rule, got.Value, got.At, got.Reached, c.value, c.reached)
			}
			if parts := m.Components(); parts.System == 0 || parts.Tools == 0 || parts.History == 0 {
				t.Errorf("want system, tools and history in the figure, got %+v", parts)
			}
		})
	}
}

// filledTo is a session in which the measure of a rule has that value: a system prompt,
// a tool, and a message of as many bytes as that takes.
func filledTo(t testing.TB, preset string, w budget.Window, rule string, value int) *host {
	t.Helper()
	var h *host
	low, high := 0, 8*value
	for low <= high {
		n := (low + high) / 2
		h = opened(t, preset, w)
		must(t, h.feed(engine.SetSections{Sections: []llm.Section{{Text: filler(1_000, "system")}}}))
		must(t, h.feed(engine.SetTools{Tools: []llm.Tool{{Name: "read", Description: filler(4_000, "tool"), Schema: "{}"}}}))
		ask(t, h, llm.Text{Text: filler(n, "text")})
		switch got := thresholdOf(t, h.m, rule).Value; {
		case got == value:
			return h
		case got < value:
			low = n + 1
		default:
			high = n - 1
		}
	}
	t.Fatalf("rule %s: want a session of %d tokens, got none", rule, value)
	return nil
}

// thresholdOf returns that of a rule.
func thresholdOf(t testing.TB, m *engine.Machine, rule string) engine.Threshold {
	t.Helper()
	for _, th := range m.Thresholds() {
		if th.Rule == rule {
			return th
		}
	}
	t.Fatalf("rule %s: want a threshold, got none", rule)
	return engine.Threshold{}
}

// The windows of a machine's targets are those that the policy resolves, figure for
// figure and source for source, whoever states them: the target, the catalogue, a refusal
// or nobody.
func TestWindowsOfTargets(t *testing.T) {
	cat, err := catalog.Load()
	must(t, err)
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		must(t, err)
		for _, model := range []string{"gpt-4o", "mystery-1"} {
			for _, stated := range []budget.Window{
				{},
				{OutputReserve: 8_192},
				{Capacity: 60_000},
				{Capacity: 200_000, Buffer: 100, OutputReserve: 2_000},
				{Capacity: 60_000, Buffer: budget.None, OutputReserve: budget.None},
				{Capacity: 12_000, OutputReserve: 4_000},
				{Capacity: 1 << 40},
			} {
				for _, learnt := range []int{0, 1, 9_000, 50_000, 1 << 39} {
					t.Run(fmt.Sprintf("%s %s %+v %d", name, model, stated, learnt), func(t *testing.T) {
						target := budget.Target{Provider: "p", Model: model, Window: stated}
						known, _ := cat.Lookup(model)
						layers := []policy.Layer{policy.Stated("target", stated), policy.Known(known)}
						want, err := p.Resolve(layers...)
						m, fault := engine.New(engine.Config{Policy: p, Targets: []budget.Target{target}, Catalog: cat, Encodings: vocabularies.load})
						if wrong := err != nil || want.Window().Validate() != nil; wrong || fault != nil {
							if wrong != (fault != nil) {
								t.Errorf("got %v, want %+v, %v", fault, want, err)
							}
							return
						}
						if learnt > 0 {
							must(t, m.Feed(engine.Rejected{Window: learnt}))
							if learnt < want.Capacity.Value {
								layers = append(layers, policy.Layer{Source: "refusal", Most: policy.Some(learnt)})
							}
							want, err = p.Resolve(layers...)
							must(t, err)
						}
						got := m.Targets()[0].Window
						got.MaxBytes, got.MaxImages = 0, 0
						if got != want.Window() || m.Figures(0) != want {
							t.Errorf("got %+v, %+v\nwant %+v", got, m.Figures(0), want)
						}
					})
				}
			}
		}
	}
}
