package gateway

import (
	"bytes"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// owned returns m with bytes of its own. A session keeps its messages for long; without
// this each would hold the whole body that it came in.
func owned(m llm.Message) llm.Message {
	m.Envelope.Raw = bytes.Clone(m.Envelope.Raw)
	m.Envelope.Spans = slices.Clone(m.Envelope.Spans)
	m.Parts = ownedParts(m.Parts)
	return m
}

func ownedParts(parts []llm.Part) []llm.Part {
	out := make([]llm.Part, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		case llm.Thinking:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		case llm.ToolCall:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		case llm.ToolResult:
			p.Raw, p.Content = ownedRaw(p.Raw), ownedParts(p.Content)
			out[i] = p
		case llm.Media:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		case llm.Stub:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		case llm.Opaque:
			p.Raw = ownedRaw(p.Raw)
			out[i] = p
		default:
			out[i] = p
		}
	}
	return out
}

func ownedRaw(r llm.Raw) llm.Raw {
	return llm.Raw{Data: bytes.Clone(r.Data), Base: bytes.Clone(r.Base)}
}
