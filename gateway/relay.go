package gateway

import (
	"context"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// mostObserved is how much of a reply is looked at, in bytes. What is longer passes by all
// the same, and its usage is not learnt: the whole of a reply is kept until its end, and of
// a stream the part that is open.
const mostObserved = 64 << 20

// A Relay looks at a reply while it passes by, and changes nothing of it. What the reply
// used is told to the session before its last bytes are passed on: a client that has
// seen the end may send its next request at once.
type Relay struct {
	exchange *Exchange
	ctx      context.Context //nolint:containedctx // of the exchange, without its end: usage is taken when the client has gone, too
	decoder  wire.Decoder    // of a stream; nil: it is none, or nobody looks any more
	streamed bool
	whole    []byte      // of a reply that is no stream, so far
	seen     int         // bytes of a stream that were looked at
	blind    bool        // nobody looks any more
	holding  bool        // of a stream: a refusal can still come
	held     []byte      // what is not passed on yet
	view     *clientView // nil: the client is told what was used
	keeps    bool        // the provider keeps the reply, for requests that go on with it
	usage    llm.Usage
	settled  bool
}

// Relay begins to look at a reply to Body, decompressed, which is a stream or not.
func (x *Exchange) Relay(ctx context.Context, streamed bool) *Relay {
	r := &Relay{exchange: x, ctx: context.WithoutCancel(ctx), streamed: streamed, blind: x.codec == nil}
	if x.Rewrites() {
		r.view = &clientView{dialect: x.call.Dialect, add: x.report.Saved}
	}
	r.keeps = x.branch != nil && x.call.Dialect == openai.DialectResponses
	if streamed && !r.blind {
		r.decoder = x.codec.NewDecoder()
		// Only here a length refusal comes with the status of a success, as an event.
		r.holding = r.keeps
	}
	return r
}

// Holding reports whether everything so far is held back, because a length refusal can
// still come in place of a reply.
func (r *Relay) Holding() bool { return r.holding }

// Looking reports whether what still comes is looked at. Where it is not, nobody needs to
// unpack it for the relay.
func (r *Relay) Looking() bool { return !r.blind }

// Write takes the next bytes of the reply and returns those that the client gets now,
// which are good until the next call. Of a reply that is no stream that is what came
// before; what is held is returned by [Relay.End]. A length refusal that came in place of
// a reply is returned beside no bytes: [Exchange.RefusedInside] says whether to send
// again; if not, Release it.
func (r *Relay) Write(chunk []byte) (pass []byte, refusal *wire.Error) {
	told := r.look(chunk)
	if r.view != nil && r.streamed {
		chunk = r.view.lines(chunk)
	}
	switch {
	case told != nil && r.holding:
		r.held = append(r.held, chunk...)
		return nil, told
	case r.holding, r.view != nil && !r.streamed && !r.blind:
		r.held = append(r.held, chunk...)
		return nil, nil
	case !r.streamed:
		pass, r.held = r.held, append([]byte(nil), chunk...)
		return pass, nil
	}
	r.waitForStore()
	if len(r.held) > 0 {
		pass, r.held = append(r.held, chunk...), nil
		return pass, nil
	}
	return chunk, nil
}

// waitForStore waits until what the session was told of the request is written: from the
// first bytes of a reply on its client may go on from it.
func (r *Relay) waitForStore() {
	if x := r.exchange; !x.flushing() {
		r.write()
	}
}

// write writes what the session was told.
func (r *Relay) write() {
	x := r.exchange
	if err := x.gateway.store.flush(r.ctx, x.branch.name); err != nil {
		x.gateway.unwritten(x.family, x.branch.name, err)
	}
}

// Rewrites reports whether the client gets other bytes than the provider's, so that a
// length which the provider stated does not hold.
func (r *Relay) Rewrites() bool { return r.view != nil }

// Release returns what is held of a stream and holds nothing from here on.
func (r *Relay) Release() []byte {
	held := r.held
	r.held, r.holding = nil, false
	return held
}

// look reads a chunk for its figures. It returns the error that a stream tells.
func (r *Relay) look(chunk []byte) *wire.Error {
	switch {
	case r.blind:
		return nil
	case !r.streamed:
		if len(r.whole)+len(chunk) > mostObserved {
			r.blind, r.whole = true, nil
			return nil
		}
		r.whole = append(r.whole, chunk...)
		return nil
	}
	if r.seen += len(chunk); r.seen > mostObserved {
		r.blind, r.holding, r.decoder = true, false, nil
		return nil
	}
	events, err := r.decoder.Feed(chunk)
	r.add(events)
	if err == nil {
		return nil
	}
	r.blind = true
	told, ok := errors.AsType[*wire.Error](err)
	if ok {
		r.exchange.report.Class = told.Class
	}
	if !ok || !isLength(told) {
		r.holding = false
		return nil
	}
	return told
}

// add takes figures out of events. Once a part of a reply has come no refusal can.
func (r *Relay) add(events []llm.Event) {
	for _, e := range events {
		if !e.Usage.IsZero() {
			r.usage = e.Usage
		}
		if r.keeps {
			r.keep(completed(e))
		}
		switch e.Kind {
		case llm.EventStart, llm.EventOther:
		case llm.EventEnd:
			r.holding = false
			r.settle(true)
		default:
			r.holding = false
		}
	}
}

// keep keeps a response that the provider keeps.
func (r *Relay) keep(reply gjson.Result, ok bool) {
	if !ok {
		return
	}
	x := r.exchange
	if err := x.remember(r.ctx, reply); err != nil {
		x.gateway.options.Log.Warn("a response was not kept: a request that goes on with it will be refused", "session", x.report.Session, "error", err.Error())
	}
}

// End says that the reply has ended, whole or not, or that nobody waits for it any more.
// It returns what is still to be passed on. Further calls return nothing.
func (r *Relay) End() []byte {
	whole := false
	if !r.blind {
		if r.streamed {
			events, _ := r.decoder.Close() // one that was cut has told what it has
			r.add(events)
		} else if reply, err := r.exchange.codec.DecodeResponse(r.whole); err == nil {
			r.usage, whole = reply.Usage, true
			if r.keeps {
				r.keep(gjson.ParseBytes(r.whole), true)
			}
		} else if told, ok := errors.AsType[*wire.Error](err); ok { // a success that is an error inside
			r.exchange.report.Class = told.Class
		}
	}
	if r.view != nil {
		if r.streamed {
			r.held = append(r.held, r.view.rest()...)
		} else if !r.blind {
			r.held = r.view.whole(r.held)
		}
	}
	r.blind, r.whole = true, nil
	r.settle(whole)
	return r.Release()
}

// settle tells the session what the reply used, once. What one used that was cut is only
// reported: the client asks again, and the session has to be where it would be if this
// process had died with the reply.
func (r *Relay) settle(whole bool) {
	if r.settled {
		return
	}
	r.settled = true
	written := r.exchange.flushing()
	r.exchange.report.Usage = r.usage
	if told := whole && r.observe(); !written && !told {
		r.write()
	}
}

// observe tells the session what the reply used, and writes that with what waits. It
// returns false if there was nothing to tell.
func (r *Relay) observe() (told bool) {
	x := r.exchange
	if x.branch == nil || r.usage.IsZero() {
		return false
	}
	x.family.mu.Lock()
	defer x.family.mu.Unlock()
	if x.branch.last != x.number { // another request of the conversation has left; the session is past this one
		return false
	}
	x.branch.last = 0
	if x.branch.session == nil { // it is not in memory any more, and goes on by its own count
		return false
	}
	err := x.branch.session.Observe(r.ctx, r.usage)
	if err == nil {
		err = x.gateway.store.flush(r.ctx, x.branch.name)
	}
	if err != nil {
		x.gateway.unwritten(x.family, x.branch.name, err)
	}
	return true
}

// RefusedInside is [Exchange.Refused] for an error that came inside a stream.
func (x *Exchange) RefusedInside(ctx context.Context, e *wire.Error) (again bool) {
	return x.refusedBy(ctx, e)
}

// isLength reports whether a request was refused for its length.
func isLength(e *wire.Error) bool { return e.Class == wire.TooLong || e.Class == wire.TooLarge }
