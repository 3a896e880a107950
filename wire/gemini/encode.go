package gemini

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// EncodeRequest returns the body of r. A request that was decoded here and not changed
// gives the very bytes (the same slice) that it was decoded from; else only what differs
// is written anew: the list of contents, the system instruction, the tool list, the
// settings (also to nothing), each by itself. The model is written only where the body has it. A request
// without a frame of this dialect is written from the start. The error says that the frame
// does not describe its body.
func EncodeRequest(r llm.Request) ([]byte, error) {
	r = wire.Loaded(r, Dialect)
	if r.Dialect != Dialect || len(r.Frame.Raw) == 0 {
		return fresh(r), nil
	}
	outer := r.Frame.Raw
	at, err := inner(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("gemini: encode request: %w", err)
	}
	in := r
	in.Frame = within(r.Frame, at)
	b, err := raw.NewBody(in.Frame)
	if err != nil {
		return nil, fmt.Errorf("gemini: encode request: %w", err)
	}
	if at.Len() == len(outer) {
		putModel(b, r.Model)
	}
	putSystem(b, in)
	putTools(b, in)
	putSettings(b, r)
	list := b.List(in.Frame.Messages, in.Frame.Each)
	msgs, _ := round.Whole(r.Messages, nil, r.Frame.Mixed, nil)
	if elements := contentElements(msgs, list); !list.Same(elements) {
		b.Put("contents", in.Frame.Messages, withElements(list, raw.Slice(in.Frame.Raw, in.Frame.Messages), elements))
	}
	body := b.Bytes()
	if at.Len() == len(outer) {
		return body, nil
	}
	return around(r, at, body)
}

// inner returns the place of the object that is the request: the body, or a member of it
// that has the contents in it.
func inner(f llm.Frame) (llm.Span, error) {
	start := raw.Leading(f.Raw)
	known := []llm.Span{raw.Shift(f.System, -start), raw.Shift(f.Tools, -start), raw.Shift(f.Messages, -start)}
	for _, v := range raw.Members(f.Raw[start:], known...) {
		v = raw.Shift(v, start)
		switch {
		case v == f.Messages:
			return llm.Span{End: len(f.Raw)}, nil
		case v.Start < f.Messages.Start && f.Messages.End < v.End && f.Raw[v.Start] == '{':
			return v, nil
		}
	}
	return llm.Span{}, fmt.Errorf("frame, want the contents in the body of %d bytes, got %v", len(f.Raw), f.Messages)
}

// within returns the frame in places of the object at s.
func within(f llm.Frame, s llm.Span) llm.Frame {
	if s.Start == 0 {
		return f
	}
	moved := func(x llm.Span) llm.Span {
		if x.Len() == 0 {
			return llm.Span{}
		}
		return raw.Shift(x, -s.Start)
	}
	in := llm.Frame{Raw: raw.Slice(f.Raw, s), System: moved(f.System), Tools: moved(f.Tools), Messages: moved(f.Messages)}
	for _, e := range f.Each {
		in.Each = append(in.Each, moved(e))
	}
	return in
}

// around returns the whole body with the object at s changed to body, and the model too.
func around(r llm.Request, s llm.Span, body []byte) ([]byte, error) {
	outer := r.Frame.Raw
	b, err := raw.NewBody(llm.Frame{Raw: outer, Messages: s})
	if err != nil {
		return nil, fmt.Errorf("gemini: encode request: %w", err)
	}
	if _, own := b.Find("model"); own != nil {
		putModel(b, r.Model)
	} else if own := raw.Value(body, "model"); own != nil && r.Model != "" && raw.Unquote(own) != r.Model {
		body = raw.Set(body, "model", raw.Quote(r.Model))
	}
	if old := raw.Slice(outer, s); !bytes.Equal(old, body) {
		b.Put("", s, body)
	}
	return b.Bytes(), nil
}

func putModel(b *raw.Body, model string) {
	if _, own := b.Find("model"); own != nil {
		b.PutText("model", model)
	}
}

// putSettings changes those settings of the body that are others in r, also to nothing.
func putSettings(b *raw.Body, r llm.Request) {
	var config, tools spelled
	outer := anyStyle
	b.Each(func(name, value []byte) {
		config.take(nameConfig, name, value)
		tools.take(nameToolConfig, name, value)
		if outer == anyStyle {
			outer = shown(name)
		}
	})
	b.PutFields(
		raw.Field{Name: cmp.Or(config.name, nameConfig.as(outer)), Value: withSettings(config.value, r, outer)},
		raw.Field{Name: cmp.Or(tools.name, nameToolConfig.as(outer)), Value: withChoice(tools.value, r.Settings.Choice, outer)},
	)
}

// systemName returns the spelling of the system instruction that the body has, or would have.
func systemName(b *raw.Body, at llm.Span) string {
	found := anyStyle
	for _, n := range []string{nameSystem.camel, nameSystem.snake} {
		if own, _ := b.Find(n); own.Len() > 0 && own == at {
			return n
		}
	}
	b.Each(func(name, _ []byte) {
		if found == anyStyle {
			found = shown(name)
		}
	})
	return nameSystem.as(found)
}

// putSystem changes the system instruction if its sections are others.
func putSystem(b *raw.Body, r llm.Request) {
	old := raw.Slice(r.Frame.Raw, r.Frame.System)
	if raw.IsString(old) && len(r.Sections) == 1 {
		if s := r.Sections[0]; s.Data == nil || !bytes.Equal(s.Data, old) {
			b.Put(systemName(b, r.Frame.System), r.Frame.System, raw.Quote(s.Text))
		}
		return
	}
	parts := raw.Value(old, "parts")
	list := raw.NewList(parts, elementsOf(parts))
	elements := sectionElements(r.Sections, list, true)
	if list.Same(elements) {
		return
	}
	name := systemName(b, r.Frame.System)
	switch {
	case len(elements) == 0:
		b.Drop(name)
	case raw.IsObject(old):
		b.Put(name, r.Frame.System, raw.Set(old, "parts", withElements(list, parts, elements)))
	default:
		b.Put(name, r.Frame.System, instruction(elements))
	}
}

func instruction(elements []raw.Element) []byte {
	return new(raw.Object).Raw("parts", raw.NewList(nil, nil).With(elements)).Bytes()
}

// withElements returns the list with other elements. Where the old value was the one
// element itself, it stays that.
func withElements(list *raw.List, old []byte, elements []raw.Element) []byte {
	if raw.IsObject(old) && len(elements) == 1 {
		return elements[0].Bytes
	}
	return list.With(elements)
}

// sectionElements returns the sections as parts of the system instruction, without those
// that have no text of their own.
func sectionElements(sections []llm.Section, list *raw.List, native bool) []raw.Element {
	var elements []raw.Element
	for _, s := range sections {
		e := raw.Element{At: -1}
		switch {
		case native && raw.IsObject(s.Data):
			e = raw.Element{Bytes: s.Data, At: list.Find(s.Data)}
		case native && raw.IsObject(s.Base) && s.Text != "":
			e = raw.Element{Bytes: raw.Set(s.Base, "text", raw.Quote(s.Text)), At: list.Find(s.Base)}
		case s.Text != "":
			e.Bytes = textPart(s.Text)
		}
		if e.Bytes != nil {
			elements = append(elements, e)
		}
	}
	return elements
}

// fresh returns the body of a request that has no frame of this dialect.
func fresh(r llm.Request) []byte {
	native := r.Dialect == Dialect
	none := raw.NewList(nil, nil)
	system := sectionElements(r.Sections, none, native)
	msgs := r.Messages
	for !native && len(msgs) > 0 && msgs[0].Role == llm.RoleSystem {
		if text := msgs[0].Text(); text != "" {
			system = append(system, raw.Element{Bytes: textPart(text), At: -1})
		}
		msgs = msgs[1:]
	}
	o := new(raw.Object)
	if len(system) > 0 {
		o.Raw(nameSystem.camel, instruction(system))
	}
	o.Raw("contents", none.With(contentElements(msgs, none)))
	o.Raw("tools", freshTools(r.Tools, native))
	o.Raw(nameToolConfig.camel, withChoice(nil, r.Settings.Choice, camels))
	return o.Raw(nameConfig.camel, thinking(withSettings(nil, r, camels), r.Settings.Effort)).Bytes()
}

// thinking returns generationConfig with what asks for thinking: a budget, or a level.
func thinking(config []byte, e llm.Effort) []byte {
	o := new(raw.Object)
	switch {
	case e.Off:
		o.Raw("thinkingBudget", []byte("0"))
	case e.Budget > 0:
		o.Raw("thinkingBudget", raw.Digits(e.Budget))
	case e.Word != "":
		o.Text("thinkingLevel", e.Word)
	default:
		return config
	}
	if raw.IsNone(config) {
		config = []byte("{}")
	}
	return raw.Set(config, "thinkingConfig", o.Bytes())
}
