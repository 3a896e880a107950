package openai

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeResponses reads a Responses body: its instructions as one section, its tools, and
// its input as messages (see the package comment). A body without input, whose history
// is on the server, has no messages. The frame holds body itself, which nobody may write
// to from here on; Each are the places of the items, of which one message may have
// several. The error says what is wrong and where.
func DecodeResponses(body []byte) (llm.Request, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode responses: %w", err)
	}
	r, err := decodeResponses(raw.NewCursor(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode responses: %w", err)
	}
	r.Dialect, r.Frame.Raw = DialectResponses, body
	return r, nil
}

func decodeResponses(c *raw.Cursor) (llm.Request, error) {
	var r llm.Request
	var instructionsErr, toolsErr, inputErr error
	c.Object(func(name []byte) {
		// A member that is wrong is passed over for now: it may come again, and the last one counts.
		start := c.Pos()
		switch string(name) {
		case "model":
			r.Model = raw.Unquote(c.Value())
		case "max_output_tokens":
			r.MaxOutput, _ = raw.Int(c.Value()) // anything else is the provider's to refuse
		case "instructions":
			r.Sections, instructionsErr = decodeInstructions(c)
			r.Frame.System = c.Past(start, instructionsErr)
		case "tools":
			r.Tools, toolsErr = decodeTools(c)
			r.Frame.Tools = c.Past(start, toolsErr)
		case "input":
			r.Messages, r.Frame.Each, inputErr = decodeInput(c)
			r.Frame.Messages = c.Past(start, inputErr)
		default:
			if isSetting(name) && string(name) != "stop" {
				readSetting(&r.Settings, string(name), c.Value())
			}
		}
	})
	switch {
	case instructionsErr != nil:
		return r, raw.In(instructionsErr, "instructions")
	case toolsErr != nil:
		return r, raw.In(toolsErr, "tools")
	case inputErr != nil:
		return r, raw.In(inputErr, "input")
	}
	return r, nil
}

func decodeInstructions(c *raw.Cursor) ([]llm.Section, error) {
	if raw.IsNone(c.Next()) {
		return nil, nil
	}
	if !raw.IsString(c.Next()) {
		return nil, c.Wrong("a string")
	}
	lit := c.Value()
	return []llm.Section{{Name: "instructions", Text: raw.Unquote(lit), Cacheable: true, Raw: llm.Raw{Data: lit}}}, nil
}

// decodeInput reads the value of "input" at c; each is where its items lie.
func decodeInput(c *raw.Cursor) (msgs []llm.Message, each []llm.Span, err error) {
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil, nil, nil
	case raw.IsString(next):
		at := c.Skip(c.Pos())
		return []llm.Message{inputString(c.Bytes(at))}, []llm.Span{at}, nil
	case !raw.IsArray(next):
		return nil, nil, c.Wrong("a string or an array")
	}
	start := c.Pos()
	open := false // the last message is one that the model goes on writing
	c.Array(func(i int) bool {
		var m llm.Message
		var at llm.Span
		if !raw.IsObject(c.Next()) {
			err = c.Wrong("an object")
		} else {
			m, at, err = decodeItem(c)
		}
		if err != nil {
			err = raw.In(err, index(i))
			return false
		}
		each = append(grown(each, c, start), at)
		written := m.Role == llm.RoleAssistant && m.Origin == llm.Model
		if last := len(msgs) - 1; written && open {
			msgs[last].Parts = append(msgs[last].Parts, m.Parts...)
		} else {
			msgs = append(grown(msgs, c, start), m)
		}
		open = written
		return true
	})
	return msgs, each, err
}

// inputString returns an input that is one string.
func inputString(lit []byte) llm.Message {
	return wire.Said(llm.Message{
		Role: llm.RoleUser, Dialect: DialectResponses,
		Parts:    []llm.Part{stringPart(lit)},
		Envelope: llm.Envelope{Raw: lit, Spans: []llm.Span{{End: len(lit)}}},
	})
}

// EncodeResponses returns the Responses body of r. A request that was decoded here and not
// changed gives the very bytes (the same slice) that it was decoded from; else only what
// differs is written anew: the input, the instructions, the tool list, the model, the
// output limit, the settings (also to nothing), each by itself. A request without a frame of this dialect is written
// from the start. The error says that the frame does not describe its body.
func EncodeResponses(r llm.Request) ([]byte, error) {
	r = wire.Loaded(r, DialectResponses)
	if r.Dialect != DialectResponses || len(r.Frame.Raw) == 0 {
		return freshResponses(r), nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("openai: encode responses: %w", err)
	}
	b.PutText("model", r.Model)
	b.PutInt("max_output_tokens", r.MaxOutput)
	putSettings(b, r, DialectResponses)
	if at, _ := b.Find(contextManagement); at.Len() == 0 && r.Settings.Clear.Compact > 0 {
		b.PutFields(raw.Field{Name: contextManagement, Value: compacting(r.Settings.Clear)})
	}
	putInstructions(b, r)
	tools := b.List(r.Frame.Tools, nil)
	b.PutList("tools", r.Frame.Tools, tools, toolElements(r, tools, DialectResponses))
	list := b.List(r.Frame.Messages, r.Frame.Each)
	elements := inputElements(r.Messages, list)
	switch {
	case list.Same(elements):
	case len(elements) == 1 && raw.IsString(elements[0].Bytes):
		b.Put("input", r.Frame.Messages, elements[0].Bytes) // what came as a string stays one
	default:
		b.Put("input", r.Frame.Messages, list.With(asItems(elements)))
	}
	return b.Bytes(), nil
}

// asItems returns elements for an array: a string cannot stand in it.
func asItems(elements []raw.Element) []raw.Element {
	for i, e := range elements {
		elements[i].Bytes = asItem(e.Bytes)
	}
	return elements
}

func freshResponses(r llm.Request) []byte {
	none := raw.NewList(nil, nil)
	o := new(raw.Object).Stated("model", r.Model)
	addOutputLimit(o, "max_output_tokens", r.MaxOutput)
	for _, f := range changes(llm.Settings{}, r, DialectResponses) {
		o.Raw(f.Name, f.Value)
	}
	if word := r.Settings.Effort.Word; word != "" {
		o.Raw("reasoning", new(raw.Object).Text("effort", word).Bytes())
	}
	if c := r.Settings.Clear; c.Compact > 0 {
		o.Raw(contextManagement, compacting(c))
	}
	if text := sectionText(r.Sections); text != "" {
		o.Text("instructions", text)
	}
	if tools := toolElements(r, none, DialectResponses); len(tools) > 0 {
		o.Raw("tools", none.With(tools))
	}
	return o.Raw("input", none.With(asItems(inputElements(r.Messages, none)))).Bytes()
}

// contextManagement is what a request has for a provider that shortens prompts by itself (OpenAI,
// "Compaction").
const contextManagement = "context_management"

// compacting returns the value of context_management that asks for a compaction.
func compacting(c llm.Clearing) []byte {
	e := new(raw.Object).Text("type", "compaction").Raw("compact_threshold", raw.Digits(c.Compact)).Bytes()
	return raw.Array([][]byte{e})
}

// putInstructions changes the instructions if the sections say something else.
func putInstructions(b *raw.Body, r llm.Request) {
	old := raw.Slice(r.Frame.Raw, r.Frame.System)
	if len(r.Sections) == 1 && r.Sections[0].Data != nil && bytes.Equal(r.Sections[0].Data, old) {
		return
	}
	text := sectionText(r.Sections)
	switch {
	case text == raw.Unquote(old):
	case text == "":
		b.Drop("instructions")
	default:
		b.Put("instructions", r.Frame.System, raw.Quote(text))
	}
}

// inputElements returns the items of msgs as elements of the input.
func inputElements(msgs []llm.Message, list *raw.List) []raw.Element {
	custom := customCalls(msgs)
	most := 0
	for _, m := range msgs {
		most += len(m.Parts)
	}
	elements := make([]raw.Element, 0, most)
	var items []item // of one message
	for _, m := range msgs {
		items = appendItems(items[:0], m, custom)
		for _, it := range items {
			e := raw.Element{Bytes: it.bytes, At: -1}
			if it.from != nil {
				e.At = list.Find(it.from)
			}
			elements = append(elements, e)
		}
	}
	return elements
}

// customCalls returns the ids of the calls of tools that take free text.
func customCalls(msgs []llm.Message) map[string]bool {
	var ids map[string]bool
	for _, m := range msgs {
		for _, p := range m.Parts {
			if c, ok := p.(llm.ToolCall); ok && c.Custom {
				if ids == nil {
					ids = map[string]bool{}
				}
				ids[c.CallID] = true
			}
		}
	}
	return ids
}
