package gemini

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// decodeContents reads the value of "contents" at c into r: an array of messages or, as the
// provider takes it too, one message.
func decodeContents(c *raw.Cursor, r *llm.Request) (err error) {
	r.Messages, r.Frame.Each, r.Frame.Mixed, r.Frame.Pieces = nil, nil, nil, nil // they may come again, and the last ones count
	var p pair.Calls
	add := func() error {
		m, at, err := decodeMessage(c, &p)
		if err == nil {
			r.Frame.Each = append(r.Frame.Each, at)
			round.Append(r, m, nil)
		}
		return err
	}
	switch {
	case raw.IsObject(c.Next()):
		return add()
	case !raw.IsArray(c.Next()):
		return c.Wrong("an array")
	}
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			err = c.Wrong("an object")
		} else {
			err = add()
		}
		if err != nil {
			err = raw.In(err, "["+strconv.Itoa(i)+"]")
		}
		return err == nil
	})
	return err
}

// decodeMessage reads the message at c, {"role", "parts"}, and returns its place too. A
// message with results is of the role tool. The origin is Model for the model, ToolRun for
// results and else that which [wire.Said] finds.
func decodeMessage(c *raw.Cursor, p *pair.Calls) (llm.Message, llm.Span, error) {
	start := c.Pos()
	var m llm.Message
	var role llm.Span
	var partsErr error
	before := *p
	c.Object(func(name []byte) {
		at := c.Pos()
		switch string(name) {
		case "role":
			role = c.Skip(at)
		case "parts":
			*p = before // parts may come again, and the last ones count
			m.Parts, m.Envelope.Spans, partsErr = decodeParts(c, p)
			c.Past(at, partsErr)
		}
	})
	place := c.Since(start)
	if partsErr != nil {
		return m, place, raw.In(partsErr, "parts")
	}
	m.Dialect, m.Envelope.Raw = Dialect, c.Bytes(place)
	for i, s := range m.Envelope.Spans {
		m.Envelope.Spans[i] = raw.Shift(s, -start)
	}
	switch speaker := raw.Unquote(c.Bytes(role)); speaker {
	case "model":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
		p.Begin(waiting(m.Parts))
	case "user", "function", "":
		if m.Role = llm.RoleUser; len(m.Results()) > 0 {
			m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		} else {
			m = wire.Said(m)
		}
	default:
		what := "want user, model or function, got " + strconv.Quote(speaker)
		return m, place, &raw.Fault{Path: "role", Offset: max(role.Start, start), What: what}
	}
	return m, place, nil
}

// waiting returns the calls among parts, which wait for their results.
func waiting(parts []llm.Part) []pair.Call {
	var calls []pair.Call
	for _, p := range parts {
		if c, ok := p.(llm.ToolCall); ok {
			calls = append(calls, pair.Call{ID: c.CallID, Name: c.Name, Own: callHasID(c.Data)})
		}
	}
	return calls
}

// callHasID reports whether the part b is a call that came with an id.
func callHasID(b []byte) bool { return raw.Unquote(raw.Value(nameCall.value(b), "id")) != "" }

// decodeParts reads the value of "parts" at c: an array or, as the provider takes it too,
// one part.
func decodeParts(c *raw.Cursor, p *pair.Calls) (parts []llm.Part, spans []llm.Span, err error) {
	var s ids
	add := func() {
		part, at := decodePart(c, &s, p)
		parts, spans = append(parts, part), append(spans, at)
	}
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil, nil, nil
	case raw.IsObject(next):
		add()
		return parts, spans, nil
	case !raw.IsArray(next):
		return nil, nil, c.Wrong("an array")
	}
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			err = raw.In(c.Wrong("an object"), "["+strconv.Itoa(i)+"]")
			return false
		}
		add()
		return true
	})
	return parts, spans, err
}

// wireRole returns the role of a content: all that the model did not write is the user's.
func wireRole(r llm.Role) string {
	if r == llm.RoleAssistant {
		return "model"
	}
	return "user"
}
