package token

import "github.com/plimsoll-dev/plimsoll/core/llm"

// What the fields and the punctuation around a part's content take on the wire,
// in bytes. They are rounded up from the largest of the dialects, and used only
// for parts that were made here and so have no bytes yet.
const (
	messageFrame = 40
	textFrame    = 32
	callFrame    = 96
	resultFrame  = 96
	mediaFrame   = 112
	sectionFrame = 32
	toolFrame    = 72
)

// messageBytes returns the bytes of m on the wire.
func messageBytes(m llm.Message) int {
	if len(m.Envelope.Raw) > 0 {
		return len(m.Envelope.Raw)
	}
	n := messageFrame
	for _, p := range m.Parts {
		n += partBytes(p)
	}
	return n
}

// partBytes returns the bytes of p on the wire.
func partBytes(p llm.Part) int {
	if raw := p.Bytes(); raw != nil {
		return len(raw)
	}
	switch p := p.(type) {
	case llm.Text:
		return textFrame + quoted(p.Text)
	case llm.Thinking:
		return textFrame + quoted(p.Text) + quoted(p.Signature)
	case llm.ToolCall:
		return callFrame + quoted(p.CallID) + quoted(p.Name) + quoted(p.Args)
	case llm.ToolResult:
		n := resultFrame + quoted(p.CallID)
		for _, c := range p.Content {
			n += partBytes(c)
		}
		return n
	case llm.Media:
		return mediaFrame + p.Size
	case llm.Stub:
		return textFrame + quoted(p.Text)
	}
	return 0
}

func sectionBytes(s llm.Section) int {
	if raw := s.Bytes(); raw != nil {
		return len(raw)
	}
	if s.Text == "" {
		return 0
	}
	return sectionFrame + quoted(s.Text)
}

func toolBytes(t llm.Tool) int {
	if raw := t.Bytes(); raw != nil {
		return len(raw)
	}
	return toolFrame + quoted(t.Name) + quoted(t.Description) + len(t.Schema)
}

// quoted returns the length of s inside a JSON string.
func quoted(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < ' ':
			n += 5 // \u00XX
		}
	}
	return n
}
