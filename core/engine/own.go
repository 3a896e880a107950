package engine

import (
	"bytes"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What a host hands in stays the host's: it may use a slice again for the next call. So
// the machine keeps lists of its own. Of tools and sections it has the bytes as well,
// since they are told anew in every Step and compared with what was told before.

func ownTools(tools []llm.Tool) []llm.Tool {
	own := slices.Clone(tools)
	for i := range own {
		own[i].Raw = ownRaw(own[i].Raw)
	}
	return own
}

func ownSections(sections []llm.Section) []llm.Section {
	own := slices.Clone(sections)
	for i := range own {
		own[i].Raw = ownRaw(own[i].Raw)
	}
	return own
}

func ownRaw(r llm.Raw) llm.Raw { return llm.Raw{Data: bytes.Clone(r.Data), Base: bytes.Clone(r.Base)} }

// ownMessage returns a message with lists of its own. The bytes that its parts came with
// are those of a body that nobody writes to.
func ownMessage(msg llm.Message) llm.Message {
	msg.Parts = slices.Clone(msg.Parts)
	for i, p := range msg.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			r.Content = slices.Clone(r.Content)
			msg.Parts[i] = r
		}
	}
	msg.Envelope.Spans = slices.Clone(msg.Envelope.Spans)
	return msg
}
