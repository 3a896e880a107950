package plimsoll

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
)

// summaryTimeout is how long a summary may take where the options do not say.
const summaryTimeout = 2 * time.Minute

// A question is one that the summariser has been asked. The session is not locked meanwhile.
type question struct {
	ask    int // its number
	cancel context.CancelFunc
	done   chan struct{} // closed when its answer has come, or is of no use any more

	storing chan struct{} // has something in it while something is stored for it; no mutex, as a test bubble does not wait for one
	over    bool          // nothing is stored for it any more; guarded by storing
}

// An asking is the questions that are open.
type asking struct {
	waited *question // a call waits for its answer; nil: there is none
	behind *question // nobody waits for it; nil: there is none
}

// newQuestion begins one that ends with ctx, or when it has taken too long.
func (s *Session) newQuestion(ctx context.Context, ask engine.Ask) (*question, context.Context) {
	most := s.options.SummaryTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the summariser has not answered within %v", most))
	return &question{ask: ask.ID, cancel: cancel, done: make(chan struct{}), storing: make(chan struct{}, 1)}, ctx
}

// end ends a question, whose answer is not waited for any longer. Nothing is stored for it
// after that: a session that is closed may be deleted, and must not begin again by it.
func (q *question) end() {
	q.cancel()
	q.storing <- struct{}{}
	q.over = true
	<-q.storing
	close(q.done)
}

// store puts into the store what the answer's use will take out of the view, where nobody waits.
func (q *question) store(ctx context.Context, s *Session, a engine.Answer) {
	q.storing <- struct{}{}
	defer func() { <-q.storing }()
	if !q.over {
		drive.KeepAhead(ctx, s.store, s.id, a)
	}
}

// wait asks what a call waits for. Its lock is held, and is not while the summariser is asked: others
// may look at the session and close it; what would change it waits too (see settled).
func (s *Session) wait(ctx context.Context, ask engine.Ask) (engine.Answer, error) {
	q, within := s.newQuestion(ctx, ask)
	s.asking.waited = q
	s.mu.Unlock()
	a := answer(within, s.options.Summariser, ask)
	s.mu.Lock()
	s.asking.waited = nil
	q.end()
	if s.closed {
		return a, ErrClosed
	}
	return a, nil
}

// later asks what nobody waits for. The next request uses the answer, if it has come by then
// and still fits. A question before it is of no use any more.
func (s *Session) later(ask engine.Ask) {
	s.dropBehind()
	q, within := s.newQuestion(context.Background(), ask)
	s.asking.behind = q
	go func() {
		a := answer(within, s.options.Summariser, ask)
		q.store(within, s, a)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.asking.behind != q {
			return
		}
		s.asking.behind = nil
		s.driver.Late(a)
		q.end()
	}()
}

// dropBehind ends the question that nobody waits for, without its answer.
func (s *Session) dropBehind() {
	if q := s.asking.behind; q != nil {
		s.asking.behind = nil
		q.end()
	}
}

// answer asks a summariser. One that does not heed its context is not waited for.
func answer(ctx context.Context, s Summariser, ask engine.Ask) engine.Answer {
	answers := make(chan engine.Answer, 1)
	go func() { answers <- drive.AnswerTo(ctx, s, ask) }()
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
	}
	select {
	case a := <-answers: // both have come
		return a
	default:
		return engine.Answer{Ask: ask.ID, Err: context.Cause(ctx).Error()}
	}
}

// settled waits until no call waits for a summary. The lock is held, before and after.
func (s *Session) settled(ctx context.Context) error {
	for s.asking.waited != nil && !s.closed {
		if err := s.unlockedUntil(ctx, s.asking.waited.done); err != nil {
			return fmt.Errorf("plimsoll: session %q: while a summary is written: %w", s.id, err)
		}
	}
	return nil
}

func (s *Session) unlockedUntil(ctx context.Context, done <-chan struct{}) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AwaitSummary waits until no summary is on its way any more: those that a call waits for, and
// those in the background, which the next Prepare uses. No other method waits for the latter.
// It is for a program that is about to end, and for one that has time.
func (s *Session) AwaitSummary(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.settled(ctx); err != nil {
			return err
		}
		q := s.asking.behind
		if q == nil {
			return nil
		}
		if err := s.unlockedUntil(ctx, q.done); err != nil {
			return fmt.Errorf("plimsoll: session %q: while a summary is written: %w", s.id, err)
		}
	}
}
