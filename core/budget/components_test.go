package budget_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func counter(t testing.TB, id string) token.Counter {
	t.Helper()
	c, err := token.NewCounter(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBudget(t *testing.T) {
	b := budget.Budget{Total: 100_000, MaxOutputTokens: 4_096, Components: budget.Components{
		System: 1_000, Skills: 500, Tools: 2_500, Summary: 300, History: 20_000, Notes: 200,
	}}
	t.Run("R002-1 conversation", func(t *testing.T) {
		if got := b.Conversation(); got != 20_500 {
			t.Errorf("conversation = %d, want 20500", got)
		}
	})
	t.Run("R002-2", func(t *testing.T) {
		if b.EffectiveWindow() != 95_904 || b.UsedTokens() != 24_500 || b.Remaining() != 71_404 || b.UsedPermille() != 255 {
			t.Errorf("effective %d, used %d, remaining %d, permille %d", b.EffectiveWindow(), b.UsedTokens(), b.Remaining(), b.UsedPermille())
		}
	})
	t.Run("R002-2 a window of 0 is full", func(t *testing.T) {
		none := budget.Budget{Total: 4_096, MaxOutputTokens: 8_192}
		if none.EffectiveWindow() != 0 || none.UsedPermille() != 1000 || none.Remaining() != 0 {
			t.Errorf("effective %d, permille %d, remaining %d", none.EffectiveWindow(), none.UsedPermille(), none.Remaining())
		}
	})
}

func TestThresholds(t *testing.T) {
	tests := []struct {
		name                      string
		used                      int
		compact, blocked, exceeds bool
	}{
		{"R002-9 at 95 %", 9_500, false, false, false},
		{"R002-9 above 95 %", 9_501, true, false, false},
		{"R002-10 at 98 %", 9_800, true, false, false},
		{"R002-10 above 98 %", 9_801, true, true, false},
		{"R002-10 at 100 %", 10_000, true, true, false},
		{"R002-10 above 100 %", 10_001, true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// R002-3: tools count, whatever they are a part of.
			b := budget.Budget{Total: 14_096, MaxOutputTokens: 4_096, Components: budget.Components{Tools: 4_000, History: tt.used - 4_000}}
			if b.ShouldCompact() != tt.compact || b.IsBlocked() != tt.blocked || b.Exceeds() != tt.exceeds {
				t.Errorf("compact %v, blocked %v, exceeds %v", b.ShouldCompact(), b.IsBlocked(), b.Exceeds())
			}
		})
	}
	t.Run("R002-23 above 80 %", func(t *testing.T) {
		b := budget.Budget{Total: 1_000, Components: budget.Components{History: 800}}
		if b.Over(budget.NoteAt) {
			t.Error("800 of 1000 is above 80 %")
		}
		b.Notes = 1
		if !b.Over(budget.NoteAt) {
			t.Error("801 of 1000 is not above 80 %")
		}
	})
	t.Run("R001-14 inclusive, of the floor", func(t *testing.T) {
		at := budget.Threshold{Base: 200_001, Permille: 800, Inclusive: true}
		if at.At() != 160_000 || at.Reached(159_999) || !at.Reached(160_000) {
			t.Errorf("80 %% of 200001 is %d; reached at 159999: %v, at 160000: %v", at.At(), at.Reached(159_999), at.Reached(160_000))
		}
	})
	t.Run("R001-12 cached input counts", func(t *testing.T) {
		usage := llm.Usage{Input: 10, CacheRead: 150_000, CacheWrite5m: 9_000, Output: 990}
		at := budget.Threshold{Base: 200_000, Permille: 800, Inclusive: true}
		if usage.Total() != 160_000 || !at.Reached(usage.Total()) {
			t.Errorf("total = %d, reached: %v", usage.Total(), at.Reached(usage.Total()))
		}
	})
	t.Run("R001-2 budget of outputs", func(t *testing.T) {
		for window, want := range map[int]int{8_000: 20_000, 79_999: 20_000, 80_004: 20_001, 200_000: 50_000, 240_000: 60_000, 1_000_000: 60_000} {
			if got := (budget.Threshold{Base: window, Permille: 250, Min: 20_000, Max: 60_000}).At(); got != want {
				t.Errorf("window %d: %d, want %d", window, got, want)
			}
		}
	})
	t.Run("R000-4 strict", func(t *testing.T) {
		at := budget.Threshold{Base: 103_424, Permille: 1000}
		if at.Reached(103_424) || !at.Reached(103_425) {
			t.Error("the limit itself is not above the limit")
		}
	})
}

func TestMeasure(t *testing.T) {
	c := counter(t, "bytes/4+10")
	chars := func(n int) string { return strings.Repeat("x", n) }
	r := llm.Request{
		Sections: []llm.Section{
			{Text: chars(400)},
			{Kind: llm.SectionSkills, Text: chars(200)},
			{Kind: llm.SectionSummary, Text: chars(80)},
			{Kind: llm.SectionTools, Tokens: 5_000},
		},
		Tools: []llm.Tool{{Name: "read", Description: chars(40), Schema: chars(80)}},
		Messages: []llm.Message{
			{Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: chars(40)}}},
			{Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: chars(4)}}},
			{Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: chars(8)}}},
			{Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "abcd", Content: []llm.Part{llm.Text{Text: chars(36)}}}}},
		},
	}
	got := budget.Measure(c, r)
	want := budget.Components{
		System: 110, Skills: 60, Tools: 5_000 + 1 + 10 + 20 + 30, Summary: 30 + 12, History: 20 + 20, Notes: 11,
	}
	t.Run("R002-3 every component", func(t *testing.T) {
		if got != want {
			t.Errorf("Measure = %+v, want %+v", got, want)
		}
	})
	if got.Largest() != token.Tools {
		t.Errorf("largest = %v, want tools", got.Largest())
	}
	sum := 0
	for i := range token.NumComponents {
		sum += got.Of(token.Component(i))
	}
	if sum != got.Used() || got.Of(token.Component(99)) != 0 {
		t.Errorf("the components add up to %d, used is %d", sum, got.Used())
	}
}

func TestThresholdIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.IntRange(0, 1<<40).Draw(t, "base")
		permille := rapid.IntRange(0, 4000).Draw(t, "permille")
		used := rapid.IntRange(0, 1<<41).Draw(t, "used")
		at := budget.Threshold{Base: base, Permille: permille}
		if got := at.Reached(used); got != (used > base*permille/1000) {
			t.Fatalf("%d above %d permille of %d: %v", used, permille, base, got)
		}
	})
}
