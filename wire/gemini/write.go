package gemini

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A block is one part ready to be sent.
type block struct {
	bytes []byte
	kind  blockKind
}

type blockKind uint8

const (
	otherBlock blockKind = iota
	resultBlock
	callBlock   // with the provider's own bytes, so with its signature if it needs one
	foreignCall // written here
)

// enveloped reports whether m can be sent as the envelope it came with.
func enveloped(m llm.Message) bool { return m.Dialect == Dialect && raw.Fits(m) }

// patch returns the envelope of m with its edited parts written into it, or nil if
// nothing is left to send. before are the messages before m.
func patch(m llm.Message, before []llm.Message) []byte {
	if raw.Untouched(m) {
		return m.Envelope.Raw
	}
	with := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		if raw.InPlace(p, m.Envelope, m.Envelope.Spans[i]) {
			continue
		}
		b := blocksOf(p, true, before)
		if len(b) != 1 || b[0].kind == foreignCall {
			return rebuilt(m, before)
		}
		with[i] = b[0].bytes
	}
	return raw.Patch(m.Envelope, with)
}

// rebuilt returns the envelope of m with a new list of parts, because a part has gone from
// it or has become several.
func rebuilt(m llm.Message, before []llm.Message) []byte {
	all := blocks(m, before)
	if len(all) == 0 {
		return nil
	}
	return raw.Set(m.Envelope.Raw, "parts", raw.Value(content(wireRole(m.Role), all), "parts"))
}

// blocks returns the parts of m as parts to send, without those that say nothing.
func blocks(m llm.Message, before []llm.Message) []block {
	native := m.Dialect == Dialect || m.Dialect == ""
	var out []block
	for _, p := range m.Parts {
		out = append(out, blocksOf(p, native, before)...)
	}
	return out
}

// blocksOf returns what is sent for p: mostly one part. Bytes of parts that are not native
// mean nothing here.
func blocksOf(p llm.Part, native bool, before []llm.Message) []block {
	if native && raw.IsObject(p.Bytes()) {
		return whole(p)
	}
	one := func(b []byte) []block {
		if b == nil {
			return nil
		}
		return []block{{bytes: b}}
	}
	switch p := p.(type) {
	case llm.Text:
		return one(editedText(p.Text, p.Raw, native))
	case llm.Stub:
		return one(editedText(p.Text, p.Raw, native))
	case llm.Thinking:
		return one(thinkingPart(p, native))
	case llm.ToolCall:
		return callBlocks(p, native)
	case llm.ToolResult:
		return resultBlocks(p, native, before)
	case llm.Media:
		return one(mediaPart(p))
	}
	return nil // opaque bytes of another dialect
}

// whole returns the part that p came as. Empty text is not sent again where parts are
// written anew, unless it has a signature, and no opaque part that is not the part its
// kind says: a reader's note about something that never was a part.
func whole(p llm.Part) []block {
	b := block{bytes: p.Bytes()}
	switch p := p.(type) {
	case llm.Text:
		if p.Text == "" && nameSignature.value(p.Data) == nil {
			return nil
		}
	case llm.Opaque:
		if p.Kind == "" || raw.Value(p.Data, p.Kind) == nil {
			return nil
		}
	case llm.ToolCall:
		b.kind = callBlock
	case llm.ToolResult:
		b.kind = resultBlock
	}
	return []block{b}
}

func textPart(text string) []byte { return new(raw.Object).Text("text", text).Bytes() }

// editedText returns a text part, with the fields of the part that it replaces.
func editedText(text string, r llm.Raw, native bool) []byte {
	switch {
	case text == "":
		return nil
	case native && raw.IsObject(r.Base):
		m := membersOf(raw.NewCursor(r.Base))
		if raw.IsString(m.text) || m.media == nil && m.kind == "" {
			return raw.Set(r.Base, "text", raw.Quote(text))
		}
	}
	return textPart(text)
}

// thinkingPart returns thinking that has a signature but not its bytes.
func thinkingPart(p llm.Thinking, native bool) []byte {
	if !native || p.Signature == "" {
		return nil
	}
	o := new(raw.Object).Text("text", p.Text).Raw("thought", []byte("true"))
	return o.Text(nameSignature.camel, p.Signature).Bytes()
}

func callBlocks(p llm.ToolCall, native bool) []block {
	args := raw.Arguments(p.Args)
	if native && raw.IsObject(p.Base) {
		inner := raw.Set(nameCall.value(p.Base), "args", args)
		return []block{{bytes: nameCall.set(p.Base, inner), kind: callBlock}}
	}
	if p.Hosted {
		return nil // another provider's own tool
	}
	return []block{{bytes: callPart(p, p.CallID), kind: foreignCall}}
}

// callPart returns a new call; without the id if it is empty.
func callPart(p llm.ToolCall, id string) []byte {
	inner := new(raw.Object)
	if id != "" {
		inner.Text("id", id)
	}
	inner.Text("name", p.Name).Raw("args", raw.Arguments(p.Args))
	return new(raw.Object).Raw(nameCall.camel, inner.Bytes()).Bytes()
}

// resultBlocks returns a result, and behind it media of another dialect that it had.
func resultBlocks(p llm.ToolResult, native bool, before []llm.Message) []block {
	if native && raw.IsObject(p.Base) {
		return []block{{bytes: editedResult(p), kind: resultBlock}}
	}
	inner := new(raw.Object)
	call, own := callFor(p.CallID, before)
	if own {
		inner.Text("id", p.CallID)
	}
	field := "output"
	if p.IsError {
		field = "error"
	}
	inner.Text("name", call).Raw("response", new(raw.Object).Text(field, p.Text()).Bytes())
	out := []block{{bytes: new(raw.Object).Raw(nameResult.camel, inner.Bytes()).Bytes(), kind: resultBlock}}
	for _, c := range p.Content {
		if m, ok := c.(llm.Media); ok {
			out = append(out, block{bytes: mediaPart(m)})
		}
	}
	return out
}

// editedResult returns the result that p replaced with the content of p.
func editedResult(p llm.ToolResult) []byte {
	inner := nameResult.value(p.Base)
	response := raw.Value(inner, "response")
	var o output
	if raw.IsObject(response) {
		o = outputOf(response)
	}
	lit := raw.Quote(p.Text())
	switch {
	case o.at.Len() > 0 && o.at.Len() < len(response):
		response = raw.Replace(response, o.at, lit)
	case len(p.Content) > 0 && response != nil && string(p.Content[0].Bytes()) == string(response):
		// The text has not been edited.
	default:
		response = new(raw.Object).Raw("output", lit).Bytes()
	}
	inner = withResultParts(raw.Set(inner, "response", response), p.Content)
	return nameResult.set(p.Base, inner)
}

// withResultParts returns a functionResponse with only those of its parts that are still
// in the content.
func withResultParts(inner []byte, content []llm.Part) []byte {
	old := raw.Value(inner, "parts")
	if raw.IsNone(old) {
		return inner
	}
	list := raw.NewList(old, nil)
	var elements []raw.Element
	for _, c := range content {
		if at := list.Find(c.Bytes()); at >= 0 {
			elements = append(elements, raw.Element{Bytes: c.Bytes(), At: at})
		}
	}
	if len(elements) == 0 {
		return raw.Delete(inner, "parts")
	}
	return raw.Set(inner, "parts", list.With(elements))
}

// callFor returns the name of the last call with this id in msgs, and whether the id is
// one that the provider may see.
func callFor(id string, msgs []llm.Message) (name string, own bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		for _, p := range msgs[i].Parts {
			c, ok := p.(llm.ToolCall)
			if !ok || c.CallID != id {
				continue
			}
			b := c.Data
			if b == nil {
				b = c.Base
			}
			native := msgs[i].Dialect == Dialect || msgs[i].Dialect == ""
			return c.Name, !native || b == nil || callHasID(b)
		}
	}
	return "unknown", false
}

// mediaPart returns media that came in another dialect, or text in its place.
func mediaPart(p llm.Media) []byte {
	s := media.Read(p.Bytes())
	inner := new(raw.Object)
	switch kind := media.TypeOf(s); {
	case s.Text != "":
		return textPart(s.Text)
	case len(s.Data) > 0 && kind != "":
		inner.Text("mimeType", kind).Text("data", string(s.Data))
		return new(raw.Object).Raw("inlineData", inner.Bytes()).Bytes()
	case s.URL != "" && kind != "":
		inner.Text("mimeType", kind).Text("fileUri", s.URL)
		return new(raw.Object).Raw("fileData", inner.Bytes()).Bytes()
	}
	return textPart(media.Placeholder(p))
}
