package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// mostWaiting is how many records of one session wait at most.
const mostWaiting = 512

// mostWrite and mostHeard are how long a write may take, the wait for those of other
// sessions included: one of what was decided, without which an edited request does not
// leave, and one of what was only heard, which an answer waits for. A store that is locked
// for longer has failed: who waited for it goes on without.
const (
	mostWrite = 10 * time.Second
	mostHeard = 2 * time.Second
)

// A behind is a store whose records wait until somebody flushes them, all those of a
// session in one write. While nothing was taken out of a conversation its client has all of
// it, so that nothing is lost with records that were not written yet; what was taken out, and
// what the client never sees, is flushed before the request leaves. Contents are written at
// once, with what waits where the store can ([behind.forSessions]).
type behind struct {
	store.Store
	index *indexer // nil: nobody searches

	mu      sync.Mutex
	waiting map[string]waiting
	flushes map[string]chan struct{} // of sessions that are being flushed: closed at the end
	alone   map[string]bool          // sessions whose clients do not see what is appended now
	written map[string]known         // what the store has of a session
}

// known is what this process knows of a session in the store.
type known struct {
	records int
	others  int64 // the store's number when nobody else had written more; 0: not known
}

func newBehind(s store.Store) *behind {
	return &behind{Store: s, waiting: map[string]waiting{}, flushes: map[string]chan struct{}{}, alone: map[string]bool{}, written: map[string]known{}}
}

// waiting is what a session has beyond the store: records from number seq on.
type waiting struct {
	seq     int
	records [][]byte
	decided bool // among them is more than what the client has said or been told
}

// Append implements store.Store. A conflict with another process shows when the session is
// flushed.
func (b *behind) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	b.mu.Lock()
	w, ok := b.waiting[session]
	if !ok {
		w.seq = seq
	}
	if next := w.seq + len(w.records); next != seq {
		b.mu.Unlock()
		return &store.ConflictError{Session: session, Want: next, Got: seq}
	}
	for _, r := range records {
		w.records = append(w.records, slices.Clone(r))
		w.decided = w.decided || decided(r) || b.alone[session]
	}
	b.waiting[session] = w
	b.mu.Unlock()
	if len(w.records) < mostWaiting {
		return nil
	}
	return b.flush(ctx, session)
}

// heard are the kinds of records that say what a client or a provider has said, and the state
// that follows from it: told again it leads to the same.
var heard = []journal.Kind{journal.KindMessage, journal.KindSections, journal.KindTools, journal.KindUsage, journal.KindState}

// decided reports whether a record is of another kind. Records name their kind first.
func decided(record []byte) bool {
	_, rest, _ := bytes.Cut(record[:min(len(record), 64)], []byte(`"kind":"`))
	kind, _, found := bytes.Cut(rest, []byte(`"`))
	return !found || !slices.Contains(heard, journal.Kind(kind))
}

// unseen says that what is appended to a session until end is called its client does not see:
// nobody else has it, so that it has to be on the disk before anybody goes on from it.
func (b *behind) unseen(session string) (end func()) {
	set := func(on bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.alone[session] = on; !on {
			delete(b.alone, session)
		}
	}
	set(true)
	return func() { set(false) }
}

// mustFlush reports whether something waits for a session that must not be lost once its
// request has left, although its client has the whole conversation.
func (b *behind) mustFlush(session string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting[session].decided
}

// flush writes what waits. After an error the session has to be read again: what waited
// for it is gone.
func (b *behind) flush(ctx context.Context, session string) error {
	most := mostHeard
	if b.mustFlush(session) {
		most = mostWrite
	}
	ctx, cancel := within(ctx, most)
	defer cancel()
	w, end, err := b.take(ctx, session)
	if err != nil {
		return err
	}
	if len(w.records) == 0 {
		end()
		return nil
	}
	write := func(add appending) error {
		defer end()
		err := add(ctx, session, w.seq, w.records)
		if err == nil {
			b.know(session, w.seq+len(w.records))
		}
		return err
	}
	// What holds no decision has to outlive this process only: for as long as it is not on the
	// disk its client has all of it. That waits for nothing that does not listen to ctx.
	if u, ok := b.Store.(store.Unflusher); ok && !w.decided {
		return late(ctx, write(u.AppendUnflushed))
	}
	return promptly(ctx, func() error { return write(b.Store.Append) })
}

// An appending adds records to a session.
type appending func(ctx context.Context, session string, seq int, records [][]byte) error

// promptly asks something of a store and waits for it no longer than ctx allows: nobody
// listens to a context while a disk does nothing. What is written after all is found when
// the session is read again.
func promptly(ctx context.Context, ask func() error) error {
	done := make(chan error, 1)
	go func() { done <- ask() }()
	select {
	case err := <-done:
		return late(ctx, err)
	case <-ctx.Done():
		return late(ctx, ctx.Err())
	}
}

// A lateError says for how long a store was waited for.
type lateError time.Duration

// Error implements error.
func (e lateError) Error() string {
	return fmt.Sprintf("the store did nothing for %v, it may be locked", time.Duration(e))
}

// within bounds what a store is asked for; see late.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, lateError(d))
}

// late returns err, and why, where the store has taken too long.
func late(ctx context.Context, err error) error {
	why, ok := errors.AsType[lateError](context.Cause(ctx))
	if err == nil || !ok {
		return err
	}
	return fmt.Errorf("%w: %w", why, err)
}

// take takes what waits for a session, once nobody else writes to it; what comes later is
// written later. Until end is called others wait.
func (b *behind) take(ctx context.Context, session string) (w waiting, end func(), err error) {
	for {
		b.mu.Lock()
		other, ok := b.flushes[session]
		if !ok {
			break
		}
		b.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return waiting{}, nil, late(ctx, fmt.Errorf("gateway: write to session %q: %w", session, ctx.Err()))
		}
	}
	defer b.mu.Unlock()
	w = b.waiting[session]
	delete(b.waiting, session)
	done := make(chan struct{})
	b.flushes[session] = done
	return w, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.flushes, session)
		close(done)
	}, nil
}

// forSessions is b as sessions see it: one that keeps contents and records at once, if its store can.
func (b *behind) forSessions() store.Store {
	if c, ok := b.Store.(store.Committer); ok {
		return committing{b, c}
	}
	return b
}

// A committing is a behind whose store is a [store.Committer].
type committing struct {
	*behind
	store store.Committer
}

// Commit implements store.Committer: contents, the records that name them and what waits are on
// the disk with one write, so that a request that is edited then has nothing left that must be. Where
// it fails, what waited goes on waiting, as if only the contents had been written.
func (b committing) Commit(ctx context.Context, session string, seq int, records [][]byte, blobs []edit.Blob) error {
	ctx, cancel := within(ctx, mostWrite)
	defer cancel()
	w, end, err := b.take(ctx, session)
	if err != nil {
		return err
	}
	if len(w.records) == 0 {
		w.seq = seq
	}
	var once sync.Once
	restore := func() { once.Do(func() { b.waitAgain(session, w) }) }
	if next := w.seq + len(w.records); next != seq {
		restore()
		end()
		return &store.ConflictError{Session: session, Want: next, Got: seq}
	}
	all := slices.Concat(w.records, records)
	err = promptly(ctx, func() error {
		defer end()
		err := b.store.Commit(ctx, session, w.seq, all, blobs)
		switch {
		case err == nil:
			b.know(session, w.seq+len(all))
			b.index.left(session)
		case !errors.Is(err, store.ErrConflict):
			restore()
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrConflict) { // it may be writing still
		restore()
	}
	return err
}

// waitAgain has what was taken off a session wait as before.
func (b *behind) waitAgain(session string, w waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(w.records) > 0 {
		b.waiting[session] = w
	}
}

// Put implements store.Store.
func (b *behind) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	ctx, cancel := within(ctx, mostWrite)
	defer cancel()
	err := b.Store.Put(ctx, session, blobs)
	if err == nil {
		b.index.left(session)
	}
	return late(ctx, err)
}

func (b *behind) know(session string, records int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.written[session]
	k.records = max(k.records, records)
	b.written[session] = k
}

// forget lets go of what is known of a session that nobody holds any more.
func (b *behind) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.written, session)
}

// sessions returns those for which something waits.
func (b *behind) sessions() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := make([]string, 0, len(b.waiting))
	for name := range b.waiting {
		names = append(names, name)
	}
	return names
}

// others returns a number that is another one once another process has written to the store;
// 0 where that is not known.
func (b *behind) others(ctx context.Context) int64 {
	if w, ok := b.Store.(store.Witness); ok {
		if n, ok := w.Others(ctx); ok {
			return n
		}
	}
	return 0
}

// ahead reports whether the store has records of a session that this process does not know:
// another one has written them. While others says that nobody has written anything since
// this was found out, it need not be found out again.
func (b *behind) ahead(ctx context.Context, session string, others int64) (bool, error) {
	b.mu.Lock()
	k := b.written[session]
	b.mu.Unlock()
	if others != 0 && others == k.others {
		return false, nil
	}
	for _, err := range b.Store.Records(ctx, session, k.records) {
		return err == nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k = b.written[session]
	k.others = others
	b.written[session] = k
	return false, nil
}

// Records implements store.Store.
func (b *behind) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := b.flush(ctx, session); err != nil {
			yield(nil, err)
			return
		}
		n := from
		for record, err := range b.Store.Records(ctx, session, from) {
			if !yield(record, err) || err != nil {
				return
			}
			n++
		}
		b.know(session, n)
	}
}

// Fork implements store.Store.
func (b *behind) Fork(ctx context.Context, parent, child string, seq int) error {
	if err := b.flush(ctx, parent); err != nil {
		return err
	}
	if err := promptly(ctx, func() error { return b.Store.Fork(ctx, parent, child, seq) }); err != nil {
		return err
	}
	b.know(child, seq)
	return nil
}

// Delete implements store.Deleter, where the store is one.
func (b *behind) Delete(ctx context.Context, session string) error {
	b.mu.Lock()
	delete(b.waiting, session)
	b.mu.Unlock()
	if d, ok := b.Store.(store.Deleter); ok {
		return d.Delete(ctx, session)
	}
	return nil
}

// Open implements store.Opener, where the store is one.
func (b *behind) Open(ctx context.Context, session string, ref llm.Ref) (store.Content, error) {
	if o, ok := b.Store.(store.Opener); ok {
		return o.Open(ctx, session, ref)
	}
	data, err := b.Get(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	var held store.Memory
	if err := held.Put(ctx, session, []edit.Blob{{Ref: ref, Data: data}}); err != nil {
		return nil, err
	}
	return held.Open(ctx, session, ref)
}

// Search implements store.Searcher, where the store is one.
func (b *behind) Search(ctx context.Context, session, query string, limit int) ([]store.Hit, error) {
	s, ok := b.Store.(store.Searcher)
	if !ok {
		return nil, fmt.Errorf("gateway: search in session %q: want a store.Searcher, got a %T", session, b.Store)
	}
	return s.Search(ctx, session, query, limit)
}

// Index implements store.Searcher, where the store is one.
func (b *behind) Index(ctx context.Context, session string) error {
	if s, ok := b.Store.(store.Searcher); ok {
		return s.Index(ctx, session)
	}
	return nil
}
