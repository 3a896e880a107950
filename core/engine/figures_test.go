package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
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

// What the document's budget adds up, the machine does: each component by the policy's
// estimator, skills not again under system, tools whatever rule looks; what is left of
// the effective window is for all of them.
func TestComponentsOfTheDocument(t *testing.T) {
	h := opened(t, "layered", budget.Window{Capacity: 100_000, OutputReserve: 4_096})
	must(t, h.feed(engine.SetSections{Sections: []llm.Section{
		{Text: filler(400, "system")},
		{Kind: llm.SectionSkills, Text: filler(200, "skills")},
		{Kind: llm.SectionSummary, Text: filler(80, "summary")},
		{Name: "overhead", Tokens: 5_000}, // of which only the size is known
	}}))
	must(t, h.feed(engine.SetTools{Tools: []llm.Tool{{Name: "read", Description: filler(40, "tool"), Schema: filler(80, "schema")}}}))
	ask(t, h, llm.Text{Text: filler(40, "one")})
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "note"}}}}))
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: "sum mary"}}}}))
	ask(t, h, llm.Text{Text: filler(36, "two")})

	states := h.m.MeterStates()
	var got budget.Components
	for c, n := range map[token.Component]*int{
		token.System: &got.System, token.Skills: &got.Skills, token.Tools: &got.Tools, token.Summary: &got.Summary, token.History: &got.History, token.Notes: &got.Notes,
	} {
		*n = states[len(states)-1].Sums[c].All()
	}
	got.System += states[len(states)-1].Hidden
	t.Run("R002-3 every component", func(t *testing.T) {
		want := budget.Components{System: 110 + 5_000, Skills: 60, Tools: 1 + 10 + 20 + 30, Summary: 30 + 12, History: 20 + 19, Notes: 11}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("R002-1 the conversation is summary, history and notes", func(t *testing.T) {
		if got.Conversation() != 42+39+11 {
			t.Errorf("conversation %d, want 92", got.Conversation())
		}
	})
	t.Run("R002-2 what is used of the effective window", func(t *testing.T) {
		note := thresholdOf(t, h.m, "tell-model")
		if limit := h.m.Targets()[0].Window.Limit(); limit != 95_904 || note.Value != got.Used() || note.At != 76_723 {
			t.Errorf("%d used of %d, note above %d, want %d of 95904 and 76723", note.Value, limit, note.At, got.Used())
		}
	})
	t.Run("R002-2 a window of 0 is no window", func(t *testing.T) {
		c := h.config
		c.Targets = []budget.Target{{Model: "gpt-4o", Window: budget.Window{Capacity: 4_096, OutputReserve: 8_192}}}
		_, err := engine.New(c)
		if _, ok := errors.AsType[*budget.ConfigError](err); !ok {
			t.Errorf("got %v, want a mistake in the configuration", err)
		}
	})
}

// The documents' figures of what a provider reports, and of all outputs.
func TestReportedFiguresOfTheDocuments(t *testing.T) {
	for output, reached := range map[int]bool{989: false, 990: true} {
		t.Run(fmt.Sprintf("R001-12 R001-14 cached input counts, 80 %% is enough %v", reached), func(t *testing.T) {
			h := opened(t, "cache-compact", budget.Window{Capacity: 200_001})
			ask(t, h, llm.Text{Text: filler(300_000, "much")})
			prepared(t, h)
			must(t, h.feed(engine.Usage{Usage: llm.Usage{Input: 10, CacheRead: 150_000, CacheWrite5m: 9_000, Output: output}, Reported: true}))
			if got := thresholdOf(t, h.m, "compact"); got.Value != 159_010+output || got.At != 160_000 || got.Reached != reached {
				t.Errorf("%d of %d, reached %v, want %v", got.Value, got.At, got.Reached, reached)
			}
		})
	}
	for window, want := range map[int]int{8_000: 20_000, 79_999: 20_000, 80_004: 20_001, 200_000: 50_000, 240_000: 60_000, 1_000_000: 60_000} {
		t.Run(fmt.Sprintf("R001-2 outputs of a window of %d", window), func(t *testing.T) {
			if got := thresholdOf(t, opened(t, "cache-compact", budget.Window{Capacity: window}).m, "trim-outputs"); got.At != want || got.Op != ">" {
				t.Errorf("%s %d, want > %d", got.Op, got.At, want)
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
