package engine_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestLooserCapPutsNothingBack is R001-5 for a policy with two caps: the second one, which
// looks at the whole output, does not undo the first.
func TestLooserCapPutsNothingBack(t *testing.T) {
	p, err := policy.Parse([]byte(`{"name": "mine", "estimator": "count", "backstop": true, "templates": {"cap": "\n[{ref}]"}, "on_unknown_window": {"action": "error"}, "rules": [
		{"name": "tight", "at": "tool", "do": "cap", "args": {"template": "cap", "bytes": 400}},
		{"name": "loose", "at": "tool", "do": "cap", "args": {"template": "cap", "lines": 100}}]}`))
	must(t, err)
	c, err := configured(p, budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 100_000}})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: "hello"})
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "read", Args: "{}"}}}}))
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: filler(20_000, "a")}}},
	}}}))
	items := h.m.View().Items
	if text := items[len(items)-1].Message.Results()[0].Text(); len(text) > 450 {
		t.Errorf("shown are %d bytes, want at most 400 and a notice", len(text))
	}
}
