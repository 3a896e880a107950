package ollama

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// decodeMessages reads the message list at c; each is where its elements lie.
func decodeMessages(c *raw.Cursor) (msgs []llm.Message, each []llm.Span, err error) {
	if !raw.IsArray(c.Next()) {
		return nil, nil, c.Wrong("an array")
	}
	var p pair.Calls
	c.Array(func(i int) bool {
		var m llm.Message
		var at llm.Span
		if !raw.IsObject(c.Next()) {
			err = c.Wrong("an object")
		} else {
			m, at, err = decodeMessage(c, &p)
		}
		if err != nil {
			err = raw.In(err, "["+strconv.Itoa(i)+"]")
			return false
		}
		msgs, each = append(msgs, m), append(each, at)
		return true
	})
	return msgs, each, err
}

// A piece is a part and its place.
type piece struct {
	part llm.Part
	at   llm.Span
}

// A messageReader gathers the members of one message, the last of each name.
type messageReader struct {
	role, name, id                  []byte
	content, thinking               piece
	images, calls                   []piece
	contentAt                       llm.Span // also of empty content
	contentErr, imagesErr, callsErr error
}

func (r *messageReader) read(c *raw.Cursor) {
	c.Object(func(name []byte) {
		start, begin := c.Pos(), c.NamePos()
		switch string(name) {
		case "role":
			r.role = c.Value()
		case "tool_name", "name":
			if value := c.Value(); r.name == nil || string(name) == "tool_name" {
				r.name = value
			}
		case "tool_call_id":
			r.id = c.Value()
		case "content":
			r.content, r.contentErr = piece{}, nil
			if !raw.IsString(c.Next()) && !raw.IsNone(c.Next()) {
				r.contentErr = raw.In(c.Wrong("a string"), "content")
			}
			lit := c.Value()
			r.contentAt = c.Since(start)
			if text := raw.Unquote(lit); text != "" {
				r.content = piece{llm.Text{Text: text, Raw: llm.Raw{Data: lit}}, r.contentAt}
			}
		case "thinking":
			r.thinking = piece{}
			if text := raw.Unquote(c.Value()); text != "" {
				at := c.Since(begin)
				r.thinking = piece{llm.Thinking{Text: text, Raw: llm.Raw{Data: c.Bytes(at)}}, at}
			}
		case "images":
			r.images, r.imagesErr = list(c, raw.IsString, "a string", func(b []byte) llm.Part { return media.Part(b) })
			r.imagesErr = raw.In(r.imagesErr, "images")
			c.Past(start, r.imagesErr)
		case "tool_calls":
			n := 0
			r.calls, r.callsErr = list(c, raw.IsObject, "an object", func(b []byte) llm.Part {
				n++
				return toolCall(b, n)
			})
			r.callsErr = raw.In(r.callsErr, "tool_calls")
			c.Past(start, r.callsErr)
		}
	})
}

// list reads the array at c, whose elements are of one kind; null is an empty one.
func list(c *raw.Cursor, kind func([]byte) bool, want string, part func([]byte) llm.Part) (out []piece, err error) {
	if raw.IsNone(c.Next()) {
		return nil, nil
	}
	if !raw.IsArray(c.Next()) {
		return nil, c.Wrong("an array")
	}
	c.Array(func(i int) bool {
		if !kind(c.Next()) {
			err = raw.In(c.Wrong(want), "["+strconv.Itoa(i)+"]")
			return false
		}
		start := c.Pos()
		b := c.Value()
		out = append(out, piece{part(b), c.Since(start)})
		return true
	})
	return out, err
}

// toolCall reads {"id", "function": {"name", "arguments"}}, the n-th of its message.
func toolCall(b []byte, n int) llm.Part {
	v := raw.Values(b, "id", "function")
	w := raw.Values(v[1], "name", "arguments")
	if !raw.IsString(w[0]) {
		return llm.Opaque{Kind: "tool_call", Raw: llm.Raw{Data: b}}
	}
	args := string(w[1])
	switch {
	case raw.IsNone(w[1]):
		args = "{}"
	case raw.IsString(w[1]): // as OpenAI has it; some clients mix that up
		args = raw.Unquote(w[1])
	}
	c := llm.ToolCall{CallID: raw.Unquote(v[0]), Name: raw.Unquote(w[0]), Args: args, Raw: llm.Raw{Data: b}}
	if c.CallID == "" {
		c.CallID = pair.ID(pair.Arguments([]byte(args)), c.Name, n)
	}
	return c
}

// decodeMessage reads the message at c and returns its place too. The origin is Model for
// the assistant, ToolRun for results, Note for the system and else that which [wire.Said]
// finds.
func decodeMessage(c *raw.Cursor, p *pair.Calls) (llm.Message, llm.Span, error) {
	start := c.Pos()
	var r messageReader
	r.read(c)
	place := c.Since(start)
	m := llm.Message{Dialect: Dialect, Envelope: llm.Envelope{Raw: c.Bytes(place)}}
	if err := cmp.Or(r.contentErr, r.callsErr, r.imagesErr); err != nil {
		return m, place, err
	}
	pieces := r.pieces()
	switch role := strings.ToLower(raw.Unquote(r.role)); role {
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "user":
		m.Role = llm.RoleUser
	case "system":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	case "tool":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		if r.contentAt.Len() == 0 {
			return m, place, &raw.Fault{Path: "content", Offset: start, What: "want a string, got nothing"}
		}
		pieces = slices.DeleteFunc(pieces, func(x piece) bool { return x.at == r.contentAt })
		pieces = append(pieces, piece{r.result(c, p), r.contentAt})
	default:
		what := "want system, user, assistant or tool, got " + strconv.Quote(role)
		return m, place, &raw.Fault{Path: "role", Offset: start, What: what}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return a.at.Start - b.at.Start })
	for _, x := range pieces {
		m.Parts = append(m.Parts, x.part)
		m.Envelope.Spans = append(m.Envelope.Spans, raw.Shift(x.at, -start))
	}
	p.Begin(waiting(m.Parts))
	if m.Role == llm.RoleUser {
		m = wire.Said(m)
	}
	return m, place, nil
}

// pieces returns what the message says: thinking, text, images, calls.
func (r *messageReader) pieces() []piece {
	var out []piece
	for _, x := range []piece{r.thinking, r.content} {
		if x.part != nil {
			out = append(out, x)
		}
	}
	return append(append(out, r.images...), r.calls...)
}

// result returns the content of a message of the role tool.
func (r *messageReader) result(c *raw.Cursor, p *pair.Calls) llm.ToolResult {
	out := llm.ToolResult{CallID: p.Result(raw.Unquote(r.id), raw.Unquote(r.name)), Raw: llm.Raw{Data: c.Bytes(r.contentAt)}}
	if r.content.part != nil {
		out.Content = []llm.Part{r.content.part}
	}
	return out
}

// waiting returns the calls among parts, which wait for their results.
func waiting(parts []llm.Part) []pair.Call {
	var calls []pair.Call
	for _, p := range parts {
		if c, ok := p.(llm.ToolCall); ok {
			calls = append(calls, pair.Call{ID: c.CallID, Name: c.Name, Own: hasID(c.Data)})
		}
	}
	return calls
}

// hasID reports whether the call b came with an id.
func hasID(b []byte) bool { return raw.Unquote(raw.Value(b, "id")) != "" }
