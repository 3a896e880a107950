package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Append adds the next message of the conversation: what a person says, what the
// model answers, what tools put out. Its ID must be 0; [Session.Messages] has it. A
// result without a call is a *turn.OrphanError. What the model writes in a row is one
// reply; a reply that comes after anything else goes on without the calls that are still
// open, which get a stated result before it. The session keeps lists of its own; the raw
// bytes of the parts and the data of media are shared, and nobody may write to them.
func (s *Session) Append(ctx context.Context, m llm.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.feed(ctx, engine.Append{Message: m})
	s.prompt.turn = s.prompt.turn || err == nil && m.Origin == llm.Human
	return err
}

// SetSections sets the system prompt, for a session without [Options.Prompt]. As of
// [Session.SetTools] a copy is kept.
func (s *Session) SetSections(ctx context.Context, sections []llm.Section) error {
	return s.tell(ctx, engine.SetSections{Sections: sections})
}

// TurnEnd tells that the model gave its final answer.
func (s *Session) TurnEnd(ctx context.Context) error {
	return s.tell(ctx, engine.TurnEnd{})
}

// Finish makes the next request the final one of this Turn, for a reason of the
// host's: the tools are restricted to the policy's final tool and the model is told
// to answer. The first reason stands. An unknown one is a
// *engine.ReasonError.
func (s *Session) Finish(ctx context.Context, reason engine.Reason) error {
	return s.tell(ctx, engine.Force{Reason: reason})
}

// Prepare returns the request to send now. It goes to the first target that has
// room for it (Send.Target) and fits that one's window, bytes and images; if it cannot,
// the error wraps [ErrRefused], unless the policy sends it all the same. Without
// targets those of the last call hold. A failed call may be prepared again: nothing is
// counted twice. Calls without a result get a stated one, that they were interrupted; a
// result that comes after that is refused.
func (s *Session) Prepare(ctx context.Context, targets ...budget.Target) (*engine.Send, error) {
	targets = s.known(ctx, targets)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(s.offerFirst(ctx), s.assemble(ctx)); err != nil {
		return nil, err
	}
	done, err := s.feed(ctx, engine.Prepare{Targets: targets, Cold: s.clock.cold()})
	if done.Send != nil {
		s.clock.leaves(done.Send, s.options.Catalog)
	}
	return done.Send, s.unknown(err)
}

// Observe tells what the provider reported about the request that Prepare returned
// last, before the reply is appended. A usage of zero, as of a failed call, changes
// nothing; one that cannot be is a *engine.UsageError.
func (s *Session) Observe(ctx context.Context, u llm.Usage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observe(ctx, u, llm.Usage{})
}

// ObserveCall is [Session.Observe] for a call that cost more than the request itself, as
// [llm.Response.Extra] has it: extra is on the bill, and no part of the prompt.
func (s *Session) ObserveCall(ctx context.Context, u, extra llm.Usage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observe(ctx, u, extra)
}

// Reply adds the model's whole answer to the request that Prepare returned last: what
// [Session.Observe] does with its usage, then what [Session.Append] does with its message.
// An answer that says nothing at all is no message: providers refuse one.
func (s *Session) Reply(ctx context.Context, r llm.Response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.observe(ctx, r.Usage, r.Extra); err != nil || len(r.Message.Parts) == 0 {
		return err
	}
	_, err := s.feed(ctx, engine.Append{Message: r.Message})
	return err
}

// observe is Observe with the lock held.
func (s *Session) observe(ctx context.Context, u, extra llm.Usage) error {
	if _, err := s.feed(ctx, engine.Usage{Usage: u, Extra: extra, Reported: true, OutputUnknown: u.Output == 0, Target: s.sentTo.Name()}); err != nil {
		return err
	}
	if u.IsZero() {
		return nil
	}
	answered := s.bill.add(s.machine.SentTo(), u, extra)
	s.news.add(Event{
		Kind: EventAnswered, Answered: &answered,
		Text: fmt.Sprintf("%s reports %d tokens of prompt and %d of output", answered.Target.Name(), u.Prompt(), u.Output),
	})
	return nil
}

// A RefusedLength is an error that knows why a provider refused a request.
// *wire.Error, which package client returns, is one.
type RefusedLength interface {
	error
	// RefusedLength returns the window and what the request has, in tokens, as far as
	// the provider states them, and whether it is the bytes that were too many. ok is
	// false if the refusal is about something else.
	RefusedLength() (window, used int, bytes, ok bool)
}

// IsTooLong reports whether err says that a provider refused a request for its length,
// so that [Session.Rejected] knows what to send instead. It knows a [RefusedLength], and
// the errors of other programs' clients that [wire.ErrorOf] reads, among them those of
// the official SDKs.
func IsTooLong(err error) bool {
	_, ok := refusedLength(err)
	return ok
}

// refusedLength returns what err says about the length of a request that was refused for it.
func refusedLength(err error) (said engine.Rejected, ok bool) {
	var refused RefusedLength
	if !errors.As(err, &refused) {
		e, known := wire.ErrorOf(err)
		if !known {
			return said, false
		}
		refused = e
	}
	said.Window, said.Used, said.Bytes, ok = refused.RefusedLength()
	return said, ok
}

// Rejected tells that a provider refused the request as too long, with the error that
// it gave, and returns the request to send instead. What the error says about the
// window is remembered. An error about something else is returned, wrapped.
func (s *Session) Rejected(ctx context.Context, err error) (*engine.Send, error) {
	if err == nil {
		return nil, fmt.Errorf("plimsoll: session %q: rejected: want the error of the provider, got none", s.id)
	}
	said, ok := refusedLength(err)
	if !ok {
		return nil, fmt.Errorf("plimsoll: session %q: rejected: want an error about the length of a request (see IsTooLong), got %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.feed(ctx, said)
	return done.Send, err
}

// Events yields what happens in the session, from the oldest event still held: the
// last 1,024 are. It waits for more until ctx ends or the session is closed, and never
// holds up the session: a reader that is too slow misses events, and is told how many.
// Any number of readers may run at once.
func (s *Session) Events(ctx context.Context) iter.Seq[Event] { return s.news.events(ctx) }
