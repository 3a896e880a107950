package openai

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// The form of calls before there were tools: an assistant message has one call, in a member
// function_call, and a message of the role function answers it. Neither has an id, so that
// the name of the function pairs them.
const legacyName = "function_call"

// legacyCall returns the call that the value of a member function_call is.
func legacyCall(value []byte) llm.ToolCall {
	v := raw.Values(value, "name", "arguments")
	name := raw.Unquote(v[0])
	return llm.ToolCall{CallID: name, Name: name, Args: argsText(v[1])}
}

// legacyPart returns the part that a member function_call of a message is.
func legacyPart(value, member []byte) llm.Part {
	here := llm.Raw{Data: member}
	if !raw.IsString(raw.Value(value, "name")) {
		return llm.Opaque{Kind: legacyName, Raw: here}
	}
	c := legacyCall(value)
	c.Raw = here
	return c
}

// wholeLegacy returns p, which a reply has, as it can be sent back: with arguments.
func wholeLegacy(p llm.Part) llm.Part {
	c, ok := p.(llm.ToolCall)
	if !ok || c.Args != "" {
		return p
	}
	c.Args = "{}"
	c.Data = memberOfValue(legacyName, raw.Set(memberValue(c.Data), "arguments", raw.Quote(c.Args)))
	return c
}

// isLegacy reports whether p came as a member function_call.
func isLegacy(p llm.ToolCall) bool {
	b := p.Data
	if b == nil {
		b = p.Base
	}
	return bytes.HasPrefix(b, raw.Quote(legacyName))
}

// legacyMember returns the member that p is, or the one that it replaced with its arguments.
func legacyMember(p llm.ToolCall) []byte {
	if p.Data != nil {
		return p.Data
	}
	whole := append(append([]byte{'{'}, p.Base...), '}')
	value := raw.Set(raw.Value(whole, legacyName), "arguments", raw.Quote(argsOrEmpty(p)))
	whole = raw.Set(whole, legacyName, value)
	return whole[1 : len(whole)-1]
}

// legacyCalls returns the ids of the calls in msgs that are sent as function_call, nil if
// there are none: their results are sent in messages of the role function.
func legacyCalls(msgs []llm.Message) map[string]bool {
	var ids map[string]bool
	for _, m := range msgs {
		if m.Role != llm.RoleAssistant || m.Dialect != DialectChat && m.Dialect != "" {
			continue
		}
		for _, p := range m.Parts {
			if c, ok := p.(llm.ToolCall); ok && isLegacy(c) {
				if ids == nil {
					ids = map[string]bool{}
				}
				ids[c.CallID] = true
			}
		}
	}
	return ids
}

// legacy tells a fragment of a function_call.
func (d *chatDecoder) legacy(value []byte) {
	v := raw.Values(value, "name", "arguments")
	begun := legacyCall(value)
	begun.Args, begun.Data = "", memberOfValue(legacyName, value)
	p := d.begin(legacyName, begun)
	d.called = true
	d.held.Grow(&p.size, len(v[1]))
	switch {
	case p.id == nil:
		p.id = bytes.Clone(value)
		d.held.Grow(&p.size, len(value))
	case begun.Name != "" && raw.Unquote(raw.Value(p.id, "name")) == "":
		p.id = raw.Set(p.id, "name", v[0])
	}
	if raw.IsNone(v[1]) {
		return
	}
	args := v[1]
	if !raw.IsString(args) {
		args = raw.Quote(string(args))
	}
	d.delta(p.index, llm.DeltaArgs, p.text.add(args))
}

// closeLegacy ends the call that p is.
func (d *chatDecoder) closeLegacy(p *chatPart) {
	d.delta(p.index, llm.DeltaArgs, p.text.rest())
	if p.text.empty() {
		d.delta(p.index, llm.DeltaArgs, p.text.addText("{}"))
	}
	value := raw.Set(p.id, "arguments", p.text.bytes())
	c := legacyCall(value)
	c.Data = memberOfValue(legacyName, value)
	d.done(p.index, c)
}
