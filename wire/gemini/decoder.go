package gemini

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A decoder reads a stream of either framing: server-sent events, or one JSON array of
// replies (the framing without alt=sse), or replies one after another.
type decoder struct {
	framing framing
	head    []byte // what came before the framing was known
	events  sse.Scanner
	values  valueScanner
	take    func(name, data []byte) error

	out   []llm.Event
	arena []byte // the payloads of this call
	raw   []byte // the payload at hand, until an event has it
	err   error

	started  bool
	finished bool // a reason to stop has come
	calls    bool
	reason   string
	blocked  string
	id       string
	model    string
	usage    llm.Usage
	ids      ids
	index    int // of the next part
	open     openPart
	held     sse.Held // what open holds
	walk     raw.Walk // through the payload at hand
	chunk    chunk    // what it says
}

type framing uint8

const (
	unknownFraming framing = iota
	eventFraming
	valueFraming
)

func newDecoder() *decoder {
	d := &decoder{}
	d.take = d.payload
	return d
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(chunk []byte) ([]llm.Event, error) {
	d.out, d.arena = d.out[:0], d.arena[:0]
	if d.err != nil {
		return nil, d.err
	}
	if d.framing == unknownFraming {
		chunk = d.begin(chunk)
	}
	if len(d.head) > sse.MaxPayload {
		d.err = fmt.Errorf("gemini: stream: want a payload within %d bytes, got none in %d", sse.MaxPayload, len(d.head))
	}
	switch d.framing {
	case eventFraming:
		d.err = d.events.Feed(chunk, d.take)
	case valueFraming:
		d.err = d.values.feed(chunk, d.take)
	}
	return d.out, d.err
}

// begin looks for the first byte that tells the framing and returns what is to be fed.
func (d *decoder) begin(chunk []byte) []byte {
	d.head = append(d.head, chunk...)
	framing, text := framingOf(d.head)
	if framing == unknownFraming {
		return nil
	}
	d.framing = framing
	all := d.head
	if d.framing == valueFraming {
		all = text
	}
	d.head = nil
	return all
}

// framingOf tells the framing of a stream by its first bytes, and returns them without what
// stands before the first one that counts.
func framingOf(head []byte) (framing, []byte) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0 || bytes.HasPrefix([]byte("\xef\xbb\xbf"), text):
		return unknownFraming, nil
	case text[0] == '[' || text[0] == '{':
		return valueFraming, text
	}
	return eventFraming, text
}

// Close implements [wire.Decoder].
func (d *decoder) Close() ([]llm.Event, error) {
	d.out, d.arena = d.out[:0], d.arena[:0]
	if d.err != nil {
		return nil, d.err
	}
	switch d.framing {
	case eventFraming:
		d.err = d.events.Close(func(name, data []byte) error {
			if raw.Check(data) != nil {
				return wire.ErrCut
			}
			return d.payload(name, data)
		})
	case valueFraming:
		d.err = d.values.close()
	}
	if d.err == nil && !d.finished {
		d.err = wire.ErrCut
	}
	if d.err != nil {
		return d.out, d.err
	}
	d.raw = nil // what comes now is in no payload
	d.closePart()
	end := llm.Event{Kind: llm.EventEnd, Reason: d.reason, Usage: d.usage}
	end.Stop, _ = stopOf(d.reason, d.calls)
	if d.blocked != "" && d.reason == "" {
		end.Stop, end.Reason = llm.StopRefusal, d.blocked
	}
	d.emit(end)
	d.err = errors.New("gemini: stream: want no call after Close")
	return d.out, nil
}

// emit adds an event. The first one of a payload gets its bytes.
func (d *decoder) emit(e llm.Event) {
	e.Raw, d.raw = d.raw, nil
	d.out = append(d.out, e)
}

// payload reads one reply of the stream.
func (d *decoder) payload(_, data []byte) error {
	at := len(d.arena)
	d.arena = append(d.arena, data...)
	d.raw = d.arena[at:len(d.arena):len(d.arena)]
	text := d.raw
	d.walk = raw.NewWalk(text)
	if !raw.IsObject(d.walk.Next()) {
		return fmt.Errorf("gemini: stream: %w", d.walk.Wrong("an object"))
	}
	return d.reply()
}

// reply reads the reply that the payload is.
func (d *decoder) reply() error {
	r := &d.chunk
	*r = chunk{parts: r.parts[:0]}
	r.read(&d.walk)
	if err := d.walk.Err(); err != nil {
		return fmt.Errorf("gemini: stream: %w", err)
	}
	switch {
	case r.failed:
		return DecodeError(0, bytes.Clone(d.raw))
	case r.err != nil:
		return fmt.Errorf("gemini: stream: %w", r.err)
	case !r.known:
		d.emit(llm.Event{Kind: llm.EventOther})
		return nil
	}
	d.name(&d.id, r.id)
	d.name(&d.model, r.model)
	if u := usageOf(r.usage); !u.IsZero() {
		d.usage = u
	}
	if blocked := raw.Value(r.feedback, "blockReason"); raw.IsString(blocked) {
		d.blocked, d.finished = raw.Unquote(blocked), true
	}
	if !d.started {
		d.started = true
		d.emit(llm.Event{Kind: llm.EventStart, ID: d.id, Model: d.model, Usage: d.usage})
	}
	for _, p := range r.parts {
		d.part(p)
	}
	if err := d.held.Check(); err != nil {
		return fmt.Errorf("gemini: stream: %w", err)
	}
	if raw.IsString(r.reason) {
		d.finished = true
		d.name(&d.reason, r.reason)
	}
	return nil
}

// name keeps the text of a literal, which mostly is the same in every payload.
func (d *decoder) name(old *string, lit []byte) {
	if raw.IsString(lit) && string(raw.Name(lit)) != *old {
		*old = raw.Unquote(lit)
	}
}
