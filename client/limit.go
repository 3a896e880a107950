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
	streams bool        // the idle limit counts, and not that of the attempt
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

// stream says that the body is a stream: from here on it may take any time, but not be
// silent for long.
func (l *limits) stream() {
	l.attempt.Stop()
	l.streams = true
}

// read reads from a body. The time that the reader of the events takes is not the stream's.
func (l *limits) read(r io.Reader, buf []byte) (int, error) {
	if l.streams {
		l.idle.Reset(l.quiet)
		defer l.idle.Stop()
	}
	n, err := r.Read(buf)
	if err != nil && l.ctx.Err() != nil {
		err = context.Cause(l.ctx)
	}
	return n, err
}

// drain reads the little that may come behind the end of a reply, so that the connection
// can be used again: the mark of the body's end, which comes at once if it comes at all.
// A stream that is kept open is not waited for. With HTTP/2 streams are no connections.
func (l *limits) drain(b *inlet) {
	const most, grace = 64 << 10, 5 * time.Millisecond
	if b.resp.ProtoMajor >= 2 {
		return
	}
	l.idle.Reset(grace)
	_, _ = io.CopyN(io.Discard, b.resp.Body, most)
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
