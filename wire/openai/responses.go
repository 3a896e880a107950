package openai

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeResponses reads a Responses body: its instructions as one section, its tools, and
// its input as messages (see the package comment). A body without input, whose history
// is on the server, has no messages. The frame holds body itself, which nobody may write
// to from here on; Each are the places of the items, of which one message may have
// several. The error says what is wrong and where.
func DecodeResponses(body []byte) (llm.Request, error) {
	obj, err := raw.CheckObject(body)
	if err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode responses: %w", err)
	}
	r, err := decodeResponses(body, obj, raw.Leading(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode responses: %w", err)
	}
	return r, nil
}

func decodeResponses(body, obj []byte, shift int) (llm.Request, error) {
	r := llm.Request{Dialect: DialectResponses, Frame: llm.Frame{Raw: body}}
	for name, at := range raw.Members(obj) {
		value, place := raw.Slice(obj, at), raw.Shift(at, shift)
		switch string(raw.Name(obj[name.Start:name.End])) {
		case "model":
			r.Model = raw.Unquote(value)
		case "max_output_tokens":
			r.MaxOutput, _ = raw.Int(value) // anything else is the provider's to refuse
		case "instructions":
			r.Frame.System = place
		case "tools":
			r.Frame.Tools = place
		case "input":
			r.Frame.Messages = place
		}
	}
	var err error
	if r.Sections, err = decodeInstructions(raw.Slice(body, r.Frame.System)); err != nil {
		return r, raw.In(err, "instructions", r.Frame.System.Start)
	}
	if r.Tools, err = decodeTools(raw.Slice(body, r.Frame.Tools)); err != nil {
		return r, raw.In(err, "tools", r.Frame.Tools.Start)
	}
	if r.Messages, r.Frame.Each, err = decodeInput(raw.Slice(body, r.Frame.Messages), r.Frame.Messages.Start); err != nil {
		return r, raw.In(err, "input", r.Frame.Messages.Start)
	}
	return r, nil
}

func decodeInstructions(value []byte) ([]llm.Section, error) {
	if raw.IsNone(value) {
		return nil, nil
	}
	if !raw.IsString(value) {
		return nil, raw.Wrong("a string", value)
	}
	return []llm.Section{{Name: "instructions", Text: raw.Unquote(value), Cacheable: true, Raw: llm.Raw{Data: value}}}, nil
}

// decodeInput reads the value of "input"; each is where its items lie, moved by shift.
func decodeInput(value []byte, shift int) (msgs []llm.Message, each []llm.Span, err error) {
	if raw.IsNone(value) {
		return nil, nil, nil
	}
	if raw.IsString(value) {
		m := llm.Message{
			Role: llm.RoleUser, Origin: llm.Human, Dialect: DialectResponses,
			Parts:    []llm.Part{llm.Text{Text: raw.Unquote(value), Raw: llm.Raw{Data: value}}},
			Envelope: llm.Envelope{Raw: value, Spans: []llm.Span{{End: len(value)}}},
		}
		return []llm.Message{m}, []llm.Span{{Start: shift, End: shift + len(value)}}, nil
	}
	if !raw.IsArray(value) {
		return nil, nil, raw.Wrong("a string or an array", value)
	}
	each = raw.Elements(value)
	open := false // the last message is one that the model goes on writing
	for i, s := range each {
		m, err := decodeInputItem(raw.Slice(value, s))
		if err != nil {
			return nil, nil, raw.In(err, index(i), s.Start)
		}
		each[i] = raw.Shift(s, shift)
		written := m.Role == llm.RoleAssistant && m.Origin == llm.Model
		if last := len(msgs) - 1; written && open {
			msgs[last].Parts = append(msgs[last].Parts, m.Parts...)
		} else {
			msgs = append(msgs, m)
		}
		open = written
	}
	return msgs, each, nil
}

func decodeInputItem(b []byte) (llm.Message, error) {
	if !raw.IsObject(b) {
		return llm.Message{}, raw.Wrong("an object", b)
	}
	return decodeItem(b)
}

// EncodeResponses returns the Responses body of r. A request that was decoded here and not
// changed gives the very bytes (the same slice) that it was decoded from; else only what
// differs is written anew: the input, the instructions, the tool list, the model, the
// output limit, each by itself. A request without a frame of this dialect is written
// from the start. The error says that the frame does not describe its body.
func EncodeResponses(r llm.Request) ([]byte, error) {
	if r.Dialect != DialectResponses || len(r.Frame.Raw) == 0 {
		return freshResponses(r), nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("openai: encode responses: %w", err)
	}
	b.PutText("model", r.Model)
	b.PutInt("max_output_tokens", r.MaxOutput)
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
	o := new(raw.Object).Text("model", r.Model)
	if r.MaxOutput > 0 {
		o.Raw("max_output_tokens", strconv.AppendInt(nil, int64(r.MaxOutput), 10))
	}
	if text := sectionText(r.Sections); text != "" {
		o.Text("instructions", text)
	}
	if tools := toolElements(r, none, DialectResponses); len(tools) > 0 {
		o.Raw("tools", none.With(tools))
	}
	return o.Raw("input", none.With(asItems(inputElements(r.Messages, none)))).Bytes()
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
	elements := make([]raw.Element, 0, len(msgs))
	for _, m := range msgs {
		for _, it := range itemsOf(m, custom) {
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
