package journal

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A shownMessage is a message for readers that know nothing of sessions. What is no text
// stands as a word about it.
type shownMessage struct {
	Role    string      `json:"role"`
	Content []shownPart `json:"content"`
}

type shownPart struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	ID   string `json:"id,omitempty"`   // of a call, and of its result
	Name string `json:"name,omitempty"` // of a tool
	Args string `json:"arguments,omitempty"`
}

func shownOf(msgs []llm.Message) []shownMessage {
	out := make([]shownMessage, 0, len(msgs))
	for _, m := range msgs {
		role, err := nameOf(m.Role, "role", roleNames)
		if err != nil {
			continue // no message that was recorded has none
		}
		s := shownMessage{Role: role, Content: []shownPart{}}
		for _, p := range m.Parts {
			s.Content = append(s.Content, shownPartOf(p))
		}
		out = append(out, s)
	}
	return out
}

func shownPartOf(p llm.Part) shownPart {
	switch p := p.(type) {
	case llm.Text:
		return shownPart{Type: "text", Text: valid(p.Text)}
	case llm.Thinking:
		return shownPart{Type: "thinking", Text: valid(p.Text)}
	case llm.ToolCall:
		return shownPart{Type: "tool_call", ID: valid(p.CallID), Name: valid(p.Name), Args: valid(p.Args)}
	case llm.ToolResult:
		return shownPart{Type: "tool_result", ID: valid(p.CallID), Text: valid(p.Text())}
	case llm.Stub:
		return shownPart{Type: "text", Text: valid(p.Text)}
	case llm.Media:
		return shownPart{Type: "media", Text: valid(p.Type)}
	}
	return shownPart{Type: "other"}
}

// valid returns text as JSON can hold it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
