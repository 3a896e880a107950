package codecs

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// TestReasoningIsSent: each dialect asks for thinking in its own form, in a body that its provider takes.
func TestReasoningIsSent(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect llm.Dialect
		llm.Settings
		want string // in the body; empty: nothing of thinking
	}{
		{"a budget", "anthropic", llm.Settings{Effort: llm.Effort{Budget: 2048}}, `"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"an effort", "anthropic", llm.Settings{Effort: llm.Effort{Word: "low"}}, `"output_config":{"effort":"low"},"thinking":{"type":"adaptive"}`},
		{
			"what is broken is dropped", "anthropic",
			llm.Settings{Effort: llm.Effort{Word: "low"}, DropBrokenThinking: true},
			`"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`,
		},
		{"beside a forced tool", "anthropic", llm.Settings{Effort: llm.Effort{Budget: 2048}, Choice: llm.Choice{Mode: llm.ChoiceAny}}, ""},
		{"beside a temperature", "anthropic", llm.Settings{Effort: llm.Effort{Budget: 2048}, Temperature: "0.5"}, ""},
		{"an effort", "openai-chat", llm.Settings{Effort: llm.Effort{Word: "minimal"}}, `"reasoning_effort":"minimal"`},
		{"an effort", "openai-responses", llm.Settings{Effort: llm.Effort{Word: "none"}}, `"reasoning":{"effort":"none"}`},
		{"a budget", "gemini", llm.Settings{Effort: llm.Effort{Budget: 8192}}, `"thinkingConfig":{"thinkingBudget":8192}`},
		{"off", "gemini", llm.Settings{Effort: llm.Effort{Off: true}}, `"thinkingConfig":{"thinkingBudget":0}`},
		{"a level", "gemini", llm.Settings{Effort: llm.Effort{Word: "high"}}, `"thinkingConfig":{"thinkingLevel":"high"}`},
		{"nothing", "gemini", llm.Settings{}, ""},
		{"nothing", "openai-chat", llm.Settings{}, ""},
	} {
		t.Run("R000-27_reasoning_is_sent_"+string(c.dialect)+"_"+c.name, func(t *testing.T) {
			r := llm.Request{
				Model: "some-model", MaxOutput: 9_000, Settings: c.Settings, Messages: []llm.Message{llm.UserText("Ahoy.")},
				Tools: []llm.Tool{{Name: "look", Schema: `{"type":"object"}`}},
			}
			codec, _ := For(c.dialect)
			body, err := codec.EncodeRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(body), c.want) || c.want == "" && (strings.Contains(string(body), "hinking") || strings.Contains(string(body), "effort")) {
				t.Errorf("got %s, want %q in it", body, c.want)
			}
			if faults := check.Request(c.dialect, body); len(faults) > 0 {
				t.Errorf("%s: %v", body, faults)
			}
			if !strings.Contains(string(body), "9000") {
				t.Errorf("R002-30: the output limit is not in %s", body)
			}
			if betas := anthropic.Betas(r); (len(betas) > 0) != (c.DropBrokenThinking && c.dialect == "anthropic") {
				t.Errorf("betas: %v", betas)
			}
		})
	}
}
