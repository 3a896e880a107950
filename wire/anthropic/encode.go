package anthropic

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// EncodeRequest returns the body of r. A request that was decoded here and not changed
// gives the very bytes (the same slice) that it was decoded from; else only what
// differs is written anew: the message list, the system prompt, the tool list, the
// model, the output limit, the settings (also to nothing), each by itself. A request
// without a frame of this dialect is written from the start: model, max_tokens (if
// stated, though the API insists on it), settings, system, tools, messages. The error says that the frame does not describe its body.
func EncodeRequest(r llm.Request) ([]byte, error) {
	r = declared(referring(r))
	if r.Dialect != Dialect || len(r.Frame.Raw) == 0 {
		return fresh(r), nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("anthropic: encode request: %w", err)
	}
	b.PutText("model", r.Model)
	b.PutInt("max_tokens", r.MaxOutput)
	putSettings(b, r.Settings)
	putClearing(b, r.Settings.Clear)
	putSystem(b, r)
	putTools(b, r)
	list := b.List(r.Frame.Messages, r.Frame.Each)
	msgs, marks := markedPieces(r)
	msgs, marks = round.Whole(msgs, marks, r.Frame.Mixed, seam{})
	b.PutElements("messages", r.Frame.Messages, list, messageElements(msgs, marks, list))
	return b.Bytes(), nil
}

// fresh returns the body of a request that has no frame of this dialect.
func fresh(r llm.Request) []byte {
	native := r.Dialect == Dialect
	none := raw.NewList(nil, nil)
	o := new(raw.Object).Stated("model", r.Model)
	if r.MaxOutput > 0 {
		o.Raw("max_tokens", raw.Digits(r.MaxOutput))
	}
	freshSettings(o, r)
	if system := sectionElements(r, none, native); len(system) > 0 {
		o.Raw("system", none.With(system))
	}
	if tools := toolElements(r, none, native); len(tools) > 0 {
		o.Raw("tools", none.With(tools))
	}
	return o.Raw("messages", none.With(messageElements(r.Messages, r.Marks, none))).Bytes()
}

// messageElements returns the message list that msgs become with these marks. A list that would begin
// with the model, which the API refuses, gets a user message in front, unless it came so.
func messageElements(msgs []llm.Message, marks llm.Marks, list *raw.List) []raw.Element {
	shape := shapeOf(list, marks)
	all := shape.Units(msgs)
	elements := make([]raw.Element, 0, len(all)+1)
	if shape.Opens(all) && !stands(msgs) {
		opening := message("user", []block{{bytes: textBlock(wire.Opening, llm.Raw{}, false)}})
		elements = append(elements, raw.Element{Bytes: opening, At: -1})
	}
	for _, u := range all {
		elements = append(elements, u.Element(message))
	}
	return elements
}

// stands reports whether msgs begin with a compaction, which the API takes before anything else.
func stands(msgs []llm.Message) bool { return len(msgs) > 0 && llm.Compacts(msgs[0]) == maker }

// putSystem changes the system prompt if its sections are others. A prompt that came
// as a string stays one while it is one section.
func putSystem(b *raw.Body, r llm.Request) {
	old := raw.Slice(r.Frame.Raw, r.Frame.System)
	if raw.IsString(old) && len(r.Sections) == 1 && r.Marks.On(llm.OnSection, 0) == llm.NoMark {
		if s := r.Sections[0]; s.Data == nil || !bytes.Equal(s.Data, old) {
			b.Put("system", r.Frame.System, raw.Quote(s.Text))
		}
		return
	}
	list := b.List(r.Frame.System, nil)
	b.PutList("system", r.Frame.System, list, sectionElements(r, list, true))
}

// sectionElements returns the sections of r as blocks of the system prompt, without those
// that have no text of their own.
func sectionElements(r llm.Request, list *raw.List, native bool) []raw.Element {
	var elements []raw.Element
	for i, s := range r.Sections {
		e := raw.Element{At: -1}
		switch {
		case native && raw.IsObject(s.Data):
			e = raw.Element{Bytes: s.Data, At: list.Find(s.Data)}
		case native && raw.IsObject(s.Base):
			e = raw.Element{Bytes: textBlock(s.Text, s.Raw, true), At: list.Find(s.Base)}
		default:
			e.Bytes = textBlock(s.Text, s.Raw, native)
		}
		e.Bytes = withMark(e.Bytes, r.Marks.On(llm.OnSection, i))
		if e.Bytes != nil {
			elements = append(elements, e)
		}
	}
	return elements
}

// putTools changes the tool list if the tools are others. Without tools it goes.
func putTools(b *raw.Body, r llm.Request) {
	list := b.List(r.Frame.Tools, nil)
	b.PutList("tools", r.Frame.Tools, list, toolElements(r, list, true))
}

func toolElements(r llm.Request, list *raw.List, native bool) []raw.Element {
	elements := make([]raw.Element, len(r.Tools))
	for i, t := range r.Tools {
		elements[i] = toolElement(t, list, native)
		elements[i].Bytes = withMark(elements[i].Bytes, r.Marks.On(llm.OnTool, i))
	}
	return unmarked(elements, r.Tools)
}

func toolElement(t llm.Tool, list *raw.List, native bool) raw.Element {
	switch {
	case native && raw.IsObject(t.Data):
		return raw.Element{Bytes: deferredAs(t.Data, t.Deferred), At: list.Find(t.Data)}
	case native && raw.IsObject(t.Base):
		changed := raw.Set(t.Base, "description", raw.Quote(t.Description))
		return raw.Element{Bytes: deferredAs(raw.Set(changed, "input_schema", []byte(t.Schema)), t.Deferred), At: list.Find(t.Base)}
	case t.Finder:
		return raw.Element{Bytes: []byte(finder), At: -1}
	}
	o := new(raw.Object).Text("name", t.Name)
	if t.Description != "" {
		o.Text("description", t.Description)
	}
	return raw.Element{Bytes: deferredAs(o.Raw("input_schema", raw.ObjectSchema(t.Schema)).Bytes(), t.Deferred), At: -1}
}
