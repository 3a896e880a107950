package token_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// TestBytesOfAnEditedEnvelope: a message that came as one object has the bytes of that
// object as long as nothing is changed, and afterwards those of what it shows now.
func TestBytesOfAnEditedEnvelope(t *testing.T) {
	image := `{"type":"image","data":"` + strings.Repeat("A", 5000) + `"}`
	text := `{"type":"text","text":"look"}`
	raw := `{"role":"user","content":[` + text + `,` + image + `]}`
	at := strings.Index(raw, text)
	m := llm.Message{
		Role: llm.RoleUser, Origin: llm.Human,
		Parts: []llm.Part{
			llm.Text{Text: "look", Raw: llm.Raw{Data: []byte(text)}},
			llm.Media{Type: "image/png", Size: 5000, Raw: llm.Raw{Data: []byte(image)}},
		},
		Envelope: llm.Envelope{Raw: []byte(raw), Spans: []llm.Span{
			{Start: at, End: at + len(text)},
			{Start: at + len(text) + 1, End: at + len(text) + 1 + len(image)},
		}},
	}
	c := counter(t, "chars/4")
	if got := token.SizeOf(c, m).Bytes; got != len(raw) {
		t.Errorf("as it came: %d bytes, want %d", got, len(raw))
	}
	line := llm.Stub{Text: "[image/png, 5.0 kB, stored as r…]"}
	edited := m.WithParts([]llm.Part{m.Parts[0], line})
	if got, want := token.SizeOf(c, edited).Bytes, len(raw)-len(image)+token.WireBytes(line); got != want {
		t.Errorf("with a line for the image: %d bytes, want %d", got, want)
	}
	m.Envelope.Spans = nil
	if got := token.SizeOf(c, m).Bytes; got != len(raw) {
		t.Errorf("without places of its parts: %d bytes, want those of the object, %d", got, len(raw))
	}
}

// TestBytesInAnotherDialect: arguments that came as an object may have to leave as a
// string, in which every quote and line break takes two bytes.
func TestBytesInAnotherDialect(t *testing.T) {
	args := `{"code":"` + strings.Repeat(`a := \"b\"\n`, 500) + `"}`
	raw := `{"type":"tool_use","id":"c1","name":"run","input":` + args + `}`
	call := llm.ToolCall{CallID: "c1", Name: "run", Args: args, Raw: llm.Raw{Data: []byte(raw)}}
	s := token.SizeOfPart(counter(t, "chars/4"), call)
	if s.Bytes != len(raw) {
		t.Errorf("as it came: %d bytes, want %d", s.Bytes, len(raw))
	}
	if quoted, err := json.Marshal(args); err != nil || s.Bytes+s.More < len(quoted) || token.WireBytes(call) != s.Bytes+s.More {
		t.Errorf("elsewhere: %d bytes (%d), want %d and what stands around them", s.Bytes+s.More, token.WireBytes(call), len(quoted))
	}
}
