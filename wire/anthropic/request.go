package anthropic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// DecodeRequest reads a request body: its messages, one for each wire message (of one with
// results and text, one for what each author says in a row), the
// blocks of its system prompt as sections (all cacheable: a client repeats them), its
// tools and its settings. The body of a count_tokens request is one too. The frame holds body itself, which nobody may write to from here on. The
// error says what is wrong and where: not JSON, nested too deep, no message list, a
// message without a known role.
func DecodeRequest(body []byte) (llm.Request, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Request{}, fmt.Errorf("anthropic: decode request: %w", err)
	}
	r, err := decodeRequest(raw.NewCursor(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("anthropic: decode request: %w", err)
	}
	r.Dialect, r.Frame.Raw = Dialect, body
	return r, nil
}

func decodeRequest(c *raw.Cursor) (llm.Request, error) {
	var r llm.Request
	var systemErr, toolsErr error
	messagesErr := error(&raw.Fault{What: "want an array, got nothing"})
	c.Object(func(name []byte) {
		// A member that is wrong is passed over for now: it may come again, and the last one counts.
		start := c.Pos()
		switch string(name) {
		case "model":
			r.Model = raw.Unquote(c.Value())
		case "max_tokens":
			r.MaxOutput, _ = raw.Int(c.Value()) // anything else is the provider's to refuse
		case "system":
			r.Sections, systemErr = decodeSystem(c)
			r.Frame.System = c.Past(start, systemErr)
		case "tools":
			r.Tools, toolsErr = decodeTools(c)
			r.Frame.Tools = c.Past(start, toolsErr)
		case "messages":
			messagesErr = decodeMessages(c, &r)
			r.Frame.Messages = c.Past(start, messagesErr)
		default:
			readSetting(&r.Settings, name, c.Value())
		}
	})
	switch {
	case systemErr != nil:
		return r, raw.In(systemErr, "system")
	case toolsErr != nil:
		return r, raw.In(toolsErr, "tools")
	case messagesErr != nil:
		return r, raw.In(messagesErr, "messages")
	}
	return r, nil
}

// decodeMessages reads the message list at c into r.
func decodeMessages(c *raw.Cursor, r *llm.Request) (err error) {
	r.Messages, r.Frame.Each, r.Frame.Mixed, r.Frame.Pieces = nil, nil, nil, nil // the list may come again, and the last one counts
	if !raw.IsArray(c.Next()) {
		return c.Wrong("an array")
	}
	c.Array(func(i int) bool {
		var m llm.Message
		var at llm.Span
		if !raw.IsObject(c.Next()) {
			err = c.Wrong("an object")
		} else {
			m, at, err = decodeMessage(c)
		}
		if err != nil {
			err = raw.In(err, "["+strconv.Itoa(i)+"]")
			return false
		}
		r.Frame.Each = append(r.Frame.Each, at)
		round.Append(r, m, seam{})
		return true
	})
	return err
}

// decodeSystem reads the value of "system" at c: a string or an array of text blocks.
func decodeSystem(c *raw.Cursor) (sections []llm.Section, err error) {
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil, nil
	case raw.IsString(next):
		lit := c.Value()
		return []llm.Section{{Name: "system", Text: raw.Unquote(lit), Cacheable: true, Raw: llm.Raw{Data: lit}}}, nil
	case !raw.IsArray(next):
		return nil, c.Wrong("a string or an array")
	}
	err = c.Objects(func(i int, b []byte) {
		sections = append(sections, llm.Section{
			Name: "system " + strconv.Itoa(i+1), Text: raw.Unquote(raw.Value(b, "text")), Cacheable: true, Raw: llm.Raw{Data: b},
		})
	})
	return sections, err
}

// decodeTools reads the value of "tools" at c.
func decodeTools(c *raw.Cursor) (tools []llm.Tool, err error) {
	if raw.IsNone(c.Next()) {
		return nil, nil
	}
	if !raw.IsArray(c.Next()) {
		return nil, c.Wrong("an array")
	}
	err = c.Objects(func(_ int, b []byte) {
		v := raw.Values(b, "name", "description", "input_schema", "defer_loading", "type")
		tools = append(tools, llm.Tool{
			Name: raw.Unquote(v[0]), Description: raw.Unquote(v[1]), Schema: string(v[2]),
			Deferred: string(v[3]) == "true", Finder: strings.HasPrefix(raw.Unquote(v[4]), finderType), Raw: llm.Raw{Data: b},
		})
	})
	return tools, err
}
