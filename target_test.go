package plimsoll_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestFirstTargetThatHasRoom: where the backstop has made the request fit the preferred target too, it goes there, and a second Prepare
// makes no other one of it.
func TestFirstTargetThatHasRoom(t *testing.T) {
	of := func(model string, limit int) budget.Target {
		return budget.Target{Provider: "openai", Model: model, Window: budget.Window{Capacity: limit, Buffer: budget.None, OutputReserve: budget.None}}
	}
	s := open(t, plimsoll.Options{
		Policy: preset(t, "cache-compact"), Targets: []budget.Target{of("gpt-4o", 3_000), of("gpt-5-mini", 3_400)},
	})
	add(t, s, human("Look."))
	for n := range 12 {
		id := fmt.Sprintf("c%d", n)
		add(t, s,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: "{}"}}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(" word", 300)}}},
			}})
	}
	first, second := prepare(t, s), prepare(t, s)
	if got, want := first.Target.Name(), "openai/gpt-4o"; got != want {
		t.Errorf("the request goes to %s, want %s", got, want)
	}
	if got, want := second.Target.Name(), first.Target.Name(); got != want {
		t.Errorf("prepared again, unchanged, it goes to %s, want %s", got, want)
	}
}

// TestTargetThatCanBeReached: what must stay has too many tokens for the target with the largest window, but not for another one, once an image
// has left: the request goes to that one.
func TestTargetThatCanBeReached(t *testing.T) {
	of := func(provider, model string, limit, images int) budget.Target {
		w := budget.Window{Capacity: limit, Buffer: budget.None, OutputReserve: budget.None, MaxImages: images}
		return budget.Target{Provider: provider, Model: model, Window: w}
	}
	second, p := of("openai", "gpt-4o", 3_300, 1), preset(t, "balanced")
	p.Rules, p.PinPermille = nil, 0 // the backstop alone
	s := open(t, plimsoll.Options{
		Policy: p, Targets: []budget.Target{of("anthropic", "claude-sonnet-4-5", 3_400, 0), second},
	})
	screen := func(n int) llm.Media {
		return llm.Media{Type: "image/png", Size: 7, Tokens: 50, Raw: llm.Raw{Data: fmt.Appendf(nil, `{"type":"image","n":%d}`, n)}}
	}
	add(t, s, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{
		llm.Text{Text: strings.Repeat("{\"id\":123456,\"name\":\"item-77\",\"price\":12.5,\"tags\":[\"a\",\"b\"]}\n", 68)}, screen(1), screen(2),
	}})
	for n := range 3 {
		id := fmt.Sprintf("c%d", n)
		add(t, s,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: "{}"}}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(" word", 300)}}},
			}})
	}
	if got, want := prepare(t, s).Target.Name(), second.Name(); got != want {
		t.Errorf("the request goes to %s, want %s", got, want)
	}
}

// TestPreparedTwice: prepared again, an unchanged session sends the same, to the same target, whatever limits of tokens and images the
// targets have.
func TestPreparedTwice(t *testing.T) {
	for seed := range 250 {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		var targets []budget.Target
		for i := range 1 + rng.IntN(3) {
			w := budget.Window{Capacity: 800 + rng.IntN(3_000), Buffer: budget.None, OutputReserve: budget.None, MaxImages: rng.IntN(4)}
			model := []string{"gpt-4o", "claude-sonnet-4-5", "mystery"}[rng.IntN(3)]
			targets = append(targets, budget.Target{Provider: fmt.Sprint("p", i), Model: model, Window: w})
		}
		p := preset(t, []string{"balanced", "guard", "layered", "cache-compact"}[rng.IntN(4)])
		s := open(t, plimsoll.Options{Policy: p, Targets: targets})
		for i := range 1 + rng.IntN(6) {
			parts := []llm.Part{llm.Text{Text: strings.Repeat("word ", 1+rng.IntN(300))}}
			for j := range rng.IntN(4) {
				parts = append(parts, llm.Media{Type: "image/png", Size: 7, Tokens: 50, Raw: llm.Raw{Data: fmt.Appendf(nil, `{"type":"image","n":%d}`, 10*i+j)}})
			}
			add(t, s, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: parts})
		}
		first, err := s.Prepare(t.Context())
		second, again := s.Prepare(t.Context())
		if (err == nil) != (again == nil) || err == nil && sent(first) != sent(second) {
			t.Errorf("seed %d, %s, %+v: first %v, then %v", seed, p.Name, targets, err, again)
		}
	}
}
