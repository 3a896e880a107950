package client

import (
	"context"
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
		k, err := c.prepare("stream", c.paths.Stream, r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		out := outlet{yield: yield}
		_, err = retry(ctx, c, k, func(ctx context.Context) (struct{}, error) {
			err := c.stream(ctx, k, &out)
			switch {
			case out.stopped:
				return struct{}{}, nil
			case err != nil && out.given:
				return struct{}{}, &failure{err: err}
			}
			return struct{}{}, err
		})
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
}

func (o *outlet) give(e llm.Event) bool {
	o.given = o.given || e.Kind != llm.EventOther
	o.stopped = !o.yield(e, nil)
	return !o.stopped
}

// stream makes one attempt at a streamed reply.
func (c *Client) stream(ctx context.Context, k *call, out *outlet) error {
	l := c.limits(ctx)
	defer l.end()
	resp, err := c.send(l.ctx, k)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if whole(resp) {
		return c.giveWhole(l, resp.Body, out)
	}
	l.attempt.Stop()
	return c.feed(l, resp.Body, out.give)
}

// giveWhole yields a reply that came as one JSON text. Some streams are one as well, a
// list of their events, which only the decoder knows.
func (c *Client) giveWhole(l *limits, r io.Reader, out *outlet) error {
	body, err := l.readAll(r)
	if err != nil {
		return err
	}
	reply, wrong := c.decode(body)
	if wrong == nil {
		for _, e := range wire.Events(reply) {
			if !out.give(e) {
				return nil
			}
		}
		return nil
	}
	if _, refused := errors.AsType[*wire.Error](wrong); refused {
		return wrong
	}
	f := feeder{decoder: c.codec.NewDecoder(), give: out.give}
	if err = f.feed(body); err == nil {
		err = f.close()
	}
	if err != nil && !out.given {
		return wrong // what it is not as a reply says more
	}
	return err
}

// feed reads a stream to its end.
func (c *Client) feed(l *limits, body io.Reader, give func(llm.Event) bool) error {
	f := feeder{decoder: c.codec.NewDecoder(), give: give}
	buf := make([]byte, 32<<10)
	for {
		n, err := l.read(body, buf)
		if wrong := f.feed(buf[:n]); wrong != nil {
			return wrong
		}
		switch {
		case f.stopped:
			return nil
		case f.ended:
			l.drain(body)
			return nil
		case err == io.EOF: //nolint:errorlint // a Reader returns it as it is
			return f.close()
		case err != nil && l.ctx.Err() != nil:
			return err
		case err != nil:
			return f.broken(err)
		}
	}
}

// A feeder gives a decoder's events on.
type feeder struct {
	decoder        wire.Decoder
	give           func(llm.Event) bool
	ended, stopped bool // the reply was whole; nobody wants more
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
	if _, refused := errors.AsType[*wire.Error](err); err == nil || refused || errors.Is(err, wire.ErrCut) {
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
		f.ended = f.ended || e.Kind == llm.EventEnd
		if f.stopped = !f.give(e); f.stopped {
			return nil
		}
	}
	return err
}
