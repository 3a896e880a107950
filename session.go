package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Options say how a session is kept. The zero value of every field has a meaning.
type Options struct {
	ID      string          // names the session in the store; empty: "default"
	Policy  policy.Policy   // zero: the preset balanced
	Targets []budget.Target // where calls may go, the preferred one first; at least one
	Store   store.Store     // nil: a store in memory

	// Summariser answers the questions of the policy. nil: the deterministic
	// summariser, which needs no model.
	Summariser Summariser

	// Catalog is what is known about models; nil: the embedded one.
	Catalog *catalog.Catalog
	// Encodings loads vocabularies; nil: the embedded ones, kept by this session.
	// Give one [Encodings] to all sessions of a program.
	Encodings token.Encodings

	// Ephemeral keeps no records, only what edits take out: the session cannot be
	// taken up again. For replays.
	Ephemeral bool
	// Offline and Calibration are for hosts that replay; see [engine.Config].
	Offline     bool
	Calibration *token.Calibration
}

// A Summariser answers an Ask of the engine. An error means that there is no
// summary; what happens then is up to the policy. It is called within the call
// that raised the question, one in the background too; only the answer to that one
// is used later, by the next Prepare.
type Summariser interface {
	Summarise(ctx context.Context, ask engine.Ask) (string, error)
}

// A Session keeps one conversation within its window: an [engine.Machine] with
// a store and a summariser. It is safe for concurrent use. When a method fails
// because the store does, what it was told has not happened; the next call goes on
// from what the store has.
type Session struct {
	mu      sync.Mutex
	id      string
	machine *engine.Machine
	store   store.Store
	sum     Summariser
	seq     int  // records in the store; -1: none are kept
	stopped bool // the store has failed: what it has must be read again
	late    []engine.Answer
	edits   []edit.Edit
	events  []engine.Event
	failed  error // why the store took no blobs, during one drive
}

// ErrRefused is wrapped by the error of Prepare if the request cannot be made to
// fit. The error also wraps a *budget.OverError with the figures.
var ErrRefused = errors.New("request does not fit the window")

// Open starts a session, or takes up one that the store knows.
func Open(ctx context.Context, o Options) (*Session, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	m, err := engine.New(engine.Config{
		Policy: o.Policy, Targets: o.Targets, Catalog: *o.Catalog, Encodings: o.Encodings,
		Offline: o.Offline, Calibration: o.Calibration,
	})
	if err != nil {
		return nil, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
	}
	s := &Session{id: o.ID, machine: m, store: o.Store, sum: o.Summariser}
	if o.Ephemeral {
		s.seq = -1
		return s, nil
	}
	if err := s.resume(ctx); err != nil {
		return nil, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
	}
	return s, nil
}

// filled returns o with every default in place.
func (o Options) filled() (Options, error) {
	if o.ID == "" {
		o.ID = "default"
	}
	if o.Policy.Name == "" && o.Policy.Version == 0 {
		p, err := policy.Preset("balanced")
		if err != nil {
			return o, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
		}
		o.Policy = p
	}
	if o.Store == nil {
		o.Store = &store.Memory{}
	}
	if o.Summariser == nil {
		o.Summariser = Deterministic{}
	}
	if o.Catalog == nil {
		c, err := catalog.Load()
		if err != nil {
			return o, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
		}
		o.Catalog = &c
	}
	if o.Encodings == nil {
		o.Encodings = new(Encodings).Load
	}
	return o, nil
}

// resume brings the machine to where the store's records end.
func (s *Session) resume(ctx context.Context) error {
	snap, err := journal.Collect(journal.Read(s.store.Records(ctx, s.id, 0)))
	if err != nil {
		return err
	}
	if snap.Records > 0 || s.stopped {
		if err := s.machine.Feed(engine.Restore{Snapshot: snap}); err != nil {
			return err
		}
	}
	s.seq, s.late, s.stopped = snap.Records, nil, false
	return nil
}

// Append adds the next message of the conversation. Its ID must be 0.
func (s *Session) Append(ctx context.Context, m llm.Message) error {
	return s.feed(ctx, engine.Append{Message: m})
}

// SetTools sets the tools that are offered to the model.
func (s *Session) SetTools(ctx context.Context, tools []llm.Tool) error {
	return s.feed(ctx, engine.SetTools{Tools: tools})
}

// SetSections sets the system prompt.
func (s *Session) SetSections(ctx context.Context, sections []llm.Section) error {
	return s.feed(ctx, engine.SetSections{Sections: sections})
}

// Usage tells what the provider reported about the request that Prepare returned
// last, before the reply is appended.
func (s *Session) Usage(ctx context.Context, u engine.Usage) error { return s.feed(ctx, u) }

// TurnEnd tells that the model gave its final answer.
func (s *Session) TurnEnd(ctx context.Context) error { return s.feed(ctx, engine.TurnEnd{}) }

// Prepare returns the request to send now. It fits the first target's window; if
// it cannot, the error wraps [ErrRefused], unless the policy sends it all the
// same. Without targets those of the last call hold.
func (s *Session) Prepare(ctx context.Context, targets ...budget.Target) (*engine.Send, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	return s.drive(ctx, engine.Prepare{Targets: targets})
}

// Rejected tells that a provider refused the request as too long, and returns
// the one to send instead.
func (s *Session) Rejected(ctx context.Context, r engine.Rejected) (*engine.Send, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drive(ctx, r)
}

// Blob returns what was stored under ref.
func (s *Session) Blob(ctx context.Context, ref llm.Ref) ([]byte, error) {
	return s.store.Get(ctx, s.id, ref)
}

// View calls f with the machine, for reading only.
func (s *Session) View(f func(*engine.Machine)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.machine)
}

// Drain returns the edits and events since the last call of Drain.
func (s *Session) Drain() ([]edit.Edit, []engine.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edits, events := s.edits, s.events
	s.edits, s.events = nil, nil
	return edits, events
}

func (s *Session) feed(ctx context.Context, in engine.Input) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.drive(ctx, in)
	return err
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

// drive feeds an input and does what the machine asks for, in the order that it
// demands, until there is nothing left to do.
func (s *Session) drive(ctx context.Context, in engine.Input) (*engine.Send, error) {
	if s.stopped {
		if err := s.resume(ctx); err != nil {
			return nil, fmt.Errorf("plimsoll: session %q: after a failure of its store: %w", s.id, err)
		}
	}
	if err := s.machine.Feed(in); err != nil {
		return nil, fmt.Errorf("plimsoll: session %q: %w", s.id, err)
	}
	var send *engine.Send
	s.failed = nil
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
		s.edits, s.events = append(s.edits, r.Edits...), append(s.events, r.Events...)
		if r.Refused != nil {
			return nil, s.refusal(r.Refused)
		}
		if r.Send != nil {
			send = r.Send
		}
		if r.Ask != nil {
			if err := s.answer(ctx, *r.Ask); err != nil {
				return nil, err
			}
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
			s.events = append(s.events, engine.Event{Kind: engine.EventWithdrawn, Text: err.Error()})
			return engine.Outcome{FailedBlobs: failed}
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

// Deterministic is the Summariser that needs no model: it lists the facts that
// code can tell.
type Deterministic struct {
	// Count measures the summary; nil: a token for every four bytes.
	Count func(string) int
}

// deterministicTokens is the longest summary where the policy states none (R004-4).
const deterministicTokens = 2000

// Summarise implements Summariser. It never fails.
func (d Deterministic) Summarise(_ context.Context, ask engine.Ask) (string, error) {
	limit := ask.MaxTokens
	if limit == 0 {
		limit = deterministicTokens
	}
	return summary.Write(ask.Messages, summary.Options{MaxTokens: limit, Count: d.Count, Previous: ask.Previous}), nil
}

// Encodings loads each vocabulary once. The zero value is ready; it is
// safe for concurrent use.
type Encodings struct {
	// Other loads what the embedded vocabularies do not have, such as a user's
	// hf:FILE (tokenizers.Encoding); nil: nothing. It is set before the first use.
	Other token.Encodings

	mu     sync.Mutex
	loaded map[string]*bpe.Encoding
}

// Load returns the encoding called name. It is a [token.Encodings].
func (e *Encodings) Load(name string) (*bpe.Encoding, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if enc, ok := e.loaded[name]; ok {
		return enc, nil
	}
	enc, err := bpe.Load(name)
	if e.Other != nil && errors.Is(err, bpe.ErrUnknownEncoding) {
		enc, err = e.Other(name)
	}
	if err != nil {
		return nil, err
	}
	if e.loaded == nil {
		e.loaded = map[string]*bpe.Encoding{}
	}
	e.loaded[name] = enc
	return enc, nil
}
