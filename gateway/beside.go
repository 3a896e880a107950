package gateway

import (
	"context"
	"time"
)

// flushAfter is how long the records of a request that needed no edit wait to be written:
// a reply that comes sooner has its usage written with them.
const flushAfter = 10 * time.Millisecond

// flushBeside writes the records of a request that leaves as the client made it while its
// provider answers.
func (x *Exchange) flushBeside() {
	g, f, name, flushed := x.gateway, x.family, x.branch.name, make(chan struct{})
	x.flushed = flushed
	x.flush = time.AfterFunc(flushAfter, func() {
		defer close(flushed)
		if err := g.store.flush(context.Background(), name); err != nil {
			g.unwritten(f, name, err)
		}
	})
}

// streams reports whether the client asks for a stream.
func (x *Exchange) streams() bool { return x.request.Settings.Stream || x.call.Stream }

// flushing waits until what the session was told of the request is written. It returns
// false if nobody has begun to, which is then up to the caller.
func (x *Exchange) flushing() (written bool) {
	if x.flush == nil {
		return true
	}
	mine := x.flush.Stop()
	x.flush = nil
	if !mine {
		<-x.flushed
	}
	return !mine
}

// unwritten is for records that the store did not take: the session is read again when it
// is asked for.
func (g *Gateway) unwritten(f *family, session string, err error) {
	g.options.Log.Warn("records were not written", "session", session, "error", err.Error())
	f.stale.Store(true)
}
