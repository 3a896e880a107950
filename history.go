package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Edits returns all edits made so far, superseded ones too, oldest first. The caller
// must not change what they point to.
func (s *Session) Edits() []edit.Edit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.machine.Journal())
}

// Messages returns the conversation as it was appended, whatever is shown of it. The
// message with ID n is at n-1. The caller must not change what they point to.
func (s *Session) Messages() []llm.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.machine.Messages())
}

// Len returns how many messages the conversation has.
func (s *Session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.machine.Messages())
}

// Tools returns the tools of the conversation, the policy's own among them, also in a final
// Step, which has fewer. The caller must not change what they point to.
func (s *Session) Tools() []llm.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.machine.ToolsSet())
}

// LeftOut returns the tools of the conversation that are left out of requests.
func (s *Session) LeftOut() []llm.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.LeftOut()
}

// OfferTools offers tools that are left out, by their names, from the next request on: to the
// end of the Turn or of the session, as the policy says. Other names say nothing.
func (s *Session) OfferTools(ctx context.Context, names ...string) error {
	return s.tell(ctx, engine.Promote{Names: names})
}

// Blob returns what was stored under ref.
func (s *Session) Blob(ctx context.Context, ref llm.Ref) ([]byte, error) {
	return s.driver.Blob(ctx, ref)
}

// A Compaction is what Compact did.
type Compaction struct {
	Before, After                 token.Estimate // of the view
	MessagesBefore, MessagesAfter int            // of the view, notes included
	Edits                         []edit.Edit    // none: nothing was done
	Why                           string         // then, why not; beside edits, why the summariser's answer is not among them, empty if it is
}

// Compact makes room now, whatever the thresholds say: a summary takes the place of
// what is not among the newest messages or pinned. focus says what it is to keep above
// all; it may be empty, and the deterministic summariser, which lists facts, does not
// look at it. Where there is no summary, or it says nothing, the policy decides
// (on_summary_error): nothing is done, the deterministic summary takes its place, or the
// policy's other means act, until one of them makes room. What is taken out can be read
// back, and put back by [Session.Undo].
func (s *Session) Compact(ctx context.Context, focus string) (Compaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return Compaction{}, err
	}
	if err := s.catchUp(ctx); err != nil {
		return Compaction{}, fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	c := Compaction{Before: s.machine.Count(), MessagesBefore: len(s.machine.View().Items)}
	made, told := len(s.machine.Journal()), s.news.number()
	done, err := s.feed(ctx, engine.Compact{Focus: focus})
	if err != nil {
		return Compaction{}, err
	}
	c.After, c.MessagesAfter = s.machine.Count(), len(s.machine.View().Items)
	c.Edits = slices.Clone(s.machine.Journal()[made:])
	if len(c.Edits) == 0 && done.BlobsErr != nil {
		return c, fmt.Errorf("plimsoll: session %q: compact: %w", s.id, done.BlobsErr)
	}
	c.Why = s.news.noticeAfter(told, func(e engine.Event) bool { return len(c.Edits) == 0 || e.Kind == engine.EventAnswer })
	return c, nil
}

// catchUp uses the summary that was written in the background. One that is being written is
// given up: what a person asks for now takes its place.
func (s *Session) catchUp(ctx context.Context) error {
	if q := s.asking.behind; q != nil {
		s.dropBehind()
		s.driver.Late(engine.Answer{Ask: q.ask, GivenUp: true})
	}
	return s.driver.CatchUp(ctx)
}

// Undo puts back what edits took out. It does not switch the policy off: where the
// view is too full, the next Prepare takes something out again.
func (s *Session) Undo(ctx context.Context, edits ...edit.ID) error {
	return s.tell(ctx, engine.Undo{Edits: edits})
}

// Here is the place of a fork at the end of the conversation as it is now.
const Here llm.MessageID = -1

// Fork begins a session of another name that goes on after message at of this one,
// with what it sees of the messages until there. Both go on by themselves; content is
// shared, not copied. The options are those of s. A session that was told nothing yet
// cannot be forked.
func (s *Session) Fork(ctx context.Context, id string, at llm.MessageID) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if at == Here {
		at = llm.MessageID(len(s.machine.Messages()))
	}
	if n := len(s.machine.Messages()); at < 0 || int(at) > n {
		return nil, fmt.Errorf("plimsoll: fork of %q: want a message from 0 to %d, got %d", s.id, n, at)
	}
	if s.driver.Records() == 0 {
		return nil, fmt.Errorf("plimsoll: fork of %q: want a session that was told something, got one without records: open %q by itself", s.id, id)
	}
	if err := s.store.Fork(ctx, s.id, id, s.driver.Records()); err != nil {
		return nil, fmt.Errorf("plimsoll: fork of %q: %w", s.id, err)
	}
	child, err := s.child(ctx, id, at)
	if err != nil {
		err = fmt.Errorf("plimsoll: fork of %q: %w", s.id, err)
		return nil, errors.Join(err, s.forget(context.WithoutCancel(ctx), id)) // half a fork would look like the parent
	}
	return child, nil
}

// child takes up the fork that the store has begun.
func (s *Session) child(ctx context.Context, id string, at llm.MessageID) (*Session, error) {
	o := s.options
	o.ID, o.Policy, o.Targets = id, s.machine.Policy(), s.machine.Stated()
	child, err := o.session()
	if err != nil {
		return nil, err
	}
	child.mu.Lock()
	defer child.mu.Unlock()
	d, err := drive.Fork(ctx, child.config(), s.id, at)
	if err != nil {
		return nil, err
	}
	child.take(d)
	return child, nil
}

// forget lets go of a fork that came to nothing, where the store can.
func (s *Session) forget(ctx context.Context, id string) error {
	if d, ok := s.store.(store.Deleter); ok {
		return d.Delete(ctx, id)
	}
	return nil
}
