package gemini

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// An openPart is the part that may go on with the next payload.
type openPart struct {
	kind      openKind
	index     int
	base      []byte // the bytes that it began with
	pieces    int    // of text
	text      []byte
	signature []byte // a literal
	call      llm.ToolCall
	args      node
	size      sse.Size
}

type openKind uint8

const (
	noPart openKind = iota
	textOpen
	thoughtOpen
	callOpen
)

// part takes the next part, or the next piece of one.
func (d *decoder) part(m members) {
	if raw.IsString(m.signature) {
		m.signature = bytes.Clone(m.signature) // it is needed longer than the payload
		d.ids.signed(m.signature)
	}
	switch {
	case raw.IsObject(m.call):
		d.call(m)
	case m.response != nil, m.media != nil:
		d.whole(m)
	case raw.IsString(m.text), m.kind == "" && raw.IsString(m.signature):
		d.text(m)
	default:
		d.whole(m)
	}
}

// start begins a part and makes it the open one.
func (d *decoder) start(p llm.Part, o openPart) {
	d.closePart()
	o.index = d.index
	d.open = o
	d.held.Begin(&d.open.size, len(o.base))
	d.index++
	d.emit(llm.Event{Kind: llm.EventPartStart, Index: o.index, Part: p})
}

func (d *decoder) delta(kind llm.DeltaKind, text string) {
	if text != "" {
		d.emit(llm.Event{Kind: llm.EventDelta, Index: d.open.index, Delta: kind, Text: text})
	}
}

// end ends the open part as p.
func (d *decoder) end(p llm.Part) {
	d.emit(llm.Event{Kind: llm.EventPartEnd, Index: d.open.index, Part: p})
	d.held.End(&d.open.size)
	d.open = openPart{text: d.open.text[:0]}
}

// whole reads a part that is always in one payload.
func (d *decoder) whole(m members) {
	c := raw.NewCursor(bytes.Clone(m.bytes))
	p, _ := decodePart(c, &ids{}, &pair.Calls{})
	d.start(p, openPart{})
	d.end(p)
}

// text reads text or a thought, which go on until another part or a signature ends them.
func (d *decoder) text(m members) {
	text := raw.Unquote(m.text)
	signed := raw.IsString(m.signature)
	if text == "" && !signed {
		return
	}
	kind, begun := textOpen, llm.Part(llm.Text{})
	if m.isThought() {
		kind, begun = thoughtOpen, llm.Thinking{}
	}
	o := &d.open
	if o.kind != kind || o.signature != nil {
		kept := o.text[:0]
		d.start(begun, openPart{kind: kind, base: bytes.Clone(m.bytes), text: kept})
		o.signature = m.signature
	} else if signed {
		o.signature = m.signature
		o.base = nameSignature.set(o.base, m.signature)
	}
	if text != "" {
		o.pieces++
	}
	o.text = append(o.text, text...)
	d.held.Grow(&o.size, len(text)+len(m.signature))
	d.delta(llm.DeltaText, text)
	if signed && kind == thoughtOpen {
		d.delta(llm.DeltaSignature, raw.Unquote(m.signature))
	}
}

// call reads a call: a whole one, the beginning of one whose arguments come in pieces, a
// piece, or the empty call that ends it.
func (d *decoder) call(m members) {
	v := raw.Values(m.call, "id", "name", "args", "partialArgs", "willContinue")
	named, more := raw.IsString(v[1]), string(v[4]) == "true"
	if !named {
		if d.open.kind != callOpen {
			return
		}
		d.arguments(v[2], v[3])
		if !more {
			d.closePart()
		}
		return
	}
	d.calls = true
	args := v[2]
	if raw.IsNone(args) {
		args = []byte("{}")
	}
	call := llm.ToolCall{CallID: d.ids.call(v[0], v[1], args), Name: raw.Unquote(v[1])}
	whole := bytes.Clone(m.bytes)
	d.start(call, openPart{kind: callOpen, base: whole, call: call})
	if !more && v[3] == nil {
		call.Args = string(args)
		d.delta(llm.DeltaArgs, call.Args)
		call.Data = whole
		d.end(call)
		return
	}
	d.arguments(v[2], v[3])
	if !more {
		d.closePart()
	}
}

// arguments adds to the arguments of the open call.
func (d *decoder) arguments(args, partial []byte) {
	d.held.Grow(&d.open.size, len(args)+len(partial))
	if raw.IsObject(args) && string(args) != "{}" {
		d.open.args = node{kind: leafNode, text: bytes.Clone(args)}
	}
	for _, s := range raw.Elements(partial) {
		before := d.open.args.made
		d.open.args.piece(raw.Slice(partial, s))
		d.held.Grow(&d.open.size, sse.PerPiece*max(d.open.args.made-before, 0))
	}
}

// closePart ends the open part, if there is one.
func (d *decoder) closePart() {
	o := &d.open
	switch o.kind {
	case textOpen:
		d.end(llm.Text{Text: string(o.text), Raw: llm.Raw{Data: o.textBytes()}})
	case thoughtOpen:
		d.end(llm.Thinking{Text: string(o.text), Signature: raw.Unquote(o.signature), Raw: llm.Raw{Data: o.textBytes()}})
	case callOpen:
		call := o.call
		args := []byte("{}")
		if o.args.kind != noNode {
			args = o.args.append(nil)
		}
		call.Args = string(args)
		inner := raw.Delete(raw.Delete(nameCall.value(o.base), "partialArgs"), "willContinue")
		call.Data = nameCall.set(o.base, raw.Set(inner, "args", args))
		d.delta(llm.DeltaArgs, call.Args)
		d.end(call)
	}
}

// textBytes returns the part in the form that a request wants: the bytes that it began
// with, which hold all of it or get its whole text.
func (o *openPart) textBytes() []byte {
	if o.pieces < 2 && (o.pieces == 0 || raw.Unquote(raw.Value(o.base, "text")) == string(o.text)) {
		return o.base
	}
	return raw.Set(o.base, "text", raw.Quote(string(o.text)))
}
