package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// mostRounds is how many Rounds of one exchange are hidden at most. In the last one the
// model is told to answer instead.
const mostRounds = 12

// enough is what the model is told then.
const enough = "That is enough reading for one answer. Answer now, from what you have; in a later step you can read on."

// unanswered is what the client is told where the model calls on all the same, and says
// nothing else: an empty reply would end the work of most clients without a word.
var unanswered = fmt.Sprintf("This answer has taken %d rounds of tool calls that you do not see, the most that one may take, and is not ready. "+
	"Ask to go on: what was read is kept.", mostRounds)

// errOvertaken says that another request of the conversation has left meanwhile.
var errOvertaken = errors.New("another request of the conversation has left meanwhile")

// serve takes in a reply that calls tools of ours, and answers those calls. It returns true
// if Body is the next request of the exchange; false if the reply is the client's turn,
// since it calls tools of the client's as well, or there may be no more Rounds.
func (x *Exchange) serve(ctx context.Context, reply llm.Message) (again bool, err error) {
	x.family.mu.Lock()
	defer x.family.mu.Unlock()
	b := x.branch
	if b.last != x.number {
		return false, errOvertaken
	}
	if b.session == nil {
		if err := x.gateway.fresh(ctx, x.family, b, x.target); err != nil {
			return false, err
		}
	}
	over := x.report.Rounds >= mostRounds
	end := x.gateway.store.unseen(b.name)
	err = x.answer(ctx, b.session, reply)
	if end(); err != nil {
		x.family.forget()
		return false, err
	}
	if hidden := x.cover.calls(reply); over || len(hidden) < len(reply.Calls()) {
		return false, x.gateway.store.flush(ctx, b.name)
	}
	send, err := b.session.Prepare(ctx, x.target)
	if err != nil {
		return false, err
	}
	return true, x.leave(ctx, b, send)
}

// answer adds a reply to the session and the outputs of its calls that are ours.
func (x *Exchange) answer(ctx context.Context, s *plimsoll.Session, reply llm.Message) error {
	reply.ID, reply.Role, reply.Origin = 0, llm.RoleAssistant, llm.Model
	if err := s.Append(ctx, owned(reply)); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	x.report.Rounds = min(x.report.Rounds+1, mostRounds) // what follows the last one leads to no other
	for _, call := range x.cover.calls(reply) {
		if x.report.Rounds >= mostRounds {
			if err := s.Append(ctx, llm.ToolError(call.CallID, enough)); err != nil {
				return fmt.Errorf("call %s: %w", call.Name, err)
			}
			continue
		}
		served, err := s.Builtin(ctx, call)
		if err == nil && !served {
			err = s.Append(ctx, llm.ToolError(call.CallID, "There is no such tool."))
		}
		if err != nil {
			return fmt.Errorf("call %s: %w", call.Name, err)
		}
	}
	return nil
}

// spliced returns what the client gets of what one reply of the provider passes on.
func (r *Relay) spliced(pass []byte) []byte {
	if r.splice == nil || r.round || len(pass) == 0 {
		return pass
	}
	out, _ := r.splice.Write(pass) // endRound gets the error, too
	r.give(out)
	return out
}

// give keeps the response that the client gets, where that is another one than the
// provider's.
func (r *Relay) give(out []byte) {
	if r.client == nil || len(out) == 0 {
		return
	}
	events, err := r.client.Feed(out)
	if err != nil {
		r.client = nil
		return
	}
	for _, e := range events {
		r.keep(completed(e))
	}
}

// Again says that all of a reply has come. It returns what the client gets now, and true if
// the reply called tools of ours: they were answered, Body is the request to send next, and
// what is written from here on is the reply to that one. After false comes End.
func (r *Relay) Again(ctx context.Context) (pass []byte, again bool) {
	if r.splice == nil || r.round || r.exchange.branch == nil {
		return nil, false
	}
	pass = append(pass, r.spliced(r.finish())...)
	response, err := r.endRound()
	x, reply := r.exchange, response.Message
	hidden := len(x.cover.calls(reply))
	if err != nil || hidden == 0 {
		return pass, false
	}
	if again, err = x.serve(ctx, reply); err != nil {
		x.gateway.options.Log.Warn("a call of a builtin tool was not answered", "session", x.report.Session, "error", err.Error())
		if hidden == len(reply.Calls()) { // else the client goes on with its own calls
			r.failed = &wire.Error{Class: wire.ServerFault, Message: "the conversation could not be gone on with: ask again"}
		}
		return pass, false
	}
	if !again {
		if hidden == len(reply.Calls()) { // else the client goes on with its own calls
			pass = append(pass, r.conclude(response.Model)...)
		}
		return pass, false
	}
	r.splice.Next()
	r.round, r.blind, r.read, r.complete, r.settled, r.usage, r.seen = false, false, false, false, false, llm.Usage{}, 0
	r.extra = llm.Usage{}
	r.begin()
	r.holding = false // the client has seen the beginning of the reply
	return pass, true
}

// endRound says that all of a Round is in the splice, and returns its reply. Where that broke
// off and the client does not get it as it came, it is to be told so.
func (r *Relay) endRound() (llm.Response, error) {
	r.round = true
	reply, err := r.splice.EndRound()
	if err != nil && !errors.Is(err, wire.ErrPassed) && r.failed == nil {
		r.failed = asError(err)
	}
	return reply, err
}

// conclude ends a reply that has come to hidden calls alone with one that says so, as if the
// model had: the client has something to show, and the conversation a message to go on from.
func (r *Relay) conclude(model string) (pass []byte) {
	said, err := r.exchange.encoded(llm.Response{Model: model, Stop: llm.StopEnd, Message: llm.AssistantText(unanswered)}, r.streamed)
	if err != nil {
		r.failed = asError(err)
		return nil
	}
	r.splice.Next()
	r.round = false
	pass = bytes.Clone(r.spliced(said))
	_, _ = r.endRound() // an error ends the reply
	return pass
}

// encoded returns a reply as the client's dialect has it, as a stream or not.
func (x *Exchange) encoded(r llm.Response, streamed bool) (out []byte, err error) {
	if !streamed {
		return x.codec.EncodeResponse(r)
	}
	e := x.codec.NewEncoder()
	for _, event := range wire.Events(r) {
		if out, err = e.Append(out, event); err != nil {
			return nil, err
		}
	}
	if x.call.List {
		out = listOf(out)
	}
	return out, nil
}

// listOf returns the payloads of events, which an encoder of ours wrote, as one list.
func listOf(events []byte) []byte {
	var payloads [][]byte
	for event := range bytes.SplitSeq(events, []byte("\n\n")) {
		if data, ok := bytes.CutPrefix(event, []byte("data: ")); ok {
			payloads = append(payloads, data)
		}
	}
	return slices.Concat([]byte("["), bytes.Join(payloads, []byte(",\n")), []byte("]"))
}

// Failed says that the next Round came to nothing, before End: the provider's answer was an
// error, or there was none.
func (r *Relay) Failed(e *wire.Error) { r.failed = e }

// FailedWith is Failed for an answer that is an error.
func (r *Relay) FailedWith(status int, body []byte) {
	r.Failed(r.exchange.codec.DecodeError(status, body))
}

// Status returns the status of the error that the client is told in place of a reply that is
// no stream, after End; 0: it is told none.
func (r *Relay) Status() int {
	if r.failed == nil {
		return 0
	}
	status, _ := r.exchange.codec.EncodeError(r.failed)
	return status
}

// asError returns what a client is told of a Round that broke off.
func asError(err error) *wire.Error {
	if told, ok := errors.AsType[*wire.Error](err); ok {
		return told
	}
	return &wire.Error{Class: wire.ServerFault, Message: "the reply of the provider broke off"}
}
