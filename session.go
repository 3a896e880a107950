package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
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
	sum     Summariser
	news    *broadcast

	mu      sync.Mutex // guards what follows; it is the one lock of the tool budget, too
	machine *engine.Machine
	seq     int  // records in the store; -1: none are kept
	stopped bool // the store has failed: what it has must be read again
	closed  bool
	late    []engine.Answer
	failed  error              // why the store took no blobs, during one drive
	placed  []engine.Placement // of the outputs that came, during one drive
	grant   engine.Grant       // the answer to a Reserve, during one drive
	bill    biller
	held    reservations
	sentTo  budget.Target // of the request that Prepare returned last
}

// ErrRefused is wrapped by the error of Prepare if the request cannot be made to
// fit. The error also wraps a *budget.OverError with the figures.
var ErrRefused = errors.New("request does not fit the window")

// ErrClosed is wrapped by the error of every method of a session that was closed.
var ErrClosed = errors.New("session is closed")

// Open starts a session, or takes up one that the store knows.
func Open(ctx context.Context, o Options) (*Session, error) {
	s, err := o.session()
	if err != nil {
		return nil, err
	}
	if o.Ephemeral {
		s.seq = -1
	} else if err := s.resume(ctx); err != nil {
		return nil, fmt.Errorf("plimsoll: open %q: %w", s.id, err)
	}
	if _, err := s.settle(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// session returns one that knows nothing yet.
func (o Options) session() (*Session, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	m, err := engine.New(engine.Config{
		Policy: o.Policy, Targets: o.Targets, Catalog: *o.Catalog, Encodings: o.Encodings,
		Offline: o.Offline, Calibration: o.Calibration, Reasoning: o.Reasoning, Trace: o.Debug != nil,
	})
	if err != nil {
		return nil, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
	}
	return &Session{
		id: o.ID, options: o, machine: m, store: o.Store, sum: o.Summariser, news: newBroadcast(o.ID), bill: biller{catalog: o.Catalog},
	}, nil
}

// ID returns the name of the session.
func (s *Session) ID() string { return s.id }

// Close ends the session: its events end, and every later call returns an error that
// wraps [ErrClosed]. The store stays open.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.news.end()
	return nil
}

// View calls f with the machine, for reading only. f must call no method of s.
func (s *Session) View(f func(*engine.Machine)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.machine)
}

// Feed gives the machine an input as it stands, for hosts that simulate calls. The
// request that follows from it is returned, if one does.
func (s *Session) Feed(ctx context.Context, in engine.Input) (*engine.Send, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drive(ctx, in)
}

// resume brings the machine to where the store's records end.
func (s *Session) resume(ctx context.Context) error {
	s.bill.reset()
	records := s.bill.watching(journal.Read(s.store.Records(ctx, s.id, 0)))
	snap, err := journal.Collect(records)
	if err != nil {
		return err
	}
	if snap.Records > 0 || s.stopped {
		if err := s.machine.Feed(engine.Restore{Snapshot: snap}); err != nil {
			return err
		}
	}
	s.seq, s.late, s.stopped = snap.Records, nil, false
	s.held.clear()
	return nil
}

// ready brings a session to where it can be told something.
func (s *Session) ready(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("plimsoll: session %q: %w", s.id, ErrClosed)
	}
	if s.stopped {
		if err := s.resume(ctx); err != nil {
			return fmt.Errorf("plimsoll: session %q: after a failure of its store: %w", s.id, err)
		}
	}
	return nil
}

// drive feeds an input and does what the machine asks for, in the order that it
// demands, until there is nothing left to do.
func (s *Session) drive(ctx context.Context, in engine.Input) (*engine.Send, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if err := s.machine.Feed(in); err != nil {
		return nil, fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	switch in.(type) {
	case engine.Prepare, engine.Rejected:
		s.held.clear() // as the machine does
	}
	return s.settle(ctx)
}

// settle does what the machine asks for.
func (s *Session) settle(ctx context.Context) (*engine.Send, error) {
	var send *engine.Send
	s.failed, s.placed, s.grant = nil, nil, ""
	for s.machine.HasReady() {
		r := s.machine.Ready()
		out := s.keep(ctx, r)
		s.machine.Advance(out)
		if out.RecordsErr != nil {
			s.stopped, s.late = true, nil
			return nil, fmt.Errorf("plimsoll: session %q: %w", s.id, out.RecordsErr)
		}
		if len(out.FailedBlobs) > 0 {
			continue
		}
		s.placed = append(s.placed, r.Placements...)
		if r.Grant != "" {
			s.grant = r.Grant
		}
		s.publish(r)
		if r.Send != nil {
			send, s.sentTo = r.Send, r.Send.Target
		}
		if r.Ask != nil { // also beside a Refused: nobody asks it again
			if err := s.answer(ctx, *r.Ask); err != nil {
				return nil, err
			}
		}
		if r.Refused != nil {
			return nil, s.refusal(r.Refused)
		}
		if r.Torn != nil {
			return nil, fmt.Errorf("plimsoll: session %q: prepare: %w", s.id, r.Torn)
		}
	}
	return send, nil
}

// refusal is the error of a request that was not sent. A store that took nothing
// may be why nothing could be taken out.
func (s *Session) refusal(over *budget.OverError) error {
	if s.failed != nil {
		return fmt.Errorf("plimsoll: session %q: %w: %w; nothing could be put away: %w", s.id, ErrRefused, over, s.failed)
	}
	return fmt.Errorf("plimsoll: session %q: %w: %w", s.id, ErrRefused, over)
}

// keep stores what a Ready says has to be durable: blobs, then records.
func (s *Session) keep(ctx context.Context, r engine.Ready) engine.Outcome {
	if len(r.Blobs) > 0 {
		if err := s.store.Put(ctx, s.id, r.Blobs); err != nil {
			failed := make([]llm.Ref, len(r.Blobs))
			for i, b := range r.Blobs {
				failed[i] = b.Ref
			}
			s.failed = err
			return engine.Outcome{FailedBlobs: failed, BlobsErr: err}
		}
	}
	if len(r.Records) == 0 || s.seq < 0 {
		return engine.Outcome{}
	}
	lines := make([][]byte, len(r.Records))
	for i, rec := range r.Records {
		line, err := journal.Encode(rec)
		if err != nil {
			return engine.Outcome{RecordsErr: err}
		}
		lines[i] = line
	}
	if err := s.store.Append(ctx, s.id, s.seq, lines); err != nil {
		return engine.Outcome{RecordsErr: err}
	}
	s.seq += len(lines)
	return engine.Outcome{}
}

// answer asks the summariser. The answer to a question in the background is
// kept for the next Prepare.
func (s *Session) answer(ctx context.Context, ask engine.Ask) error {
	a := engine.Answer{Ask: ask.ID}
	text, err := s.sum.Summarise(ctx, ask)
	if err != nil {
		a.Err = err.Error()
	}
	a.Text = text
	if ask.Background {
		s.late = append(s.late, a)
		return nil
	}
	if err := s.machine.Feed(a); err != nil {
		return fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	return nil
}

// catchUp feeds the answers of questions that nobody had to wait for.
func (s *Session) catchUp(ctx context.Context) error {
	late := s.late
	s.late = nil
	for _, a := range late {
		if _, err := s.drive(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// publish tells the readers what became of a Ready.
func (s *Session) publish(r engine.Ready) {
	logTraces(s.options.Debug, s.id, r.Traces)
	// A final Step is told before the note of it (R000-14); other notices are about
	// what edits did.
	s.notices(r.Events, func(e engine.Event) bool { return e.Kind == engine.EventFinal })
	for i := range r.Edits {
		e := r.Edits[i]
		s.news.add(Event{Kind: EventEdit, Edit: &e, Text: fmt.Sprintf("%s by %s: %d to %d tokens, %s", e.Kind, e.Rule, e.Before, e.After, e.Why)})
	}
	s.notices(r.Events, func(e engine.Event) bool { return e.Kind != engine.EventFinal })
	if r.Refused != nil {
		s.news.add(Event{Kind: EventRefused, Refused: r.Refused, Text: r.Refused.Error()})
	}
	if d := r.Send; d != nil {
		s.news.add(Event{
			Kind: EventSent, Text: fmt.Sprintf("request %d to %s: %d of %d tokens", d.Seq, d.Target.Name(), d.Count.Bound, d.Limit),
			Sent: &Sent{
				Seq: d.Seq, Target: d.Target, Count: d.Count, Limit: d.Limit, Projected: s.machine.Projected(), Messages: len(d.Items),
				Edited: d.Edited, Final: d.Final, StillOver: d.StillOver,
			},
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
