// Package drive is the one place that feeds an [engine.Machine] and does what it asks for:
// contents and records into a store, questions to a summariser. A library session stands
// on it, and so does a replay, whose calls are only simulated.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// ErrRefused is wrapped by the error of Feed if a request cannot be made to fit. The error
// also wraps a *budget.OverError with the figures.
var ErrRefused = errors.New("request does not fit the window")

// A Summariser answers an Ask of the engine.
type Summariser interface {
	Summarise(ctx context.Context, ask engine.Ask) (Summary, error)
}

// A Summary is what somebody wrote in answer to an Ask, and what that took. What was paid
// is stated beside an error, too.
type Summary struct {
	Text  string
	Stop  llm.Stop      // why a model wrote no more; zero: it is not known, or none was asked
	Calls journal.Calls // of a model; zero: none was asked
}

// A Config says what a driver works with.
type Config struct {
	ID         string // of the session, in the store
	Engine     engine.Config
	Store      store.Store
	Summariser Summariser
	// Later, if not nil, takes questions that nobody waits for off the driver's hands, one at a
	// time: the answer goes to [Driver.Late]. A question that comes while another one is open
	// stands in its place. nil: they are answered at once.
	Later func(engine.Ask)
	// Wait, if not nil, asks for an answer that a call waits for, and may let others look at
	// the machine meanwhile. An error means that there will be none: the driver is of no more
	// use. nil: the summariser is asked.
	Wait func(context.Context, engine.Ask) (engine.Answer, error)
	// Ephemeral keeps no records, only what edits take out: the session cannot be taken
	// up again.
	Ephemeral bool
	// Debug is told what the guard sums up; nil: nobody is.
	Debug *slog.Logger
	// Snapshots are taken, where the store keeps them, so that a resume is quicker.
	Snapshots bool
	// SnapshotLater leaves it to [Driver.Snapshot] to take those that are due.
	SnapshotLater bool
	// Read, if not nil, is shown the records that are there already, in their order. A state
	// among them may not be whole.
	Read func(journal.Record)
	// Restart, if not nil, is called before the first record is shown, each time.
	Restart func()
	// Done, if not nil, is shown each Ready that was carried out, before what it asks is
	// answered.
	Done func(engine.Ready)
}

// A Driver carries out what a machine asks for. It is not safe for concurrent use.
type Driver struct {
	config  Config
	machine *engine.Machine
	records int  // in the store
	stopped bool // the store has failed: what it has must be read again
	late    []engine.Answer
	paging  paging
}

// Done is what an input led to.
type Done struct {
	Send       *engine.Send       // the request that may leave; nil: none
	Placements []engine.Placement // of the outputs that came
	Grant      engine.Grant       // the answer to a Reserve
	BlobsErr   error              // why the store did not take some contents; nil: it did
	// SnapshotErr is why no snapshot was kept that was due; nil: none was, or it was kept.
	SnapshotErr error
}

// Open begins a session, or takes up one that the store knows.
func Open(ctx context.Context, c Config) (*Driver, error) {
	d, err := begin(c)
	if err != nil {
		return nil, err
	}
	if !c.Ephemeral {
		return d, d.Resume(ctx)
	}
	_, err = d.settle(ctx)
	return d, err
}

// Fork begins a session that goes on after message at of a parent, of which the store
// has begun a fork already.
func Fork(ctx context.Context, c Config, parent string, at llm.MessageID) (*Driver, error) {
	d, err := begin(c)
	if err != nil {
		return nil, err
	}
	fork := journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: parent, At: at}}
	snap, err := journal.Collect(followed(journal.Read(c.Store.Records(ctx, c.ID, 0)), fork))
	if err != nil {
		return nil, err
	}
	d.records = snap.Records - 1
	_, err = d.Feed(ctx, engine.Fork{Parent: parent, At: at, Snapshot: snap})
	return d, err
}

// begin returns a driver of a machine that knows nothing yet.
func begin(c Config) (*Driver, error) {
	c.Engine.Trace = c.Debug != nil
	m, err := engine.New(c.Engine)
	if err != nil {
		return nil, err
	}
	return &Driver{config: c, machine: m}, nil
}

// Machine returns what is driven, to be looked at. Only the driver may feed it.
func (d *Driver) Machine() *engine.Machine { return d.machine }

// Records returns how many records of the session the store has.
func (d *Driver) Records() int { return d.records }

// Stopped reports whether the store has failed, so that nothing but Resume is accepted.
func (d *Driver) Stopped() bool { return d.stopped }

// Blob returns what was stored under ref.
func (d *Driver) Blob(ctx context.Context, ref llm.Ref) ([]byte, error) {
	return d.config.Store.Get(ctx, d.config.ID, ref)
}

// Resume brings the machine to where the store's records end, and does what it asks for
// there.
func (d *Driver) Resume(ctx context.Context) error {
	snap, err := d.collect(ctx)
	if err != nil {
		return err
	}
	if snap.Records > 0 || d.stopped {
		if err := d.machine.Feed(engine.Restore{Snapshot: snap}); err != nil {
			return err
		}
	}
	d.records, d.late, d.stopped = snap.Records, nil, false
	_, err = d.settle(ctx) // a question that nobody waited for is asked again
	return err
}

// shown yields records and shows them to whoever reads along.
func (d *Driver) shown(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	if d.config.Restart != nil {
		d.config.Restart()
	}
	if d.config.Read == nil {
		return records
	}
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range records {
			if err == nil {
				d.config.Read(rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// followed yields records, and one more.
func followed(records iter.Seq2[journal.Record, error], last journal.Record) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range records {
			if !yield(rec, err) || err != nil {
				return
			}
		}
		yield(last, nil)
	}
}

// Feed feeds an input and does what the machine asks for, in the order that it demands,
// until there is nothing left to do. Before a request, late answers are fed: see CatchUp.
func (d *Driver) Feed(ctx context.Context, in engine.Input) (Done, error) {
	switch in.(type) {
	case engine.Prepare, engine.Rejected:
		if err := d.catchUp(ctx, true); err != nil {
			return Done{}, err
		}
	}
	before := d.paging
	done, err := d.feed(ctx, in)
	switch in.(type) {
	case engine.Append, engine.Stored: // an output that was capped as it came is no compaction
		d.paging = before
	}
	if err == nil {
		done.SnapshotErr = d.snapshotAfter(ctx, in)
	}
	return done, err
}

func (d *Driver) feed(ctx context.Context, in engine.Input) (Done, error) {
	if err := d.machine.Feed(in); err != nil {
		_, failed := d.settle(ctx) // what an answer that came before it has led to
		return Done{}, errors.Join(err, failed)
	}
	return d.settle(ctx)
}

// CatchUp feeds the answers to questions for which nobody had to wait.
func (d *Driver) CatchUp(ctx context.Context) error { return d.catchUp(ctx, false) }

// catchUp is CatchUp. Where a request follows, an answer for which nothing has to be stored is carried
// out with it, in one write.
func (d *Driver) catchUp(ctx context.Context, request bool) error {
	late := d.late
	d.late = nil
	for i, a := range late {
		if request && i == len(late)-1 && a.Judgement.Kept() {
			return d.machine.Feed(a)
		}
		if _, err := d.feed(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// settle does what the machine asks for.
func (d *Driver) settle(ctx context.Context) (Done, error) {
	var done Done
	var gone error // why the caller does not wait any longer
	for d.machine.HasReady() {
		r := d.machine.Ready()
		out := d.keep(ctx, r)
		d.machine.Advance(out)
		if out.RecordsErr != nil {
			d.stopped, d.late = true, nil
			return Done{}, out.RecordsErr
		}
		if len(out.FailedBlobs) > 0 {
			done.BlobsErr = out.BlobsErr
			continue
		}
		done.add(r)
		if shrank(r.Edits) {
			d.paging.due, d.paging.cut = true, true
		}
		logTraces(d.config.Debug, d.config.ID, r.Traces)
		if d.config.Done != nil {
			d.config.Done(r)
		}
		if r.Ask != nil { // also beside a Refused: nobody asks it again
			if err := d.answer(ctx, *r.Ask); err != nil {
				return Done{}, err
			}
			if gone == nil && ctx.Err() != nil { // what came of it is kept all the same
				gone, ctx = context.Cause(ctx), context.WithoutCancel(ctx)
			}
		}
		if r.Refused != nil {
			return Done{}, refusal(r.Refused, done.BlobsErr)
		}
		if r.Torn != nil {
			return Done{}, fmt.Errorf("prepare: %w", r.Torn)
		}
	}
	return done, gone
}

func (d *Done) add(r engine.Ready) {
	d.Placements = append(d.Placements, r.Placements...)
	if r.Grant != "" {
		d.Grant = r.Grant
	}
	if r.Send != nil {
		d.Send = r.Send
	}
}

// refusal is the error of a request that was not sent. A store that took nothing
// may be why nothing could be taken out.
func refusal(over *budget.OverError, blobs error) error {
	if blobs != nil {
		return fmt.Errorf("%w: %w; nothing could be put away: %w", ErrRefused, over, blobs)
	}
	return fmt.Errorf("%w: %w", ErrRefused, over)
}

// keep stores what a Ready says has to be durable: blobs, then records, or both at once where the
// store can. Then a failure counts as one of the blobs: without them the records are tried again.
func (d *Driver) keep(ctx context.Context, r engine.Ready) engine.Outcome {
	lines, err := d.lines(r)
	if err != nil {
		return engine.Outcome{RecordsErr: err}
	}
	if c, ok := d.config.Store.(store.Committer); ok && len(lines) > 0 && len(r.Blobs) > 0 {
		err := c.Commit(ctx, d.config.ID, d.records, lines, r.Blobs)
		switch {
		case errors.Is(err, store.ErrConflict):
			return engine.Outcome{RecordsErr: err}
		case err != nil:
			return failed(r.Blobs, err)
		}
		d.records += len(lines)
		return engine.Outcome{}
	}
	if len(r.Blobs) > 0 {
		if err := d.config.Store.Put(ctx, d.config.ID, r.Blobs); err != nil {
			return failed(r.Blobs, err)
		}
	}
	if len(lines) == 0 {
		return engine.Outcome{}
	}
	if err := d.config.Store.Append(ctx, d.config.ID, d.records, lines); err != nil {
		return engine.Outcome{RecordsErr: err}
	}
	d.records += len(lines)
	return engine.Outcome{}
}

// lines returns the records of a Ready as they are kept; none of a session that keeps none.
func (d *Driver) lines(r engine.Ready) ([][]byte, error) {
	if d.config.Ephemeral {
		return nil, nil
	}
	lines := make([][]byte, len(r.Records))
	for i, rec := range r.Records {
		line, err := journal.Encode(rec)
		if err != nil {
			return nil, err
		}
		lines[i] = line
	}
	return lines, nil
}

// failed is the outcome of blobs that were not kept.
func failed(blobs []edit.Blob, err error) engine.Outcome {
	out := engine.Outcome{FailedBlobs: make([]llm.Ref, len(blobs)), BlobsErr: err}
	for i, b := range blobs {
		out.FailedBlobs[i] = b.Ref
	}
	return out
}

// AnswerTo asks a summariser. One that panics has no answer: no work is worth less than a
// summary of it.
func AnswerTo(ctx context.Context, s Summariser, ask engine.Ask) (a engine.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = engine.Answer{Ask: ask.ID, Err: fmt.Sprintf("the summariser panicked: %v", p)}
		}
	}()
	said, err := s.Summarise(ctx, ask)
	a = engine.Answer{Ask: ask.ID, Text: said.Text, Stop: said.Stop, Calls: said.Calls}
	if err != nil {
		a.Err = cmp.Or(err.Error(), "no reason is given")
	} else {
		a.Judgement = ask.Judge(a) // here, where nobody need wait for it
	}
	return a
}

// KeepAhead puts into the store what is to leave a session's view for an answer that nobody waits
// for, so that whoever uses it need not. What cannot be stored now is left to that.
func KeepAhead(ctx context.Context, s store.Store, session string, a engine.Answer) {
	blobs := a.Judgement.Blobs()
	if len(blobs) > 0 && s.Put(ctx, session, blobs) == nil {
		a.Judgement.Keep()
	}
}

// Late takes the answer to a question that went to [Config.Later]. It is fed before the next
// request.
func (d *Driver) Late(a engine.Answer) { d.late = append(d.late, a) }

// answer sees to it that a question is answered. The answer to one in the background is kept
// for the next request.
func (d *Driver) answer(ctx context.Context, ask engine.Ask) error {
	switch {
	case ask.Background && d.config.Later != nil:
		d.config.Later(ask)
		return nil
	case ask.Background:
		a := AnswerTo(ctx, d.config.Summariser, ask)
		KeepAhead(ctx, d.config.Store, d.config.ID, a)
		d.Late(a)
		return nil
	}
	a, err := d.awaited(ctx, ask)
	if err != nil {
		return err
	}
	a.GivenUp = a.Err != "" && ctx.Err() != nil
	return d.machine.Feed(a)
}

// awaited asks for an answer that a call waits for.
func (d *Driver) awaited(ctx context.Context, ask engine.Ask) (engine.Answer, error) {
	if d.config.Wait != nil {
		return d.config.Wait(ctx, ask)
	}
	return AnswerTo(ctx, d.config.Summariser, ask), nil
}
