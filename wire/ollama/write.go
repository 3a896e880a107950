package ollama

import (
	"bytes"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// wireMessages returns the wire messages that m becomes: mostly one; of another dialect
// each result is one. before are the messages before m.
func wireMessages(m llm.Message, before []llm.Message) []unit {
	if m.Dialect == Dialect && raw.Fits(m) {
		if b, ok := patch(m); ok {
			return []unit{unitOf(m, b)}
		}
	}
	var units []unit
	var rest []llm.Part
	for _, p := range m.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		units = append(units, unit{bytes: resultMessage(m, r, before), result: r.CallID, user: true, at: -1})
	}
	m.Parts = rest
	if b := message(m); b != nil {
		units = append(units, unitOf(m, b))
	}
	return units
}

func unitOf(m llm.Message, b []byte) unit {
	u := unit{bytes: b, user: m.Role != llm.RoleAssistant, at: -1}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if !p.Hosted {
				u.calls = append(u.calls, p.CallID)
			}
		case llm.ToolResult:
			u.result = p.CallID
		}
	}
	return u
}

// patch returns the envelope of m with its edited parts written into it; false if a part
// cannot be written into its place.
func patch(m llm.Message) ([]byte, bool) {
	if raw.Untouched(m) {
		return m.Envelope.Raw, true
	}
	with := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		at := m.Envelope.Spans[i]
		if raw.InPlace(p, m.Envelope, at) {
			continue
		}
		old := raw.Slice(m.Envelope.Raw, at)
		if with[i] = inPlace(p, old); with[i] == nil || !bytes.Equal(raw.Base(p), old) {
			return nil, false
		}
	}
	return raw.Patch(m.Envelope, with), true
}

// inPlace returns the bytes of p for the place of old, the bytes that it replaced; nil if
// it cannot stand there.
func inPlace(p llm.Part, old []byte) []byte {
	switch p := p.(type) {
	case llm.ToolResult:
		for _, c := range p.Content {
			if _, text := textOf(c); !text {
				return nil
			}
		}
		return raw.Quote(p.Text())
	case llm.ToolCall:
		if raw.IsObject(old) {
			return call(p, true, 0)
		}
	case llm.Text, llm.Stub:
		if text, _ := textOf(p); raw.IsString(old) {
			return raw.Quote(text)
		}
	}
	return nil
}

// textOf returns what p says if it is text or stands for it.
func textOf(p llm.Part) (string, bool) {
	switch p := p.(type) {
	case llm.Text:
		return p.Text, true
	case llm.Stub:
		return p.Text, true
	}
	return "", false
}

func isNative(m llm.Message) bool { return m.Dialect == Dialect || m.Dialect == "" }

// message returns a new wire message without results, or nil if it says nothing.
func message(m llm.Message) []byte {
	native := isNative(m)
	role := "user"
	switch m.Role {
	case llm.RoleAssistant:
		role = "assistant"
	case llm.RoleSystem:
		role = "system"
	}
	var b body
	for _, p := range m.Parts {
		b.add(p, native)
	}
	if b.empty() {
		return nil
	}
	o := new(raw.Object).Text("role", role).Raw("content", b.content())
	if b.thinking != nil {
		o.Member(b.thinking)
	}
	return b.lists(o).Bytes()
}

// A body is what a wire message says.
type body struct {
	texts         []string
	literal       []byte // of the content, if it is one text that came as it is
	pieces        bool   // the texts are pieces of one
	thinking      []byte // the member
	images, calls [][]byte
}

func (b *body) add(p llm.Part, native bool) {
	text, isText := textOf(p)
	switch p := p.(type) {
	case llm.Thinking:
		if native && raw.IsString(p.Data) {
			b.thinking = p.Data
		}
	case llm.ToolCall:
		if c := call(p, native, len(b.calls)); c != nil {
			b.calls = append(b.calls, c)
		}
	case llm.Media:
		image, instead := mediaOf(p, native)
		if image != nil {
			b.images = append(b.images, image)
		}
		text, isText = instead, instead != ""
	case llm.Opaque:
		if native && p.Kind == "tool_call" && raw.IsObject(p.Data) {
			b.calls = append(b.calls, p.Data)
		}
	}
	if !isText || text == "" {
		return
	}
	cameSo := native && raw.IsString(p.Bytes())
	b.pieces = cameSo && (len(b.texts) == 0 || b.pieces)
	b.literal = nil
	if cameSo && len(b.texts) == 0 {
		b.literal = p.Bytes()
	}
	b.texts = append(b.texts, text)
}

func (b *body) empty() bool { return len(b.texts)+len(b.images)+len(b.calls) == 0 }

// content returns the texts as one literal. What the model wrote in pieces is put together
// as the server does it; other texts are set apart by a line end.
func (b *body) content() []byte {
	switch {
	case b.literal != nil:
		return b.literal
	case b.pieces:
		return raw.Quote(strings.Join(b.texts, ""))
	}
	return raw.Quote(strings.Join(b.texts, "\n"))
}

func (b *body) lists(o *raw.Object) *raw.Object {
	if len(b.images) > 0 {
		o.Raw("images", raw.Array(b.images))
	}
	if len(b.calls) > 0 {
		o.Raw("tool_calls", raw.Array(b.calls))
	}
	return o
}

// mediaOf returns p as an element of images, or the text that stands in its place.
func mediaOf(p llm.Media, native bool) (image []byte, instead string) {
	if native && raw.IsString(p.Data) {
		return p.Data, ""
	}
	s := media.Read(p.Bytes())
	switch {
	case s.Text != "":
		return nil, s.Text
	case s.IsImage() && len(s.Data) > 0:
		return raw.Quote(string(s.Data)), ""
	}
	return nil, media.Placeholder(p)
}

// call returns p as the n-th element of tool_calls, counted from 0; nil for another
// provider's own tool.
func call(p llm.ToolCall, native bool, n int) []byte {
	switch {
	case native && raw.IsObject(p.Data):
		return p.Data
	case native && raw.IsObject(p.Base):
		return raw.Set(p.Base, "function", raw.Set(raw.Value(p.Base, "function"), "arguments", raw.Arguments(p.Args)))
	case p.Hosted:
		return nil
	}
	return newCall(p, p.CallID, n)
}

// newCall returns a call that is written from its neutral fields; without an id if it is
// empty.
func newCall(p llm.ToolCall, id string, n int) []byte {
	o := new(raw.Object)
	if id != "" {
		o.Text("id", id)
	}
	inner := new(raw.Object).Raw("index", raw.Digits(n)).Text("name", p.Name).Raw("arguments", raw.Arguments(p.Args))
	return o.Raw("function", inner.Bytes()).Bytes()
}

// resultMessage returns a new message of the role tool. It names the call by its id, if
// the server may know it, and by the tool.
func resultMessage(m llm.Message, r llm.ToolResult, before []llm.Message) []byte {
	native := isNative(m)
	var b body
	for _, c := range r.Content {
		b.add(c, native)
	}
	content := b.content()
	if native && raw.IsString(r.Data) {
		content = r.Data
	}
	o := new(raw.Object).Text("role", "tool").Raw("content", content)
	if len(b.images) > 0 {
		o.Raw("images", raw.Array(b.images))
	}
	name, own := callFor(r.CallID, before)
	if name != "" {
		o.Text("tool_name", name)
	}
	if own {
		o.Text("tool_call_id", r.CallID)
	}
	return o.Bytes()
}

// callFor returns the name of the last call with this id in msgs, and whether the id is
// one that the server may see.
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
			return c.Name, !isNative(msgs[i]) || b == nil || hasID(b)
		}
	}
	return "", false
}
