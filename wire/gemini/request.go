package gemini

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeRequest reads the body of generateContent, streamGenerateContent or countTokens:
// its messages, one for each element of contents (of one with results and text, one for
// what each author says in a row), the parts of its system instruction as
// sections (all cacheable: a client repeats them), and its tools. The frame holds body
// itself, which nobody may write to from here on. Whether the reply is streamed the body
// does not say. The error says what is wrong and where: not JSON, nested too deep, no
// contents, a message with a role that is not known.
func DecodeRequest(body []byte) (llm.Request, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Request{}, fmt.Errorf("gemini: decode request: %w", err)
	}
	r, err := decodeRequest(raw.NewCursor(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("gemini: decode request: %w", err)
	}
	r.Dialect, r.Frame.Raw = Dialect, body
	return r, nil
}

// A requestReader gathers what the members of a request say.
type requestReader struct {
	c                             *raw.Cursor
	r                             llm.Request
	system                        string // the spelling of what Sections were read from
	config, toolConfig            spelled
	systemErr, toolsErr, contents error
}

func decodeRequest(c *raw.Cursor) (llm.Request, error) {
	d := requestReader{c: c, contents: &raw.Fault{What: "want an array, got nothing"}}
	var outer, inner string
	step := ""
	c.Object(func(name []byte) {
		switch string(name) {
		case "model":
			outer = raw.Unquote(c.Value())
		case "request", "generateContentRequest", "generate_content_request":
			if !raw.IsObject(c.Next()) {
				return
			}
			step = string(name)
			c.Object(func(name []byte) {
				if string(name) == "model" {
					inner = raw.Unquote(c.Value())
					return
				}
				d.member(name)
			})
		default:
			d.member(name)
		}
	})
	r := d.r
	r.Model = cmp.Or(outer, inner)
	r.Settings, r.MaxOutput = settingsOf(d.config.value, d.toolConfig.value)
	err := d.err()
	if err != nil && step != "" {
		err = raw.In(err, step)
	}
	return r, err
}

// member reads one member of a request. One that is wrong is passed over for now: it may
// come again, and the last one counts.
func (d *requestReader) member(name []byte) {
	c := d.c
	start := c.Pos()
	switch string(name) {
	case "systemInstruction", "system_instruction":
		if raw.IsNone(c.Next()) && d.system != "" && d.system != string(name) {
			return // the other spelling has the value
		}
		d.system = string(name)
		d.r.Sections, d.systemErr = decodeSystem(c)
		d.r.Frame.System = c.Past(start, d.systemErr)
	case "tools":
		d.r.Tools, d.toolsErr = decodeTools(c)
		d.r.Frame.Tools = c.Past(start, d.toolsErr)
	case "contents":
		d.contents = decodeContents(c, &d.r)
		d.r.Frame.Messages = c.Past(start, d.contents)
	case "generationConfig", "generation_config":
		d.config.take(nameConfig, name, c.Value())
	case "toolConfig", "tool_config":
		d.toolConfig.take(nameToolConfig, name, c.Value())
	}
}

func (d *requestReader) err() error {
	switch {
	case d.systemErr != nil:
		return raw.In(d.systemErr, "systemInstruction")
	case d.toolsErr != nil:
		return raw.In(d.toolsErr, "tools")
	case d.contents != nil:
		return raw.In(d.contents, "contents")
	}
	return nil
}

// decodeSystem reads the value of "systemInstruction" at c: a message without a role or,
// as some clients send it, a string.
func decodeSystem(c *raw.Cursor) (sections []llm.Section, err error) {
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil, nil
	case raw.IsString(next):
		lit := c.Value()
		return []llm.Section{{Name: "system", Text: raw.Unquote(lit), Cacheable: true, Raw: llm.Raw{Data: lit}}}, nil
	case !raw.IsObject(next):
		return nil, c.Wrong("an object")
	}
	c.Object(func(name []byte) {
		if string(name) != "parts" {
			return
		}
		parts := c.Value()
		sections, err = nil, nil
		for i, s := range elementsOf(parts) {
			b := raw.Slice(parts, s)
			if !raw.IsObject(b) {
				err = raw.In(raw.Wrong("an object", b), "parts["+strconv.Itoa(i)+"]")
				return
			}
			sections = append(sections, llm.Section{
				Name: "system " + strconv.Itoa(i+1), Text: raw.Unquote(raw.Value(b, "text")), Cacheable: true, Raw: llm.Raw{Data: b},
			})
		}
	})
	return sections, err
}

// elementsOf returns the places of the elements of value, an array or the one element.
func elementsOf(value []byte) []llm.Span {
	if raw.IsObject(value) {
		return []llm.Span{{End: len(value)}}
	}
	return raw.Elements(value)
}
