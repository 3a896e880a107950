package ollama

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A decoder reads a stream of one JSON text a line.
type decoder struct {
	lines sse.Scanner
	take  func(name, data []byte) error
	out   []llm.Event
	arena []byte // the payloads of this call
	raw   []byte // the payload at hand, until an event has it
	err   error

	started, done bool
	model         string
	index         int // of the next part
	calls         int
	open          openPart
	held          sse.Held // what open holds
	walk          raw.Walk // through the line at hand
	line          line     // the payload at hand
}

// An openPart is the text or thinking that may go on with the next line.
type openPart struct {
	open     bool
	thinking bool
	index    int
	literal  []byte // of its one piece
	pieces   int
	text     []byte
	size     sse.Size
}

// A line is what one payload says, as values of it.
type line struct {
	message, done, failed            bool
	model, reason, prompt, output    []byte
	content, thinking, images, calls []byte
}

func newDecoder() *decoder {
	d := &decoder{lines: sse.Scanner{Lines: true}}
	d.take = d.payload
	return d
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(chunk []byte) ([]llm.Event, error) {
	d.out, d.arena = d.out[:0], d.arena[:0]
	if d.err == nil {
		d.err = d.lines.Feed(chunk, d.take)
		return d.out, d.err
	}
	return nil, d.err
}

// Close implements [wire.Decoder].
func (d *decoder) Close() ([]llm.Event, error) {
	d.out, d.arena = d.out[:0], d.arena[:0]
	if d.err != nil {
		return nil, d.err
	}
	d.err = d.lines.Close(func(name, data []byte) error {
		if raw.Check(data) != nil {
			return wire.ErrCut
		}
		return d.payload(name, data)
	})
	if d.err == nil && !d.done {
		d.err = wire.ErrCut
	}
	if d.err != nil {
		return d.out, d.err
	}
	d.err = errors.New("ollama: stream: want no call after Close")
	return d.out, nil
}

// emit adds an event. The first one of a payload gets its bytes.
func (d *decoder) emit(e llm.Event) {
	e.Raw, d.raw = d.raw, nil
	d.out = append(d.out, e)
}

// payload reads one line.
func (d *decoder) payload(_, data []byte) error {
	at := len(d.arena)
	d.arena = append(d.arena, data...)
	d.raw = d.arena[at:len(d.arena):len(d.arena)]
	d.walk = raw.NewWalk(d.raw)
	if !raw.IsObject(d.walk.Next()) {
		if err := raw.Check(d.raw); err != nil {
			return fmt.Errorf("ollama: stream: %w", err)
		}
		return fmt.Errorf("ollama: stream: %w", d.walk.Wrong("an object"))
	}
	l := &d.line
	*l = line{}
	wrong := l.read(&d.walk)
	if err := d.walk.Err(); err != nil {
		return fmt.Errorf("ollama: stream: %w", err)
	}
	if wrong != nil {
		return fmt.Errorf("ollama: stream: %w", wrong)
	}
	switch {
	case l.failed:
		return DecodeError(0, bytes.Clone(d.raw))
	case d.done || !l.message && !l.done:
		d.emit(llm.Event{Kind: llm.EventOther})
		return nil
	}
	d.reply(l)
	if err := d.held.Check(); err != nil {
		return fmt.Errorf("ollama: stream: %w", err)
	}
	return nil
}

// read reads the line that is next.
func (l *line) read(w *raw.Walk) (err error) {
	for w.Enter(); ; {
		name := w.Member()
		if name == nil {
			return err
		}
		if string(name) == "message" && raw.IsObject(w.Next()) {
			l.message = true
			err = l.readMessage(w)
			continue
		}
		at := *w
		value := w.Value()
		switch string(name) {
		case "model":
			l.model = value
		case "done":
			l.done = string(value) == "true"
		case "done_reason":
			l.reason = value
		case "prompt_eval_count":
			l.prompt = value
		case "eval_count":
			l.output = value
		case "error":
			l.failed = !raw.IsNone(value)
		case "message":
			if !raw.IsNone(value) {
				err = raw.In(at.Wrong("an object"), "message")
			}
		}
	}
}

func (l *line) readMessage(w *raw.Walk) (err error) {
	for w.Enter(); ; {
		name := w.Member()
		if name == nil {
			return err
		}
		at := *w
		value := w.Value()
		want := ""
		switch string(name) {
		case "content":
			if l.content = value; !raw.IsString(value) && !raw.IsNone(value) {
				want = "content that is a string"
			}
		case "thinking":
			l.thinking = value
		case "images":
			l.images = value
		case "tool_calls":
			if l.calls = value; !raw.IsArray(value) && !raw.IsNone(value) {
				want = "tool_calls that are an array"
			}
		}
		if want != "" && err == nil {
			err = raw.In(at.Wrong(want), "message")
		}
	}
}

// reply takes what a line says: thinking, text, images, calls, in this order.
func (d *decoder) reply(l *line) {
	if raw.IsString(l.model) && string(raw.Name(l.model)) != d.model {
		d.model = raw.Unquote(l.model)
	}
	if !d.started {
		d.started = true
		d.emit(llm.Event{Kind: llm.EventStart, Model: d.model})
	}
	d.text(l.thinking, true)
	d.text(l.content, false)
	for _, s := range raw.Elements(l.images) {
		if b := raw.Slice(l.images, s); raw.IsString(b) {
			d.whole(media.Part(bytes.Clone(b)))
		}
	}
	for _, s := range raw.Elements(l.calls) {
		d.calls++
		d.whole(toolCall(bytes.Clone(raw.Slice(l.calls, s)), d.calls))
	}
	if l.done {
		d.closePart()
		d.done = true
		reason := raw.Unquote(l.reason)
		d.emit(llm.Event{Kind: llm.EventEnd, Stop: stopOf(reason, d.calls > 0), Reason: reason, Usage: usageOf(l.prompt, l.output)})
	}
}

// text takes a piece of text or thinking.
func (d *decoder) text(lit []byte, thinking bool) {
	text := raw.Unquote(lit)
	if text == "" {
		return
	}
	o := &d.open
	if !o.open || o.thinking != thinking {
		d.closePart()
		*o = openPart{open: true, thinking: thinking, index: d.index, text: o.text[:0], literal: bytes.Clone(lit)}
		d.held.Begin(&o.size, len(lit))
		d.index++
		part := llm.Part(llm.Text{})
		if thinking {
			part = llm.Thinking{}
		}
		d.emit(llm.Event{Kind: llm.EventPartStart, Index: o.index, Part: part})
	}
	o.pieces++
	o.text = append(o.text, text...)
	d.held.Grow(&o.size, len(text))
	d.emit(llm.Event{Kind: llm.EventDelta, Index: o.index, Delta: llm.DeltaText, Text: text})
}

// whole takes a part that is in one line.
func (d *decoder) whole(p llm.Part) {
	d.closePart()
	begun := p
	c, isCall := p.(llm.ToolCall)
	if isCall {
		begun = llm.ToolCall{CallID: c.CallID, Name: c.Name}
	}
	d.emit(llm.Event{Kind: llm.EventPartStart, Index: d.index, Part: begun})
	if isCall && c.Args != "" {
		d.emit(llm.Event{Kind: llm.EventDelta, Index: d.index, Delta: llm.DeltaArgs, Text: c.Args})
	}
	d.emit(llm.Event{Kind: llm.EventPartEnd, Index: d.index, Part: p})
	d.index++
}

// closePart ends the open part, if there is one.
func (d *decoder) closePart() {
	o := &d.open
	if !o.open {
		return
	}
	text := string(o.text)
	literal := o.literal
	if o.pieces > 1 {
		literal = raw.Quote(text)
	}
	part := llm.Part(llm.Text{Text: text, Raw: llm.Raw{Data: literal}})
	if o.thinking {
		part = llm.Thinking{Text: text, Raw: llm.Raw{Data: append([]byte(`"thinking":`), literal...)}}
	}
	d.emit(llm.Event{Kind: llm.EventPartEnd, Index: o.index, Part: part})
	o.open = false
	d.held.End(&o.size)
}
