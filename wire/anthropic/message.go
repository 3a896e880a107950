package anthropic

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeMessage reads one wire message, {"role", "content"}. The role system is
// [llm.RoleSystem]; a message with tool results is [llm.RoleTool]. The origin is
// Model for the assistant, ToolRun for tool results, Note for the system and else
// that which [wire.Said] finds. The message shares the bytes of data. The error says
// where data is no message.
func DecodeMessage(data []byte) (llm.Message, error) {
	obj, err := raw.CheckObject(data)
	if err != nil {
		return llm.Message{}, fmt.Errorf("anthropic: decode message: %w", err)
	}
	m, _, err := decodeMessage(raw.NewCursor(obj))
	if err != nil {
		return llm.Message{}, fmt.Errorf("anthropic: decode message: %w", err)
	}
	return m, nil
}

// decodeMessage reads the wire message at c and returns its place too.
func decodeMessage(c *raw.Cursor) (llm.Message, llm.Span, error) {
	start := c.Pos()
	var m llm.Message
	var role llm.Span
	contentErr := error(&raw.Fault{Offset: start, What: "want a string or an array, got nothing"})
	c.Object(func(name []byte) {
		at := c.Pos()
		switch string(name) {
		case "role":
			role = c.Skip(at)
		case "content":
			m.Parts, m.Envelope.Spans, contentErr = decodeContent(c)
			c.Past(at, contentErr) // a wrong one may be followed by the one that counts
		}
	})
	place := c.Since(start)
	if contentErr != nil {
		return m, place, raw.In(contentErr, "content")
	}
	m.Dialect, m.Envelope.Raw = Dialect, c.Bytes(place)
	for i, s := range m.Envelope.Spans {
		m.Envelope.Spans[i] = raw.Shift(s, -start)
	}
	switch speaker := raw.Unquote(c.Bytes(role)); speaker {
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "user":
		if m.Role = llm.RoleUser; hasResult(m.Parts) {
			m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		} else {
			m = wire.Said(m)
		}
	case "system":
		if m.Role, m.Origin = llm.RoleSystem, llm.Note; wire.Steers(m.Text()) {
			m.Origin = llm.Human
		}
	default:
		what := "want user, assistant or system, got " + strconv.Quote(speaker)
		return m, place, &raw.Fault{Path: "role", Offset: max(role.Start, start), What: what}
	}
	return m, place, nil
}

func hasResult(parts []llm.Part) bool {
	for _, p := range parts {
		if _, ok := p.(llm.ToolResult); ok {
			return true
		}
	}
	return false
}

// EncodeMessage returns m as one wire message. Untouched, that is the envelope it
// came with. It returns no bytes for a message with nothing to send, and never an
// error so far.
func EncodeMessage(m llm.Message) ([]byte, error) {
	if enveloped(m) {
		return patch(m, llm.NoMark), nil
	}
	return message(wireRole(m.Role), blocks(m, llm.NoMark)), nil
}

// enveloped reports whether m can be sent as the envelope it came with.
func enveloped(m llm.Message) bool { return m.Dialect == Dialect && raw.Fits(m) }

// wireRole returns who speaks on the wire: results and notes are the user's.
func wireRole(r llm.Role) string {
	if r == llm.RoleAssistant {
		return "assistant"
	}
	return "user"
}

// message returns a new wire message, results first, or nil if there are no blocks.
func message(role string, content []block) []byte {
	if len(content) == 0 {
		return nil
	}
	return new(raw.Object).Text("role", role).Raw("content", array(content)).Bytes()
}

// array returns blocks as content, results first, else in their order: the API wants
// them to lead the message after the calls.
func array(content []block) []byte {
	values := make([][]byte, 0, len(content))
	for _, b := range content {
		if b.result {
			values = append(values, b.bytes)
		}
	}
	for _, b := range content {
		if !b.result {
			values = append(values, b.bytes)
		}
	}
	return raw.Array(values)
}

// patch returns the envelope of m with its edited parts written into it, or nil if
// nothing is left to send. A mark is on those parts already that stay in the envelope.
func patch(m llm.Message, mark llm.Mark) []byte {
	if raw.Untouched(m) {
		return m.Envelope.Raw
	}
	with := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		at := m.Envelope.Spans[i]
		if raw.InPlace(p, m.Envelope, at) {
			continue
		}
		literal := raw.IsString(m.Envelope.Raw[at.Start:at.End])
		if with[i] = inPlaceOf(p, literal); with[i] == nil {
			return withoutEmpty(m, mark)
		}
	}
	return raw.Patch(m.Envelope, with)
}

// inPlaceOf returns the bytes of p for the place of a block, or of a string that was
// all the content; nil if there is nothing to send.
func inPlaceOf(p llm.Part, literal bool) []byte {
	b := blockOf(p, true)
	if b == nil || !literal {
		return b
	}
	if raw.Value(raw.Base(p), cacheControl) == nil { // a string has no mark
		switch p := p.(type) {
		case llm.Text:
			return raw.Quote(p.Text)
		case llm.Stub:
			return raw.Quote(p.Text)
		}
	}
	return raw.Array([][]byte{b})
}

// withoutEmpty returns the envelope of m with a new content array, because a part
// has gone from it.
func withoutEmpty(m llm.Message, mark llm.Mark) []byte {
	rest := blocks(m, mark)
	if len(rest) == 0 {
		return nil
	}
	values := make([][]byte, len(rest))
	for i, b := range rest {
		values[i] = b.bytes
	}
	return raw.Set(m.Envelope.Raw, "content", raw.Array(values))
}
