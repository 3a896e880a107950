package prompt_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// What is sent beside a resource begins with the user, and no result of it lacks its call.
func TestExplicitPrefix(t *testing.T) {
	ask, answer, note := llm.UserText("go"), llm.AssistantText("done"), llm.NoteText("mind this")
	call, result := llm.AssistantText("I look", llm.ToolCall{CallID: "1", Name: "look", Args: "{}"}), llm.ToolText("1", "seen")
	for _, c := range []struct {
		name     string
		messages []llm.Message
		want     int
	}{
		{"nothing", nil, 0},
		{"the first request", []llm.Message{ask}, 0},
		{"a Turn at work keeps sections and tools alone", []llm.Message{ask, call, result, answer}, 0},
		{"what is finished", []llm.Message{ask, answer, ask}, 2},
		{"the newest one counts", []llm.Message{ask, answer, ask, answer, ask, call, result}, 4},
		{"a Note goes with the message behind it", []llm.Message{ask, answer, note, ask}, 2},
		{"a Note within a Round does not part it", []llm.Message{ask, answer, ask, call, note, result}, 2},
	} {
		items := make([]edit.Item, len(c.messages))
		for i, m := range c.messages {
			items[i].Message = m
		}
		if got := prompt.ExplicitPrefix(items); got != c.want {
			t.Errorf("%s: want %d, got %d", c.name, c.want, got)
		}
	}
}
