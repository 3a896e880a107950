package engine

import (
	"bytes"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Schema == b.Schema && a.Custom == b.Custom && a.Builtin == b.Builtin && a.Kind == b.Kind && a.Deferred == b.Deferred && a.Finder == b.Finder && sameRaw(a.Raw, b.Raw)
}

func sameSection(a, b llm.Section) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Text == b.Text && a.Cacheable == b.Cacheable && a.Tokens == b.Tokens && sameRaw(a.Raw, b.Raw)
}

func sameRaw(a, b llm.Raw) bool { return bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Base, b.Base) }

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
