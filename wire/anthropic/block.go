package anthropic

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeBlock reads one content block. A block of a type not known here, or of a
// known type with members of the wrong kind, is an [llm.Opaque] whose Kind is the
// type: it is carried, not judged. A tool_result with a tool_use_id is always an
// [llm.ToolResult]; content of another kind than the format has is one Opaque in it.
// The part shares the bytes of block. The error says that block is not one JSON object.
func DecodeBlock(block []byte) (llm.Part, error) {
	obj, err := raw.CheckObject(block)
	if err != nil {
		return nil, fmt.Errorf("anthropic: decode block: %w", err)
	}
	p, _ := decodeBlock(raw.NewCursor(obj))
	return p, nil
}

// DecodeContent reads the value of a member "content": a string, which is one
// [llm.Text], or an array of blocks. spans are the places of the parts in content,
// whose bytes the parts share.
func DecodeContent(content []byte) (parts []llm.Part, spans []llm.Span, err error) {
	if err := raw.Check(content); err != nil {
		return nil, nil, fmt.Errorf("anthropic: decode content: %w", err)
	}
	parts, spans, err = decodeContent(raw.NewCursor(content))
	if err != nil {
		return nil, nil, fmt.Errorf("anthropic: decode content: %w", err)
	}
	return parts, spans, nil
}

// decodeContent reads the content at c.
func decodeContent(c *raw.Cursor) (parts []llm.Part, spans []llm.Span, err error) {
	if raw.IsString(c.Next()) {
		at := c.Skip(c.Pos())
		lit := c.Bytes(at)
		return []llm.Part{llm.Text{Text: raw.Unquote(lit), Raw: llm.Raw{Data: lit}}}, []llm.Span{at}, nil
	}
	if !raw.IsArray(c.Next()) {
		return nil, nil, c.Wrong("a string or an array")
	}
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			err = raw.In(c.Wrong("an object"), "["+strconv.Itoa(i)+"]")
			return false
		}
		part, at := decodeBlock(c)
		parts, spans = append(parts, part), append(spans, at)
		return true
	})
	return parts, spans, err
}

// members are the values of a block's members that are looked at here.
type members struct {
	kind, text, id, name, input        []byte
	useID, content, isError            []byte
	thinking, signature, redactedBytes []byte
}

func membersOf(c *raw.Cursor) members {
	var m members
	c.Object(func(name []byte) {
		switch string(name) {
		case "type":
			m.kind = c.Value()
		case "text":
			m.text = c.Value()
		case "id":
			m.id = c.Value()
		case "name":
			m.name = c.Value()
		case "input":
			m.input = c.Value()
		case "tool_use_id":
			m.useID = c.Value()
		case "content":
			m.content = c.Value()
		case "is_error":
			m.isError = c.Value()
		case "thinking":
			m.thinking = c.Value()
		case "signature":
			m.signature = c.Value()
		case "data":
			m.redactedBytes = c.Value()
		}
	})
	return m
}

// decodeBlock reads the block at c and returns its place too.
func decodeBlock(c *raw.Cursor) (llm.Part, llm.Span) {
	start := c.Pos()
	m := membersOf(c)
	at := c.Since(start)
	return m.part(c.Bytes(at)), at
}

// part returns the block b, whose members are m.
func (m members) part(b []byte) llm.Part {
	here := llm.Raw{Data: b}
	kind := raw.Unquote(m.kind)
	switch {
	case kind == "text" && raw.IsString(m.text):
		return llm.Text{Text: raw.Unquote(m.text), Raw: here}
	case kind == "image" || kind == "document":
		return media.Part(b)
	case (kind == "tool_use" || hosted(kind)) && raw.IsString(m.id) && raw.IsString(m.name):
		return llm.ToolCall{
			CallID: raw.Unquote(m.id), Name: raw.Unquote(m.name), Args: string(m.input), Hosted: hosted(kind), Raw: here,
		}
	case kind == "tool_result" && raw.IsString(m.useID):
		return llm.ToolResult{
			CallID: raw.Unquote(m.useID), Content: decodeResultContent(m.content),
			IsError: string(m.isError) == "true", Raw: here,
		}
	case kind == "thinking" && raw.IsString(m.thinking):
		return llm.Thinking{Text: raw.Unquote(m.thinking), Signature: raw.Unquote(m.signature), Raw: here}
	case kind == "redacted_thinking":
		return llm.Thinking{Signature: raw.Unquote(m.redactedBytes), Redacted: true, Raw: here}
	}
	return llm.Opaque{Kind: kind, Loads: loadsOf(kind, b), Compacts: compactsOf(kind, b), Raw: here}
}

// maker is the provider of this format by name.
const maker = "anthropic"

// compactsOf returns who reads a block b that stands for all before it. One without content is of a
// compaction that failed, and says nothing.
func compactsOf(kind string, b []byte) string {
	if kind == "compaction" && raw.IsString(raw.Value(b, "content")) {
		return maker
	}
	return ""
}

// hosted reports whether blocks of that type are calls of tools that the provider runs.
// Their results, which come in the same message, are opaque.
func hosted(kind string) bool { return kind == "server_tool_use" || kind == "mcp_tool_use" }

// unreadable is the Kind of the one [llm.Opaque] that stands for the whole content of
// a tool_result that is neither a string nor an array of blocks.
const unreadable = "tool_result_content"

// decodeResultContent reads the content of a tool_result. Only text and media are
// read, all else is opaque: a result inside a result does not exist in this format,
// so nothing nests. Content that cannot be read at all is carried as one part: the
// result answers its call whatever its tool put into it.
func decodeResultContent(value []byte) []llm.Part {
	whole := []llm.Part{llm.Opaque{Kind: unreadable, Raw: llm.Raw{Data: value}}}
	switch {
	case raw.IsNone(value):
		return nil
	case raw.IsString(value):
		return []llm.Part{llm.Text{Text: raw.Unquote(value), Raw: llm.Raw{Data: value}}}
	case !raw.IsArray(value):
		return whole
	}
	var parts []llm.Part
	ok := true
	c := raw.NewCursor(value)
	c.Array(func(int) bool {
		if ok = raw.IsObject(c.Next()); ok {
			parts = append(parts, decodeNested(c))
		}
		return ok
	})
	if !ok {
		return whole
	}
	return parts
}

// decodeNested reads the block at c inside a tool result: text and media, else opaque.
func decodeNested(c *raw.Cursor) llm.Part {
	start := c.Pos()
	m := membersOf(c)
	b := c.Bytes(c.Since(start))
	kind := raw.Unquote(m.kind)
	switch kind {
	case "text", "image", "document":
		return m.part(b)
	}
	return llm.Opaque{Kind: kind, Loads: loadsOf(kind, b), Raw: llm.Raw{Data: b}}
}
