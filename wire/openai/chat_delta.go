package openai

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A chatPart is an open part that is no call: content, thinking, or a member that only
// its name is known of.
type chatPart struct {
	kind    string // "content", "reasoning", or the member's name
	index   int
	text    literal // content, refusal, or the name of a function_call's arguments
	members []*thinkingMember
	details []*detail
	seen    thinkingText
	id      []byte // of audio; the first fragment of a function_call
	size    sse.Size
}

// A thinkingMember is one of the members that hold thinking as one text.
type thinkingMember struct {
	name string
	text literal
}

// A delta holds the members of a delta that are looked at here.
type delta struct {
	content, calls, thought, reasoning, details []byte
	more                                        bool // there are others
	whole                                       []byte
}

// read reads the delta that is next.
func (x *delta) read(w *raw.Walk) {
	start := w.At()
	w.Enter()
	for name := w.Member(); name != nil; name = w.Member() {
		value := w.Value()
		if raw.IsNone(value) {
			continue
		}
		switch string(name) {
		case "role":
		case "content":
			x.content = value
		case "tool_calls":
			x.calls = value
		case "reasoning_content":
			x.thought = value
		case "reasoning":
			x.reasoning = value
		case "reasoning_details":
			x.details = value
		default:
			x.more = true
		}
	}
	x.whole = w.Bytes(start)
}

// readDelta tells the delta of a choice, thinking first: servers that send several things
// in one chunk send them in any order.
func (d *chatDecoder) readDelta(x delta) error {
	if x.thought != nil || x.reasoning != nil || x.details != nil {
		d.thinking(x)
	}
	if x.content != nil {
		if err := d.content(x.content); err != nil {
			return raw.In(err, "content")
		}
	}
	if x.more {
		d.members(x.whole)
	}
	if x.calls != nil {
		if err := d.toolCalls(x.calls); err != nil {
			return raw.In(err, "tool_calls")
		}
	}
	return nil
}

// content reads the member content: a text, or, of Mistral, a list of elements.
func (d *chatDecoder) content(value []byte) error {
	switch {
	case raw.IsString(value):
		d.text(value)
		return nil
	case !raw.IsArray(value):
		return raw.Wrong("a string or an array", value)
	}
	for _, s := range raw.Elements(value) {
		v := raw.Values(raw.Slice(value, s), "type", "text", "thinking")
		switch {
		case raw.IsString(v[1]):
			d.text(v[1])
		case raw.IsArray(v[2]):
			for _, s := range raw.Elements(v[2]) {
				if lit := raw.Value(raw.Slice(v[2], s), "text"); raw.IsString(lit) && len(lit) > len(`""`) {
					p := d.begin("reasoning", llm.Thinking{})
					d.held.Grow(&p.size, len(lit))
					p.seen.text.WriteString(raw.Unquote(lit))
					d.delta(p.index, llm.DeltaText, raw.Unquote(lit))
				}
			}
		}
	}
	return nil
}

// text reads a fragment of the visible text.
func (d *chatDecoder) text(lit []byte) {
	if len(lit) <= len(`""`) {
		return
	}
	p := d.begin("content", llm.Text{})
	d.held.Grow(&p.size, len(lit))
	d.delta(p.index, llm.DeltaText, p.text.add(lit))
}

// members reads the members of a delta that are neither text nor thinking.
func (d *chatDecoder) members(delta []byte) {
	for k, v := range raw.Members(delta) {
		value := raw.Slice(delta, v)
		name := string(raw.Name(delta[k.Start:k.End]))
		switch {
		case raw.IsNone(value):
		case name == "refusal" && raw.IsString(value) && len(value) > len(`""`):
			d.refused = true
			p := d.begin(name, llm.Opaque{Kind: name})
			d.held.Grow(&p.size, len(value))
			p.text.add(value)
			d.delta(p.index, llm.DeltaOther, string(value))
		case name == "audio" && raw.IsObject(value):
			p := d.begin(name, llm.Opaque{Kind: name})
			if id := raw.Value(value, "id"); id != nil && p.id == nil {
				p.id = append([]byte(nil), id...)
				d.held.Grow(&p.size, len(id))
			}
			d.delta(p.index, llm.DeltaOther, string(value))
		case name == legacyName && raw.IsObject(value):
			d.legacy(value)
		case name == "annotations" && raw.IsArray(value) && d.current != nil && d.current.kind == "content":
			for _, s := range raw.Elements(value) {
				d.delta(d.current.index, llm.DeltaOther, string(raw.Slice(value, s)))
			}
		}
	}
}

// begin returns the open part of a kind, and opens it if it is not open.
func (d *chatDecoder) begin(kind string, p llm.Part) *chatPart {
	if d.current != nil && d.current.kind == kind {
		return d.current
	}
	d.closePart()
	d.closeWhole()
	d.current = &chatPart{kind: kind, index: d.open(p)}
	d.held.Begin(&d.current.size, 0)
	return d.current
}

// closePart ends the open part that is no call.
func (d *chatDecoder) closePart() {
	p := d.current
	if p == nil {
		return
	}
	d.current = nil
	d.held.End(&p.size)
	switch p.kind {
	case "content":
		d.delta(p.index, llm.DeltaText, p.text.rest())
		lit := p.text.bytes()
		d.done(p.index, llm.Text{Text: raw.Unquote(lit), Raw: llm.Raw{Data: lit}})
	case "reasoning":
		d.closeThinking(p)
	case "audio":
		d.done(p.index, audioPart(p.id))
	case legacyName:
		d.closeLegacy(p)
	default:
		p.text.rest()
		d.done(p.index, opaqueMember(p.kind, p.text.bytes()))
	}
}

func opaqueMember(name string, value []byte) llm.Opaque {
	return llm.Opaque{Kind: name, Raw: llm.Raw{Data: memberOfValue(name, value)}}
}
