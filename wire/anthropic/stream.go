package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A decoder reads one stream. What it does with streams that are not as the API writes
// them is listed in the package comment.
type decoder struct {
	scan    sse.Scanner
	events  []llm.Event
	held    []byte // the payloads of events
	payload []byte // of the payload at hand, until an event has taken it
	seen    int    // payloads so far
	closing bool
	err     error

	begun, ended bool
	told         bool // there was a message_delta
	id           string
	open         map[int]*growing // by the wire's index
	parts        sse.Held         // what open holds
	next         int              // index of the next part
	tally        tally
	reason       string
}

// Feed is the method of [wire.Decoder]. Events that were complete before an error come
// with it.
func (d *decoder) Feed(chunk []byte) ([]llm.Event, error) {
	d.reset()
	if d.err == nil {
		d.err = d.scan.Feed(chunk, d.take)
	}
	return d.events, d.err
}

// Close is the method of [wire.Decoder].
func (d *decoder) Close() ([]llm.Event, error) {
	d.reset()
	if d.err != nil {
		return nil, d.err
	}
	d.closing = true
	if d.err = d.scan.Close(d.take); d.err == nil && !d.ended {
		d.err = errCut()
	}
	return d.events, d.err
}

func errCut() error { return fmt.Errorf("anthropic: stream: %w", wire.ErrCut) }

func (d *decoder) reset() {
	clear(d.events) // or they keep what nobody asks for any more
	d.events, d.held = d.events[:0], d.held[:0]
}

// emit adds an event. The first one of a payload gets its bytes.
func (d *decoder) emit(e llm.Event) {
	*d.slot() = e
	d.claim()
}

// slot returns a new last event to fill, which is zero: events are big, and deltas many.
func (d *decoder) slot() *llm.Event {
	n := len(d.events)
	if n == cap(d.events) {
		d.events = slices.Grow(d.events, 1)
	}
	d.events = d.events[:n+1]
	return &d.events[n]
}

// claim gives the last event the bytes of the payload, if none has them yet.
func (d *decoder) claim() {
	d.events[len(d.events)-1].Raw, d.payload = d.payload, nil
}

func (d *decoder) other() { d.emit(llm.Event{Kind: llm.EventOther}) }

// take reads one payload.
func (d *decoder) take(name, data []byte) error {
	d.seen++
	at := len(d.held)
	d.held = append(d.held, data...)
	d.payload = d.held[at:len(d.held):len(d.held)]
	if bytes.Equal(data, []byte("[DONE]")) { // the end mark of another dialect, from gateways
		d.other()
		return nil
	}
	p, ok := readDeltaPayload(data)
	if !ok {
		if _, err := raw.CheckObject(data); err != nil {
			if d.closing {
				return errCut()
			}
			return fmt.Errorf("anthropic: stream: payload %d: %w", d.seen, err)
		}
		if p = readPayload(data); p.kind == nil {
			p.kind = name
		}
	}
	err := d.handle(&p)
	if err == nil {
		err = d.parts.Check()
	}
	if err != nil {
		return d.wrong(err)
	}
	return nil
}

// wrong returns err as seen from outside. An error of the provider stays as it is.
func (d *decoder) wrong(err error) error {
	if theirs := (*wire.Error)(nil); errors.As(err, &theirs) {
		return err
	}
	return fmt.Errorf("anthropic: stream: payload %d: %w", d.seen, err)
}

func (d *decoder) handle(p *payload) error {
	if d.ended {
		d.other()
		return nil
	}
	switch string(p.kind) {
	case "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if !d.begun {
			return fmt.Errorf("want message_start first, got %s", p.kind)
		}
		return d.inside(p)
	case "message_start":
		return d.start(p)
	case "error":
		return DecodeError(0, bytes.Clone(d.payload))
	}
	d.other()
	return nil
}

// inside reads a payload that stands between message_start and the end.
func (d *decoder) inside(p *payload) error {
	switch string(p.kind) {
	case "content_block_start":
		return d.partStart(p)
	case "content_block_delta":
		return d.delta(p)
	case "content_block_stop":
		d.partStop(p)
	case "message_delta":
		d.told = true
		if raw.IsString(p.delta.reason) {
			d.reason = raw.Unquote(p.delta.reason)
		}
		d.tally.add(p.usage)
		d.tally.clear(p.clears)
	case "message_stop":
		if !d.told {
			return fmt.Errorf("message_stop before message_delta: %w", wire.ErrCut)
		}
		d.end()
	}
	return nil
}

// start reads message_start. The same one again is a gateway's mistake (bifrost-4556)
// and passed over. Another one says that the reply was cut in the middle and asked for
// again: nobody can take back what was told of the first, and parts of both in one
// message would never be accepted by the API, so that is a cut stream.
func (d *decoder) start(p *payload) error {
	if !raw.IsObject(p.message) {
		return raw.In(raw.Wrong("an object", p.message), "message")
	}
	v := raw.Values(p.message, "id", "model", "usage")
	id := raw.Unquote(v[0])
	if d.begun {
		if id != d.id {
			return fmt.Errorf("message_start of %q before the end of %q: %w", id, d.id, wire.ErrCut)
		}
		d.other()
		return nil
	}
	d.begun, d.id, d.open = true, id, map[int]*growing{}
	d.tally.add(v[2])
	d.emit(llm.Event{Kind: llm.EventStart, ID: id, Model: raw.Unquote(v[1]), Usage: d.tally.usage()})
	return nil
}

func (d *decoder) partStart(p *payload) error {
	index, ok := raw.Int(p.index)
	if !ok {
		return raw.In(raw.Wrong("a whole number", p.index), "index")
	}
	if !raw.IsObject(p.block) {
		return raw.In(raw.Wrong("an object", p.block), "content_block")
	}
	if d.open[index] != nil {
		return fmt.Errorf("content_block_start, want another index than that of an open block, got %d", index)
	}
	g, part := begin(bytes.Clone(p.block))
	g.index = d.next
	d.parts.Begin(&g.size, len(g.start))
	d.open[index], d.next = g, d.next+1
	d.emit(llm.Event{Kind: llm.EventPartStart, Index: g.index, Part: part})
	d.tell(g, llm.DeltaText, string(g.text))
	d.tell(g, llm.DeltaSignature, string(g.signature))
	return nil
}

// tell emits a delta, unless it is empty.
func (d *decoder) tell(g *growing, kind llm.DeltaKind, text string) {
	if text == "" {
		return
	}
	e := d.slot()
	e.Kind, e.Index, e.Delta, e.Text = llm.EventDelta, g.index, kind, text
	d.claim()
}

func (d *decoder) delta(p *payload) error {
	index, ok := raw.Int(p.index)
	g := d.open[index]
	if !ok || g == nil {
		return fmt.Errorf("content_block_delta, want the index of an open block, got %s", p.index)
	}
	kind, lit, err := g.accepts(&p.delta)
	switch {
	case err != nil:
		return err
	case kind == llm.DeltaOther:
		g.fold(&p.delta)
		d.tell(g, kind, string(p.delta.whole))
		d.parts.Grow(&g.size, len(p.delta.whole))
	default:
		text := g.grow(kind, lit)
		d.tell(g, kind, text)
		d.parts.Grow(&g.size, len(text))
	}
	return nil
}

// partStop reads content_block_stop. One for no open block says nothing.
func (d *decoder) partStop(p *payload) {
	index, ok := raw.Int(p.index)
	g := d.open[index]
	if !ok || g == nil {
		d.other()
		return
	}
	delete(d.open, index)
	d.close(g)
}

func (d *decoder) close(g *growing) {
	kind, rest := g.rest()
	d.tell(g, kind, rest)
	d.emit(llm.Event{Kind: llm.EventPartEnd, Index: g.index, Part: g.part()})
	d.parts.End(&g.size)
}

// end reads message_stop, which also ends blocks that were left open.
func (d *decoder) end() {
	left := slices.SortedFunc(maps.Values(d.open), func(a, b *growing) int { return a.index - b.index })
	for _, g := range left {
		d.close(g)
	}
	d.open, d.ended = nil, true
	d.emit(llm.Event{
		Kind: llm.EventEnd, Stop: stopOf(d.reason), Reason: d.reason, Usage: d.tally.usage(), Extra: d.tally.extra(),
	})
}
