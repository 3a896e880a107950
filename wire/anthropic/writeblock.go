package anthropic

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// typed reports whether data is a block of one of the types; also if it is nothing, for
// then the part was made here.
func typed(data []byte, types ...string) bool {
	if data == nil {
		return true
	}
	kind := raw.Unquote(raw.Value(data, "type"))
	for _, t := range types {
		if kind == t {
			return true
		}
	}
	return false
}

// formless reports whether p, a part that begins, has no form in a reply: results, and
// what another provider ran, thought or keeps to itself.
func formless(p llm.Part) bool {
	switch p := p.(type) {
	case llm.ToolResult, nil:
		return true
	case llm.Thinking:
		return !typed(p.Data, "thinking", "redacted_thinking")
	case llm.ToolCall:
		return p.Hosted && !typed(p.Data, "server_tool_use", "mcp_tool_use")
	case llm.Opaque:
		return !ours(p)
	}
	return false
}

// ours reports whether p may be a block of this format. A stream does not say which
// dialect its parts came in; the types of other formats' items that would pass for blocks
// end in _call and _output, where those of this one end in _tool_use and _tool_result.
func ours(p llm.Opaque) bool {
	if p.Data == nil {
		return true // not told yet
	}
	kind := raw.Unquote(raw.Value(p.Data, "type"))
	switch {
	case kind == "" || kind != p.Kind, strings.HasSuffix(kind, "_call"), strings.HasSuffix(kind, "_output"):
		return false
	case kind == "compaction":
		return raw.Value(p.Data, "content") != nil
	}
	return true
}

// startBlock returns p as a block that begins, empty; nil if it can only be told as a
// whole, when it has ended. A block that came in this format keeps the members that
// deltas do not bring.
func startBlock(p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Text:
		return emptied(p.Data, "text", emptyText)
	case llm.Thinking:
		if p.Redacted {
			return redactedBlock(p)
		}
		return emptied(p.Data, "thinking", `{"type":"thinking","thinking":"","signature":""}`)
	case llm.ToolCall:
		return startCall(p)
	case llm.Media:
		if imageBlock(p) {
			return raw.OneLine(p.Data)
		}
		return []byte(emptyText)
	case llm.Stub:
		return []byte(emptyText)
	case llm.Opaque:
		if p.Data != nil && ours(p) {
			return raw.OneLine(p.Data)
		}
	}
	return nil
}

const emptyText = `{"type":"text","text":""}`

// imageBlock reports whether m is a block of this format already. No reply of the API has
// one so far.
func imageBlock(m llm.Media) bool { return m.Data != nil && typed(m.Data, "image", "document") }

// emptied returns data without what deltas bring, or empty if it is no block of that type.
func emptied(data []byte, kind, empty string) []byte {
	if data == nil || !typed(data, kind) {
		return []byte(empty)
	}
	for _, m := range []figure{
		{"text", []byte(`""`)},
		{"thinking", []byte(`""`)},
		{"signature", []byte(`""`)},
		{"citations", []byte("[]")},
	} {
		if raw.Value(data, m.name) != nil {
			data = raw.Set(data, m.name, m.value)
		}
	}
	return raw.OneLine(data)
}

func redactedBlock(p llm.Thinking) []byte {
	if p.Data != nil && typed(p.Data, "redacted_thinking") {
		return raw.OneLine(p.Data)
	}
	if p.Signature == "" {
		return nil
	}
	return new(raw.Object).Text("type", "redacted_thinking").Text("data", p.Signature).Bytes()
}

func startCall(p llm.ToolCall) []byte {
	if p.Data != nil && typed(p.Data, "tool_use", "server_tool_use", "mcp_tool_use") {
		data := raw.Set(p.Data, "input", []byte("{}"))
		if raw.Unquote(raw.Value(data, "id")) != p.CallID {
			data = raw.Set(data, "id", raw.Quote(p.CallID))
		}
		if raw.Unquote(raw.Value(data, "name")) != p.Name {
			data = raw.Set(data, "name", raw.Quote(p.Name))
		}
		return raw.OneLine(data)
	}
	kind := "tool_use"
	if p.Hosted {
		kind = "server_tool_use"
	}
	return new(raw.Object).Text("type", kind).Text("id", p.CallID).Text("name", p.Name).Raw("input", []byte("{}")).Bytes()
}

// wholeBlock returns p, a part that has ended, as a block without deltas; nil if there is
// nothing to tell.
func wholeBlock(p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Thinking:
		if p.Redacted {
			return redactedBlock(p)
		}
	case llm.Opaque:
		if p.Data != nil && ours(p) {
			return raw.OneLine(p.Data)
		}
	}
	return nil
}

// isDelta reports whether text is a delta of this format, which no neutral kind has.
func isDelta(text []byte) bool {
	obj, err := raw.CheckObject(text)
	return err == nil && strings.HasSuffix(raw.Unquote(raw.Value(obj, "type")), "_delta")
}
