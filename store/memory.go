package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Memory is a Store that lives and dies with the process. The zero Memory is
// empty and ready. It must not be copied.
type Memory struct {
	mu       sync.RWMutex
	sessions map[string]*session
	blobs    map[llm.Ref]*blob
	given    int // blobs to sessions so far
}

var (
	_ Store       = (*Memory)(nil)
	_ Deleter     = (*Memory)(nil)
	_ Snapshotter = (*Memory)(nil)
	_ Streamer    = (*Memory)(nil)
	_ Opener      = (*Memory)(nil)
	_ Searcher    = (*Memory)(nil)
)

// A session holds its ancestors' records and refs as well: forks share the
// bytes, and none of them is ever changed.
type session struct {
	line    []origin // its ancestors and itself, the oldest first
	records []record
	refs    map[llm.Ref]int // and which number the giving had
	snaps   *snapshots
}

// An origin is a session that records came from, from a number on.
type origin struct {
	name string
	from int
}

// owner returns the session that a record was appended to.
func owner(line []origin, seq int) string {
	for _, o := range slices.Backward(line) {
		if o.from <= seq {
			return o.name
		}
	}
	return ""
}

// A record is what was appended or kept as a snapshot, with the sum of it and its place.
type record struct {
	data []byte
	sum  uint32
}

// recordOf returns the record with number seq of a session.
func recordOf(session string, seq int, data []byte) record {
	return record{data, sumOf(session, seq, data)}
}

// sumOf is the checksum of a content at its place.
func sumOf(session string, seq int, data []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	place := binary.LittleEndian.AppendUint64([]byte(session), uint64(seq)) //nolint:gosec // a number of records
	return crc32.Update(crc32.Checksum(data, table), table, place)
}

// check returns what is wrong with a record that is read at a place, or nil.
func (r record) check(session string, seq int) *DamageError {
	if sum := sumOf(session, seq, r.data); sum != r.sum {
		return &DamageError{What: "checksum", Want: fmt.Sprintf("%08x", r.sum), Got: fmt.Sprintf("%08x", sum)}
	}
	return nil
}

// snapshots are those of one session. They outlive it for its forks' sake.
type snapshots struct {
	name   string         // of the session
	own    map[int]record // by number of records
	parent *snapshots     // nil: no fork
	limit  int            // records that came from the parent
}

// newest returns the snapshot with most records, but with least to limit, and the session
// that took it; 0 is none.
func (s *snapshots) newest(least, limit int) (by string, seq int, r record) {
	for ; s != nil; s = s.parent {
		for n, d := range s.own {
			if least <= n && n <= limit && n > seq {
				by, seq, r = s.name, n, d
			}
		}
		limit = min(limit, s.limit)
	}
	return by, seq, r
}

type blob struct {
	data     []byte
	sessions int // that see it
}

// Append implements [Store].
func (m *Memory) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	if err := usable(ctx, session); err != nil {
		return fmt.Errorf("store: append to %q: %w", session, err)
	}
	kept := make([]record, 0, len(records))
	for i, r := range records {
		kept = append(kept, recordOf(session, seq+i, clone(r)))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	if s, ok := m.sessions[session]; ok {
		n = len(s.records)
	}
	if seq != n {
		return &ConflictError{Session: session, Want: n, Got: seq}
	}
	s := m.begin(session)
	s.records = append(s.records, kept...)
	return nil
}

// Records implements [Store]. It yields what was there when the iteration began.
func (m *Memory) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := usable(ctx, session)
		if err == nil && from < 0 {
			err = fmt.Errorf("first record, want at least 0, got %d", from)
		}
		if err != nil {
			yield(nil, fmt.Errorf("store: records of %q: %w", session, err))
			return
		}
		all, line := m.records(session)
		for i := from; i < len(all); i++ {
			err := ctx.Err()
			if d := all[i].check(owner(line, i), i); err == nil && d != nil {
				d.Session, d.Place = session, fmt.Sprintf("record %d", i)
				err = d
			}
			if err != nil {
				yield(nil, fmt.Errorf("store: records of %q: %w", session, err))
				return
			}
			if !yield(clone(all[i].data), nil) {
				return
			}
		}
	}
}

func (m *Memory) records(session string) ([]record, []origin) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s, ok := m.sessions[session]; ok {
		return s.records, s.line
	}
	return nil, nil
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if err := usable(ctx, session); err != nil {
		return fmt.Errorf("store: put into %q: %w", session, err)
	}
	for _, b := range blobs {
		if want := llm.RefOf(b.Data); b.Ref != want {
			return fmt.Errorf("store: put into %q: ref of %d bytes, want %s, got %q", session, len(b.Data), want, b.Ref)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.begin(session)
	for _, b := range blobs {
		m.keep(s, b.Ref, func() []byte { return clone(b.Data) })
	}
	return nil
}

// PutFrom implements [Streamer]. It reads all of r into memory, where it stays.
func (m *Memory) PutFrom(ctx context.Context, session string, r io.Reader) (ref llm.Ref, size int64, err error) {
	if err := usable(ctx, session); err != nil {
		return "", 0, fmt.Errorf("store: put into %q: %w", session, err)
	}
	data, err := io.ReadAll(until{ctx, r})
	if err != nil {
		return "", 0, fmt.Errorf("store: put into %q: %w", session, err)
	}
	ref = llm.RefOf(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(m.begin(session), ref, func() []byte { return data })
	return ref, int64(len(data)), nil
}

// keep gives a session a blob, unless it sees it already. data is asked for if nobody
// has it. m.mu is held.
func (m *Memory) keep(s *session, ref llm.Ref, data func() []byte) {
	if s.refs[ref] > 0 {
		return
	}
	if m.blobs[ref] == nil {
		m.blobs[ref] = &blob{data: data()}
	}
	m.blobs[ref].sessions++
	m.given++
	s.refs[ref] = m.given
}

// until is a reader that ends with its context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, session string, ref llm.Ref) ([]byte, error) {
	data, err := m.get(ctx, session, ref)
	if err != nil {
		return nil, fmt.Errorf("store: get from %q: %w", session, err)
	}
	return clone(data), nil
}

// get returns a content that is not to be changed.
func (m *Memory) get(ctx context.Context, session string, ref llm.Ref) ([]byte, error) {
	if err := usable(ctx, session); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s, ok := m.sessions[session]; !ok || s.refs[ref] == 0 {
		return nil, fmt.Errorf("ref %.40q: %w", ref, ErrNotFound)
	}
	data := m.blobs[ref].data
	if got := llm.RefOf(data); got != ref {
		return nil, &DamageError{Session: session, Place: "ref " + string(ref), What: "ref of the content", Want: string(ref), Got: string(got)}
	}
	return data, nil
}

// Fork implements [Store].
func (m *Memory) Fork(ctx context.Context, parent, child string, seq int) error {
	for _, name := range []string{parent, child} {
		if err := usable(ctx, name); err != nil {
			return fmt.Errorf("store: fork of %q to %q: %w", parent, child, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.sessions[parent]
	if !ok {
		return fmt.Errorf("store: fork of %q to %q: parent %w", parent, child, ErrNotFound)
	}
	if _, taken := m.sessions[child]; taken {
		return fmt.Errorf("store: fork of %q to %q: want a child that has not begun, got one that has: %w", parent, child, ErrConflict)
	}
	if seq < 0 || seq > len(p.records) {
		return fmt.Errorf("store: fork of %q to %q: records, want 0 to %d, got %d", parent, child, len(p.records), seq)
	}
	c := m.begin(child)
	c.records = slices.Clone(p.records[:seq])
	c.line = append(slices.Clone(p.line), origin{child, seq})
	for i := range c.line {
		c.line[i].from = min(c.line[i].from, seq)
	}
	c.snaps.parent, c.snaps.limit = p.snaps, seq
	maps.Copy(c.refs, p.refs)
	for ref := range c.refs {
		m.blobs[ref].sessions++
	}
	return nil
}

// Delete implements [Deleter].
func (m *Memory) Delete(ctx context.Context, session string) error {
	if err := usable(ctx, session); err != nil {
		return fmt.Errorf("store: delete %q: %w", session, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[session]
	if !ok {
		return nil
	}
	for ref := range s.refs {
		b := m.blobs[ref]
		if b.sessions--; b.sessions == 0 {
			delete(m.blobs, ref)
		}
	}
	delete(m.sessions, session)
	return nil
}

// PutSnapshot implements [Snapshotter].
func (m *Memory) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	if err := usable(ctx, session); err != nil {
		return fmt.Errorf("store: put snapshot of %q: %w", session, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	s, ok := m.sessions[session]
	if ok {
		n = len(s.records)
	}
	if seq < 1 || seq > n {
		return fmt.Errorf("store: put snapshot of %q: records, want 1 to %d, got %d", session, n, seq)
	}
	s.snaps.own[seq] = recordOf(session, seq, clone(data))
	return nil
}

// Snapshot implements [Snapshotter].
func (m *Memory) Snapshot(ctx context.Context, session string) (seq int, data []byte, err error) {
	seq, data, err = m.snapshot(ctx, session, 1, math.MaxInt)
	if err != nil {
		return 0, nil, fmt.Errorf("store: snapshot of %q: %w", session, err)
	}
	return seq, data, nil
}

// SnapshotAt implements [Snapshotter].
func (m *Memory) SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error) {
	_, data, err := m.snapshot(ctx, session, max(seq, 1), seq)
	if err != nil {
		return nil, fmt.Errorf("store: snapshot %d of %q: %w", seq, session, err)
	}
	return data, nil
}

// snapshot returns the newest one with least to most records.
func (m *Memory) snapshot(ctx context.Context, session string, least, most int) (int, []byte, error) {
	if err := usable(ctx, session); err != nil {
		return 0, nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.sessions[session]
	if !ok {
		return 0, nil, ErrNotFound
	}
	by, seq, r := s.snaps.newest(least, min(most, len(s.records)))
	if seq == 0 {
		return 0, nil, ErrNotFound
	}
	if d := r.check(by, seq); d != nil {
		d.Session, d.Place = session, fmt.Sprintf("snapshot %d", seq)
		return 0, nil, d
	}
	return seq, clone(r.data), nil
}

// begin returns a session, which begins if it has not yet. m.mu is held.
func (m *Memory) begin(name string) *session {
	if m.sessions == nil {
		m.sessions, m.blobs = map[string]*session{}, map[llm.Ref]*blob{}
	}
	s, ok := m.sessions[name]
	if !ok {
		s = &session{line: []origin{{name, 0}}, refs: map[llm.Ref]int{}, snaps: &snapshots{name: name, own: map[int]record{}}}
		m.sessions[name] = s
	}
	return s
}

// usable reports why an operation on a session may not start.
func usable(ctx context.Context, session string) error {
	if session == "" {
		return errors.New("session, want a name, got none")
	}
	return ctx.Err()
}

// clone copies b. Nil becomes empty: a record or blob without bytes is there.
func clone(b []byte) []byte { return append([]byte{}, b...) }
