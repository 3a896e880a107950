package client

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// limits end one attempt: its context is cancelled, with a *TimeoutError as the cause.
type limits struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	attempt *time.Timer
	idle    *time.Timer // runs while a stream is waited for
	quiet   time.Duration
	most    int64 // bytes of a whole reply
}

// limits begins an attempt. It must be ended.
func (c *Client) limits(ctx context.Context) *limits {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &limits{ctx: ctx, cancel: cancel, quiet: c.o.Idle, most: c.mostReply}
	l.attempt = time.AfterFunc(c.o.Attempt, func() { cancel(&TimeoutError{"attempt", c.o.Attempt}) })
	l.idle = time.AfterFunc(noLimit, func() { cancel(&TimeoutError{"idle", c.o.Idle}) })
	l.idle.Stop()
	return l
}

// end ends the attempt, and what of the request may still be going on.
func (l *limits) end() {
	l.attempt.Stop()
	l.idle.Stop()
	l.cancel(nil)
}

// read reads from a stream. The time that the reader of the events takes is not the stream's.
func (l *limits) read(r io.Reader, buf []byte) (int, error) {
	l.idle.Reset(l.quiet)
	n, err := r.Read(buf)
	l.idle.Stop()
	if err != nil && l.ctx.Err() != nil {
		err = context.Cause(l.ctx)
	}
	return n, err
}

// drain reads the little that may come behind the end of a reply, so that the connection
// can be used again. It does not wait for a stream that is kept open.
func (l *limits) drain(r io.Reader) {
	const most, grace = 64 << 10, 100 * time.Millisecond
	l.idle.Reset(grace)
	_, _ = io.CopyN(io.Discard, r, most)
}

// readAll reads a body that is expected to have some end.
func (l *limits) readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, l.most+1))
	switch {
	case err != nil && l.ctx.Err() != nil:
		return nil, context.Cause(l.ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", wire.ErrCut, err)
	case int64(len(body)) > l.most:
		return nil, fmt.Errorf("reply, want at most %d bytes, got more", l.most)
	}
	return body, nil
}
