package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Stream sends r and yields the events of the reply as they come; an [llm.Event] may be
// kept, but for its Raw. An error is the last that is yielded, and is an *[Error]; one
// that matches [wire.ErrCut] says that the reply was not whole. Leaving the loop ends
// the request. Each loop over the result is a new call. Where the provider answers with a
// whole reply, its events are yielded.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	r.Settings.Stream = true
	return func(yield func(llm.Event, error) bool) {
		k, err := c.prepare(opStream, c.paths.Stream, r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		u := c.keep(ctx, r, k)
		defer u.end()
		out := outlet{yield: yield, use: u}
		once := func(ctx context.Context) (struct{}, error) {
			err := c.stream(ctx, k, &out)
			switch {
			case out.stopped:
				return struct{}{}, nil
			case err != nil && out.given:
				return struct{}{}, &failure{err: err}
			}
			return struct{}{}, err
		}
		_, err = retry(ctx, c, k, once)
		if !out.given && u.refused(ctx, err) {
			k.body = u.whole
			_, err = retry(ctx, c, k, once)
		}
		if err != nil {
			yield(llm.Event{}, err)
		}
	}
}

// An outlet is where events go.
type outlet struct {
	yield   func(llm.Event, error) bool
	given   bool // some of the reply has been given; a ping is none of it
	stopped bool // nobody wants more
	use     *use // nil: nothing is kept of the conversation
}

func (o *outlet) give(e llm.Event) bool {
	o.given = o.given || e.Kind != llm.EventOther
	if e.Kind == llm.EventEnd {
		e.Usage = o.use.answered(e.Usage)
	}
	o.stopped = !o.yield(e, nil)
	return !o.stopped
}

// stream makes one attempt at a streamed reply. One that came whole is made into events.
func (c *Client) stream(ctx context.Context, k *call, out *outlet) error {
	l := c.limits(ctx)
	defer l.end()
	a, err := c.receive(l, k, out.give)
	if err != nil || !a.whole {
		return err
	}
	for _, e := range wire.Events(a.reply) {
		if !out.give(e) {
			return nil
		}
	}
	return nil
}

// feed reads a stream to its end.
func (c *Client) feed(b *inlet, give func(llm.Event) bool) error {
	f := c.feeder(give)
	buf := make([]byte, 32<<10)
	for {
		n, err := b.Read(buf)
		if wrong := f.feed(buf[:n]); wrong != nil {
			return wrong
		}
		switch {
		case f.stopped:
			return nil
		case f.ended:
			b.l.drain(b)
			return nil
		case err == io.EOF: //nolint:errorlint // a Reader returns it as it is
			return f.close()
		case err != nil && b.l.ctx.Err() != nil:
			return err
		case err != nil:
			return f.broken(err)
		}
	}
}

// A feeder gives a decoder's events on.
type feeder struct {
	c              *Client
	decoder        wire.Decoder
	give           func(llm.Event) bool
	given          bool // something of the reply
	ended, stopped bool // the reply was whole; nobody wants more
}

func (c *Client) feeder(give func(llm.Event) bool) *feeder {
	return &feeder{c: c, decoder: c.codec.NewDecoder(), give: give}
}

func (f *feeder) feed(chunk []byte) error {
	if len(chunk) == 0 {
		return nil
	}
	events, err := f.decoder.Feed(chunk)
	return f.pass(events, err)
}

// close ends the stream. What a decoder finds wrong only now is what the end has cut.
func (f *feeder) close() error {
	if f.ended || f.stopped {
		return nil
	}
	events, err := f.decoder.Close()
	err = f.pass(events, err)
	_, refused := errors.AsType[*wire.Error](err)
	switch {
	case err == nil && !f.ended && !f.stopped:
		return wire.ErrCut
	case err == nil || refused || errors.Is(err, wire.ErrCut):
		return err
	}
	return fmt.Errorf("%w: %w", wire.ErrCut, err)
}

// broken ends a stream that the network broke; which matters only if something of the
// reply is missing.
func (f *feeder) broken(why error) error {
	err := f.close()
	if errors.Is(err, wire.ErrCut) {
		return fmt.Errorf("%w: %w", wire.ErrCut, why)
	}
	return err
}

// pass gives events, and returns the error that came with them unless nobody wants it.
func (f *feeder) pass(events []llm.Event, err error) error {
	for _, e := range events {
		if refused := f.refusal(e); refused != nil {
			return refused
		}
		f.ended = f.ended || e.Kind == llm.EventEnd
		f.given = f.given || e.Kind != llm.EventOther
		if f.stopped = !f.give(e); f.stopped {
			return nil
		}
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Class == wire.Unclassified {
		if known := f.c.errorIn(e.Body); known != nil {
			return known
		}
	}
	return err
}

// refusal returns the error that an event tells which the decoder does not know: one in
// another dialect's shape, which has no type or that of an error.
func (f *feeder) refusal(e llm.Event) *wire.Error {
	if e.Kind != llm.EventOther || !bytes.Contains(e.Raw, []byte(`"error"`)) {
		return nil
	}
	var payload struct {
		Type string `json:"type"`
	}
	wrong := json.Unmarshal(e.Raw, &payload)
	if wrong == nil && (payload.Type == "" || payload.Type == "error") {
		return f.c.errorIn(bytes.Clone(e.Raw)) // the payload is the decoder's
	}
	return nil
}
