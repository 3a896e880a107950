package openai

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// EncodeItems returns the items of the Responses format that m becomes, as a JSON array,
// or no bytes if there is nothing to send. Untouched, they are the items it came as. A
// result that came in another way than as an item is written as function_call_output:
// only [EncodeResponses] sees whether its call was one of a custom tool. The error is
// always nil so far.
func EncodeItems(m llm.Message) ([]byte, error) {
	items := appendItems(nil, m, nil)
	if len(items) == 0 {
		return nil, nil
	}
	values := make([][]byte, len(items))
	for i, item := range items {
		values[i] = asItem(item.bytes)
	}
	return raw.Array(values), nil
}

// An item is one item to be.
type item struct {
	bytes []byte
	from  []byte // the item that it was before an edit
}

// asItem returns b as an item: the string that may stand for a whole input is a user
// message.
func asItem(b []byte) []byte {
	if !raw.IsString(b) {
		return b
	}
	return new(raw.Object).Text("type", "message").Text("role", "user").Raw("content", b).Bytes()
}

// appendItems appends the items that m becomes. custom holds the ids of calls of custom tools.
func appendItems(items []item, m llm.Message, custom map[string]bool) []item {
	w := newWriter(DialectResponses, m)
	if m.Dialect == DialectResponses && raw.Fits(m) {
		if b := w.patchItem(m); b != nil {
			return append(items, item{bytes: b, from: m.Envelope.Raw})
		}
	}
	if m.Role == llm.RoleAssistant {
		return w.modelItems(items, m)
	}
	var rest []llm.Part
	for _, p := range m.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		items = append(items, w.resultItem(r, custom[r.CallID]))
	}
	return append(items, w.messageItem(m.Role, rest)...)
}

// patchItem returns the envelope of m with its edited parts written into it, or nil if a
// part cannot be written into its place, so that the item must be written anew.
func (w writer) patchItem(m llm.Message) []byte {
	if raw.Untouched(m) {
		return m.Envelope.Raw
	}
	with := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		at := m.Envelope.Spans[i]
		if raw.InPlace(p, m.Envelope, at) {
			continue
		}
		text, ok := textOf(p)
		literal := raw.IsString(m.Envelope.Raw[at.Start:at.End])
		switch {
		case ok && text == "":
		case ok && literal:
			with[i] = raw.Quote(text)
		case !literal:
			with[i] = w.element(p)
		}
		if with[i] == nil {
			return nil
		}
	}
	return raw.Patch(m.Envelope, with)
}

// messageItem returns a message that was not written by the model, none if it says nothing.
func (w writer) messageItem(r llm.Role, parts []llm.Part) []item {
	role := "user"
	if r == llm.RoleSystem {
		role = "developer"
	}
	elements := w.elements(parts)
	if len(elements) == 0 {
		return nil
	}
	o := new(raw.Object).Text("type", "message").Text("role", role).Raw("content", raw.Array(elements))
	return []item{{bytes: o.Bytes()}}
}

// modelItems appends what the model wrote: one item for each part.
func (w writer) modelItems(items []item, m llm.Message) []item {
	for _, p := range m.Parts {
		if it := w.modelItem(p); it.bytes != nil {
			items = append(items, it)
		}
	}
	return items
}

func (w writer) modelItem(p llm.Part) item {
	if w.native && raw.IsObject(p.Bytes()) {
		if o, ok := p.(llm.Opaque); ok && whole(o) == nil {
			return item{}
		}
		return item{bytes: p.Bytes(), from: p.Bytes()}
	}
	switch p := p.(type) {
	case llm.Text:
		return w.textItem(p.Text, p.Base)
	case llm.Stub:
		return w.textItem(p.Text, p.Base)
	case llm.Media:
		w.noMedia = true
		return item{bytes: messageOf(w.media(p))}
	case llm.Thinking:
		return item{bytes: w.reasoningItem(p)}
	case llm.ToolCall:
		return w.callItem(p)
	}
	return item{}
}

func messageOf(element []byte) []byte {
	o := new(raw.Object).Text("type", "message").Text("role", "assistant")
	return o.Raw("content", raw.Array([][]byte{element})).Bytes()
}

// textItem returns a message of the assistant, or the one in base with other text.
func (w writer) textItem(text string, base []byte) item {
	if w.native && raw.IsObject(base) {
		if content := raw.Value(base, "content"); content != nil {
			return item{bytes: raw.Set(base, "content", withText(content, text)), from: base}
		}
	}
	if element := w.text(text, llm.Raw{}); element != nil {
		return item{bytes: messageOf(element)}
	}
	return item{}
}

// withText returns content, of an assistant message, with other text: the first text
// element gets it, the others go.
func withText(content []byte, text string) []byte {
	if raw.IsString(content) {
		return raw.Quote(text)
	}
	for _, s := range raw.Elements(content) {
		element := raw.Slice(content, s)
		if raw.IsString(raw.Value(element, "text")) {
			return raw.Array([][]byte{raw.Set(element, "text", raw.Quote(text))})
		}
	}
	element := new(raw.Object).Text("type", "output_text").Text("text", text).Bytes()
	return raw.Array([][]byte{element})
}

// reasoningItem returns reasoning that was made here; without its encrypted body it means
// nothing to the provider.
func (w writer) reasoningItem(p llm.Thinking) []byte {
	if !w.native || p.Signature == "" {
		return nil
	}
	var summary [][]byte
	if p.Text != "" {
		summary = append(summary, new(raw.Object).Text("type", "summary_text").Text("text", p.Text).Bytes())
	}
	o := new(raw.Object).Text("type", "reasoning").Raw("summary", raw.Array(summary))
	return o.Text("encrypted_content", p.Signature).Bytes()
}

func (w writer) callItem(p llm.ToolCall) item {
	if w.native && raw.IsObject(p.Base) {
		name, old := argsMember(p.Base)
		value := raw.Quote(argsOrEmpty(p))
		if old != nil && !raw.IsString(old) && raw.Check([]byte(p.Args)) == nil {
			value = []byte(p.Args)
		}
		return item{bytes: raw.Set(p.Base, name, value), from: p.Base}
	}
	if p.Hosted {
		return item{}
	}
	kind, field := "function_call", "arguments"
	if p.Custom {
		kind, field = "custom_tool_call", "input"
	}
	o := new(raw.Object).Text("type", kind).Text("call_id", p.CallID).Text("name", p.Name)
	return item{bytes: o.Text(field, argsOrEmpty(p)).Bytes()}
}

func (w writer) resultItem(p llm.ToolResult, custom bool) item {
	if w.native && raw.IsObject(p.Data) {
		return item{bytes: p.Data, from: p.Data}
	}
	if w.native && raw.IsObject(p.Base) {
		isArray := raw.IsArray(raw.Value(p.Base, "output"))
		return item{bytes: raw.Set(p.Base, "output", w.resultValue(p, isArray)), from: p.Base}
	}
	kind := "function_call_output"
	if custom {
		kind = "custom_tool_call_output"
	}
	o := new(raw.Object).Text("type", kind).Text("call_id", p.CallID)
	return item{bytes: o.Raw("output", w.resultValue(p, false)).Bytes()}
}
