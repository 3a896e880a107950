package token

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestContentsOf(t *testing.T) {
	c, err := NewCounter("chars/4", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.Thinking{Text: "consider this"}, llm.Text{Text: "I look"}, llm.ToolCall{CallID: "1", Name: "read", Args: `{"path":"a"}`},
	}}
	got := ContentsOf(c, reply, false)
	for _, where := range []Content{ContentThinking, ContentModel, ContentCalls} {
		if got[where] == 0 {
			t.Errorf("%s: want tokens, got none", where)
		}
	}
	result := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "1", Content: []llm.Part{llm.Text{Text: "what the file holds"}}},
	}}
	if got := ContentsOf(c, result, false); got[ContentOutputs] == 0 || got[ContentStubs] != 0 {
		t.Errorf("a tool output: got %v", got)
	}
	if got := ContentsOf(c, result, true); got[ContentStubs] == 0 || got[ContentOutputs] != 0 {
		t.Errorf("an output that an edit replaced: got %v", got)
	}
	for m, want := range map[*llm.Message]Content{
		{Role: llm.RoleUser, Origin: llm.Human}:                        ContentHuman,
		{Role: llm.RoleUser, Origin: llm.Note}:                         ContentNotes,
		{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary}: ContentSummary,
	} {
		m.Parts = []llm.Part{llm.Text{Text: "some words"}}
		if got := ContentsOf(c, *m, false); got[want] != got.Total() || got[want] == 0 {
			t.Errorf("%s: got %v", want, got)
		}
	}
}

// TestContentsAddUp: the contents of a message are its size, and scaling changes nothing but the total.
func TestContentsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Contents
		for i := range c {
			c[i] = rapid.IntRange(0, 1_000_000).Draw(t, "tokens")
		}
		total := rapid.IntRange(0, 10_000_000).Draw(t, "total")
		if got := c.Scaled(total); c.Total() > 0 && got.Total() != total {
			t.Fatalf("total, want %d, got %d", total, got.Total())
		}
		id := rapid.SampledFrom([]string{"chars/4", "bytes/4+10", "runes*2/5", "pieces"}).Draw(t, "estimator")
		counter, err := NewCounter(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			text := rapid.String().Draw(t, "text")
			m.Parts = append(m.Parts, rapid.SampledFrom([]llm.Part{llm.Text{Text: text}, llm.Thinking{Text: text}, llm.ToolCall{Name: "f", Args: text}}).Draw(t, "part"))
		}
		if got, want := ContentsOf(counter, m, false).Total(), SizeOf(counter, m).All(); got < want {
			t.Fatalf("%s: contents of a message, want at least its %d tokens, got %d", id, want, got)
		}
	})
}
