package gateway

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// mostObserved is how much of a reply is looked at, in bytes. What is longer passes by all
// the same, and its usage is not learnt: the whole of a reply is kept until its end, and of
// a stream the part that is open.
const mostObserved = 64 << 20

// tooLong is why a reply beyond that is not looked at.
const tooLong = "the reply is longer than 64 MiB"

// mostRefusal is how much of a reply that is no stream is held back at most because it may
// be a refusal, in bytes. Refusals are a few hundred long.
const mostRefusal = 64 << 10

// A Relay looks at a reply while it passes by, and changes nothing of it. What the reply
// used is told to the session before its last bytes are passed on: a client that has
// seen the end may send its next request at once.
type Relay struct {
	exchange *Exchange
	ctx      context.Context //nolint:containedctx // of the exchange, without its end: usage is taken when the client has gone, too
	decoder  wire.Decoder    // of a stream; nil: it is none, or nobody looks any more
	streamed bool
	whole    []byte       // of a reply that is no stream, so far
	seen     int          // bytes of a stream that were looked at
	blind    bool         // nobody looks any more
	holding  bool         // a refusal can still come
	held     []byte       // what is not passed on yet
	view     *clientView  // nil: the client is told what was used
	splice   wire.Splice  // makes one reply of several; nil: there is only one
	round    bool         // the splice has all of this Round
	failed   *wire.Error  // why the reply cannot be gone on with
	client   wire.Decoder // of the stream that the client gets, where responses are kept; nil: nobody looks
	keeps    bool         // the provider keeps the reply, for requests that go on with it
	usage    llm.Usage
	extra    llm.Usage // what the reply took beyond the request itself
	complete bool      // it is a reply, and all of it has come
	read     bool      // of a reply that is no stream: all of it was read
	settled  bool
	due      bool // a snapshot of the session is
}

// Relay begins to look at a reply to Body, decompressed, which is a stream or not.
func (x *Exchange) Relay(ctx context.Context, streamed bool) *Relay {
	r := &Relay{exchange: x, ctx: context.WithoutCancel(ctx), streamed: streamed, blind: x.codec == nil}
	if x.views() {
		r.view = &clientView{dialect: x.call.Dialect, add: x.report.Saved}
	}
	if x.branch != nil && x.cover.any() {
		r.splice = x.codec.NewSplice(x.cover.hides, streamed)
	}
	r.keeps = x.branch != nil && x.call.Dialect == openai.DialectResponses
	if r.keeps && r.splice != nil && streamed {
		r.client = x.codec.NewDecoder()
	}
	r.begin()
	return r
}

// begin begins to look at a reply of the provider.
func (r *Relay) begin() {
	x := r.exchange
	switch {
	case r.blind:
	case r.streamed:
		r.decoder = x.codec.NewDecoder()
		r.holding = x.branch != nil && x.call.Dialect != anthropic.Dialect // whose clients get pings from the status on
	default:
		r.holding = x.branch != nil
	}
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
// again; if not, Release it. So is one that [Relay.Ended] returns.
func (r *Relay) Write(chunk []byte) (pass []byte, refusal *wire.Error) {
	pass, refusal = r.writeOne(chunk)
	return r.spliced(pass), refusal
}

// writeOne is Write for one reply of the provider.
func (r *Relay) writeOne(chunk []byte) (pass []byte, refusal *wire.Error) {
	told := r.look(chunk)
	if r.view != nil && r.streamed {
		chunk = r.view.lines(chunk)
	}
	if r.holding && r.streamed && !r.keeps && told == nil && hasBegun(r.held, chunk) {
		r.holding = false
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

// Ended says that all of the reply has come, before End. It returns the length refusal that
// a reply is which is no stream and was held until here.
func (r *Relay) Ended() (refusal *wire.Error) {
	if r.blind || r.streamed || !r.holding {
		return nil
	}
	if told := r.readWhole(); told != nil && isLength(told) {
		return told
	}
	return nil
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
func (r *Relay) Rewrites() bool { return r.view != nil || r.splice != nil }

// Hides reports whether the reply may call tools that the client does not see, so that
// [Relay.Again] has to be asked at its end, and that it must be unpacked.
func (r *Relay) Hides() bool { return r.splice != nil }

// Release returns what is held and holds nothing from here on.
func (r *Relay) Release() []byte {
	held := r.held
	r.held, r.holding = nil, false
	return held
}

// Unread says why nobody can look at what still comes, which passes all the same.
func (r *Relay) Unread(why string) {
	r.exchange.report.Unread = why
	r.blind, r.holding, r.whole, r.decoder = true, false, nil, nil
}

// look reads a chunk for its figures. It returns the error that a stream tells.
func (r *Relay) look(chunk []byte) *wire.Error {
	switch {
	case r.blind:
		return nil
	case !r.streamed:
		if len(r.whole)+len(chunk) > mostObserved {
			r.Unread(tooLong)
			return nil
		}
		r.whole = append(r.whole, chunk...)
		r.holding = r.holding && mayBeRefusal(r.exchange.call.Dialect, r.whole)
		return nil
	}
	if r.seen += len(chunk); r.seen > mostObserved {
		r.Unread(tooLong)
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

// said is where a reply that is no stream begins to say something, which no refusal does.
var said = map[llm.Dialect][]string{
	anthropic.Dialect:       {"content.0"},
	openai.DialectChat:      {"choices.0"},
	openai.DialectResponses: {"output.0"},
	gemini.Dialect:          {"candidates.0", "response.candidates.0"},
	ollama.Dialect:          {"message"},
}

// mayBeRefusal reports whether a reply that is no stream may be a refusal, by what has come
// of it. Of one that begins with white space nothing is held: it keeps the line alive.
func mayBeRefusal(d llm.Dialect, begin []byte) bool {
	if len(begin) > mostRefusal || len(begin) > 0 && begin[0] != '{' && begin[0] != '[' {
		return false
	}
	return !slices.ContainsFunc(said[d], func(path string) bool { return gjson.GetBytes(begin, path).Exists() })
}

// readWhole reads a reply that is no stream, once. It returns the error that it is.
func (r *Relay) readWhole() *wire.Error {
	if r.read {
		return nil
	}
	r.read = true
	reply, err := r.exchange.codec.DecodeResponse(r.whole)
	if err == nil {
		r.usage, r.extra, r.complete = reply.Usage, reply.Extra, true
		if r.keeps && r.splice == nil {
			r.keep(gjson.ParseBytes(r.whole), true)
		}
		return nil
	}
	told, ok := errors.AsType[*wire.Error](err)
	if ok { // a success that is an error inside
		r.exchange.report.Class = told.Class
	}
	return told
}

// hasBegun reports whether a stream is past where its first event may still be a refusal,
// although the decoder made nothing of what has come: an event that says nothing, a comment,
// which keeps the line alive, or an event without an end.
func hasBegun(held, next []byte) bool {
	if len(held)+len(next) > mostRefusal {
		return true
	}
	begin := slices.Concat(held, next)
	return bytes.HasPrefix(begin, []byte(":")) || bytes.Contains(begin, []byte("\n\n")) || bytes.Contains(begin, []byte("\r\n\r\n"))
}

// add takes figures out of events. Once a part of a reply has come no refusal can.
func (r *Relay) add(events []llm.Event) {
	for _, e := range events {
		if !e.Usage.IsZero() {
			r.usage, r.extra = e.Usage, e.Extra
		}
		if r.keeps && r.splice == nil {
			r.keep(completed(e))
		}
		switch e.Kind {
		case llm.EventStart, llm.EventOther: // of streams those of responses alone are known to begin well and be a refusal
			r.holding = r.holding && r.keeps
		case llm.EventEnd:
			r.holding, r.complete = false, true
			r.settle()
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
	if r.splice == nil {
		return r.finish()
	}
	var rest []byte
	s := r.splice
	if !r.round {
		rest = append(rest, r.spliced(r.finish())...)
		_, _ = r.endRound() // an error ends the reply
	}
	var last []byte
	if r.failed != nil {
		r.exchange.report.Class = r.failed.Class
		last = s.Fail(r.failed)
	} else {
		last = s.Finish()
	}
	r.give(last)
	if r.keeps && !r.streamed && r.failed == nil {
		r.keep(gjson.ParseBytes(last), true)
	}
	r.splice = nil
	return append(rest, last...)
}

// finish takes in that a reply of the provider has ended, and returns what is held of it.
func (r *Relay) finish() []byte {
	switch {
	case r.blind:
	case r.streamed:
		events, _ := r.decoder.Close() // one that was cut has told what it has
		r.add(events)
	default:
		_ = r.readWhole() // it is reported
	}
	if r.view != nil {
		if r.streamed {
			r.held = append(r.held, r.view.rest()...)
		} else if !r.blind {
			r.held = r.view.whole(r.held)
		}
	}
	r.blind, r.whole = true, nil
	r.settle()
	return r.Release()
}

// settle tells the session what the reply used, once. What one used that was cut is only
// reported: the client asks again, and the session has to be where it would be if this
// process had died with the reply.
func (r *Relay) settle() {
	if r.settled {
		return
	}
	r.settled = true
	written := r.exchange.flushing()
	r.exchange.report.Usage = r.exchange.report.Usage.Add(r.usage).Add(r.extra)
	told := r.complete && r.observe()
	if !written && !told {
		r.write()
	}
	if r.due {
		r.exchange.gateway.save(r.exchange.family, r.exchange.branch)
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
	if x.family.stale.Load() { // the store took nothing of the request, so it takes nothing of this
		return false
	}
	if x.branch.last != x.number { // another request of the conversation has left; the session is past this one
		return false
	}
	err := x.reopen(r.ctx)
	if err != nil {
		x.gateway.options.Log.Warn("what a reply used was not learnt", "session", x.branch.name, "error", err.Error())
		return false
	}
	err = x.branch.session.ObserveCall(r.ctx, r.usage, r.extra)
	if err == nil {
		err = x.gateway.store.flush(r.ctx, x.branch.name)
	}
	if err != nil {
		x.gateway.unwritten(x.family, x.branch.name, err)
		return true
	}
	r.due = x.branch.session.SnapshotDue()
	return true
}

// RefusedInside is [Exchange.Refused] for an error that came inside a success.
func (x *Exchange) RefusedInside(ctx context.Context, e *wire.Error) (again bool) {
	return x.refusedBy(ctx, e)
}

// isLength reports whether a request was refused for its length.
func isLength(e *wire.Error) bool { return e.Class == wire.TooLong || e.Class == wire.TooLarge }
