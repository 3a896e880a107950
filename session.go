package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A Session keeps one conversation within its window: an [engine.Machine] with
// a store and a summariser. Make one with [Open]. It is safe for concurrent use. When
// a method fails because the store does, what it was told has not happened; the next
// call that may change something goes on from what the store has, and until then the
// figures that are only read may still show it.
type Session struct {
	id      string
	options Options // filled
	store   store.Store
	news    *broadcast

	mu      sync.Mutex // guards what follows; it is the one lock of the tool budget, too
	driver  *drive.Driver
	machine *engine.Machine // the driver's, to be looked at
	closed  bool
	asking  asking
	bill    biller
	held    reservations
	sentTo  budget.Target // of the request that Prepare returned last
	clock   clock

	asked  asked // has a lock of its own
	prompt assembly
}

// ErrRefused is wrapped by the error of Prepare if the request cannot be made to
// fit. The error also wraps a *budget.OverError with the figures.
var ErrRefused = drive.ErrRefused

// ErrClosed is wrapped by the error of every method of a session that was closed.
var ErrClosed = errors.New("session is closed")

// Open starts a session, or takes up one that the store knows.
func Open(ctx context.Context, o Options) (*Session, error) {
	s, err := o.session()
	if err != nil {
		return nil, err
	}
	s.options.Targets = s.known(ctx, s.options.Targets)
	s.mu.Lock() // a question that was open is asked again
	defer s.mu.Unlock()
	d, err := drive.Open(ctx, s.config())
	if err != nil {
		return nil, fmt.Errorf("plimsoll: open %q: %w", s.id, s.unknown(err))
	}
	s.take(d)
	return s, nil
}

// take gives a session its driver. The lock is held.
func (s *Session) take(d *drive.Driver) {
	s.driver, s.machine = d, d.Machine()
	if s.options.Prompt != nil {
		s.prompt.begin(s.options.Prompt, s.machine)
	}
}

// session returns one that nobody drives yet.
func (o Options) session() (*Session, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	return &Session{id: o.ID, options: o, store: o.Store, news: newBroadcast(o.ID), bill: biller{session: o.ID, catalog: o.Catalog}, clock: clock{now: o.Now}}, nil
}

// config says what the session's driver works with.
func (s *Session) config() drive.Config {
	o := s.options
	c := drive.Config{
		ID: s.id, Store: o.Store, Summariser: o.Summariser, Debug: o.Debug, Read: s.bill.read, Restart: s.bill.reset, Done: s.publish,
		Snapshots: !inMemory(o.Store), SnapshotLater: o.SnapshotLater,
		Engine: engine.Config{Policy: o.Policy, Targets: o.Targets, Catalog: *o.Catalog, Encodings: o.Encodings, Effort: o.Effort, Reasoning: o.Reasoning, Modelled: o.modelled(), KeepOutputs: !o.StoreLater},
	}
	if _, atOnce := o.Summariser.(ByCode); !atOnce {
		c.Later, c.Wait = s.later, s.wait
	}
	return c
}

// inMemory reports whether a store ends with the program, so that nothing of it is resumed but
// what is at hand.
func inMemory(s store.Store) bool {
	_, ok := s.(*store.Memory)
	return ok
}

// ID returns the name of the session.
func (s *Session) ID() string { return s.id }

// Close ends the session: its events end, and every later call returns an error that
// wraps [ErrClosed], as does one that waits for a summary. A summary on its way is given up;
// one in the background is asked for again when the session is opened again. The store stays
// open.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.dropBehind()
	if q := s.asking.waited; q != nil {
		q.cancel()
	}
	s.news.end()
	return nil
}

// SnapshotDue reports whether [Session.Snapshot] would take one.
func (s *Session) SnapshotDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.driver.SnapshotDue()
}

// Snapshot takes the snapshot that is due under [Options.SnapshotLater]; without one it does
// nothing. It reads the records since the one before, and calls of the session wait for it. After
// an error the session goes on: it is taken up from all its records.
func (s *Session) Snapshot(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := s.driver.Snapshot(ctx); err != nil {
		return fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	return nil
}

// ready brings a session to where it can be told something.
func (s *Session) ready(ctx context.Context) error {
	if err := s.settled(ctx); err != nil {
		return err
	}
	if s.closed {
		return fmt.Errorf("plimsoll: session %q: %w", s.id, ErrClosed)
	}
	if !s.driver.Stopped() {
		return nil
	}
	s.held.clear()
	s.dropBehind() // if it is still open, it is asked again
	if err := s.driver.Resume(ctx); err != nil {
		return fmt.Errorf("plimsoll: session %q: after a failure of its store: %w", s.id, err)
	}
	return nil
}

// tell feeds an input on behalf of a caller who has no lock.
func (s *Session) tell(ctx context.Context, in engine.Input) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.feed(ctx, in)
	return err
}

// feed feeds an input and returns what it led to.
func (s *Session) feed(ctx context.Context, in engine.Input) (drive.Done, error) {
	if err := s.ready(ctx); err != nil {
		return drive.Done{}, err
	}
	done, err := s.driver.Feed(ctx, in)
	if s.machine.Reserved() == 0 { // a request ends what was held
		s.held.clear()
	}
	if err != nil {
		return drive.Done{}, fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	if err := done.SnapshotErr; err != nil {
		s.news.add(Event{Kind: EventUnsaved, Text: fmt.Sprintf("no %v; the session is resumed from all its records", err)})
	}
	return done, nil
}

// publish tells the readers what became of a Ready that was carried out.
func (s *Session) publish(r engine.Ready) {
	// A final Step is told before the note of it (R000-14); other notices are about
	// what edits did.
	s.notices(r.Events, func(e engine.Event) bool { return e.Kind == engine.EventFinal })
	for i := range r.Edits {
		e := r.Edits[i]
		s.news.add(Event{Kind: EventEdit, Edit: &e, Text: fmt.Sprintf("%s by %s: %d to %d tokens, %s", e.Kind, e.Rule, e.Before, e.After, e.Why)})
	}
	s.notices(r.Events, func(e engine.Event) bool { return e.Kind != engine.EventFinal })
	s.charge(r.Records)
	if r.Refused != nil {
		s.news.add(Event{Kind: EventRefused, Refused: r.Refused, Text: r.Refused.Error()})
	}
	if d := r.Send; d != nil {
		s.sentTo = d.Target
		s.news.add(Event{
			Kind: EventSent, Text: fmt.Sprintf("request %d to %s: %d of %d tokens", d.Seq, d.Target.Name(), d.Count.Bound, d.Limit),
			Sent: &Sent{
				Seq: d.Seq, Target: d.Target, Count: d.Count, Limit: d.Limit, Projected: s.machine.Projected(), Messages: len(d.Items),
				Edited: d.Edited, Final: d.Final, StillOver: d.StillOver,
			},
		})
	}
}

// charge books the calls for summaries that records tell of, and batches.
func (s *Session) charge(records []journal.Record) {
	for _, rec := range records {
		s.bill.note(rec)
		c := rec.Answer.Calls
		if rec.Kind != journal.KindAnswer || c.N == 0 {
			continue
		}
		l := s.bill.summarised(c)
		s.news.add(Event{
			Kind: EventSummarised, Answered: &Answered{Target: budget.TargetNamed(c.Target, c.Model), Usage: c.Usage, Cost: l.Cost},
			Text: fmt.Sprintf("%d calls of %s for a summary: %d tokens of prompt and %d of output", c.N, c.Target, c.Usage.Prompt(), c.Usage.Output),
		})
	}
}

// notices publishes those of the engine's events for which which is true.
func (s *Session) notices(all []engine.Event, which func(engine.Event) bool) {
	for i := range all {
		if e := all[i]; which(e) {
			s.news.add(Event{Kind: EventNotice, Notice: &e, Text: e.Text})
		}
	}
}
