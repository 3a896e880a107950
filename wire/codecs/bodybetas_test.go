package codecs_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// TestBodyBetas: a body for an SDK names the betas that it needs, whether or not the program adds
// members of its own.
func TestBodyBetas(t *testing.T) {
	r := llm.Request{Model: "claude-opus-4-6", MaxOutput: 9, Messages: []llm.Message{llm.UserText("Go.")}}
	r.Settings.Clear = llm.Clearing{Above: 9_000, Compact: 60_000}
	want := []string{"context-management-2025-06-27", "compact-2026-01-12"}
	for name, more := range map[string][]codecs.Members{"alone": nil, "with members": {{"thinking": map[string]any{"type": "adaptive"}}}} {
		t.Run(name, func(t *testing.T) {
			body, err := codecs.Body(r, "anthropic", more...)
			if err != nil || !slices.Equal(body.Betas, want) {
				t.Errorf("want betas %q, got %q, %v", want, body.Betas, err)
			}
			dropping := r
			dropping.Settings.DropBrokenThinking = true
			if body, err = codecs.Body(dropping, "anthropic", more...); err != nil || !slices.Contains(body.Betas, want[1]) || slices.Contains(body.Betas, "thinking-binding-controls-2026-08-01") != (more != nil) {
				t.Errorf("with broken thinking dropped: got %q, %v", body.Betas, err)
			}
			if other, err := codecs.Body(r, "openai-responses", more...); err != nil || len(other.Betas) > 0 {
				t.Errorf("another dialect: got %q, %v", other.Betas, err)
			}
		})
	}
}
