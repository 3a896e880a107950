package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A page of records is what is read at once, so that no connection is held while a
// caller works on them.
const (
	pageRecords = 256
	pageBytes   = 4 << 20
)

// errNoName says that an operation has no session.
var errNoName = errors.New("session, want a name, got none")

// usable reports why an operation on a session may not start.
func usable(ctx context.Context, session string) error {
	if session == "" {
		return errNoName
	}
	return ctx.Err()
}

// A place is where a session stands.
type place struct {
	id      int64
	records int
}

// find returns the place of a session, or sql.ErrNoRows.
func (l *lane) find(ctx context.Context, session string) (p place, err error) {
	err = l.one(ctx, "SELECT id, records FROM sessions WHERE name = ?1", []any{[]byte(session)}, &p.id, &p.records)
	return p, err
}

// findOrBegin returns the place of a session, which begins if it has not yet.
func (s *Store) findOrBegin(ctx context.Context, l *lane, session string) (place, error) {
	p, err := l.find(ctx, session)
	if !noRow(err) {
		return p, err
	}
	res, err := l.exec(ctx, "INSERT INTO sessions (name, created, updated) VALUES (?1, ?2, ?2)", []byte(session), s.stamp())
	if err != nil {
		return place{}, err
	}
	id, err := res.LastInsertId()
	return place{id: id}, err
}

// stamp is the time now, as it is kept.
func (s *Store) stamp() int64 { return s.now().UnixMilli() }

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	a := appending{flush: true}
	err := s.packer.packRecords(&a, records)
	return s.add(ctx, session, seq, a, err)
}

// Commit implements [store.Committer]. The blobs are compressed beside the records, which often
// have the same texts, so that whoever waits waits for one of the two.
func (s *Store) Commit(ctx context.Context, session string, seq int, records [][]byte, blobs []edit.Blob) error {
	a := appending{flush: true}
	if err := usable(ctx, session); err != nil {
		return named(ctx, err, "append to %q", session)
	}
	packed := make(chan error, 1)
	go func() {
		var err error
		a.blobs, err = s.packer.packBlobs(session, blobs)
		packed <- err
	}()
	err := s.packer.packRecords(&a, records)
	err = errors.Join(err, <-packed)
	return s.add(ctx, session, seq, a, err)
}

// AppendUnflushed implements [store.Unflusher].
func (s *Store) AppendUnflushed(ctx context.Context, session string, seq int, records [][]byte) error {
	var a appending
	err := s.packer.packRecords(&a, records)
	return s.add(ctx, session, seq, a, err)
}

// packRecords makes records ready to be appended.
func (p *packer) packRecords(into *appending, records [][]byte) error {
	into.records = make([]body, len(records))
	for i, r := range records {
		b, err := p.packRecord(r)
		if err != nil {
			return err
		}
		into.records[i] = b
	}
	return nil
}

// add appends what is ready, unless err says why it is not.
func (s *Store) add(ctx context.Context, session string, seq int, a appending, err error) error {
	if err == nil {
		err = usable(ctx, session)
	}
	if err == nil {
		a.session, a.seq, a.done = session, seq, make(chan struct{})
		err = s.appendGrouped(ctx, &a)
	}
	if _, ok := errors.AsType[*store.ConflictError](err); ok {
		return err
	}
	return named(ctx, err, "append to %q", session)
}

// leastPackedRecord is how long a record is that is worth the time, in bytes: it takes as
// long to compress a shorter one as to write it, and somebody waits.
const leastPackedRecord = 1 << 10

// packRecord returns the body of a record, which it may share.
func (p *packer) packRecord(data []byte) (body, error) {
	if len(data) >= leastPackedRecord || len(data) == 0 {
		return p.pack(data)
	}
	return body{formRaw, int64(len(data)), int64(crc32.Checksum(data, p.table)), data}, nil
}

// append is Append within its transaction. It returns the number of the session.
func (s *Store) append(ctx context.Context, l *lane, session string, seq int, records []body) (id int64, err error) {
	id, err = s.advance(ctx, l, session, seq, len(records))
	for len(records) > 0 && err == nil {
		n := min(len(records), len(inserts))
		args := make([]any, 0, n*argsOfRecord)
		for i, b := range records[:n] {
			b = s.packer.at(b, id, int64(seq+i))
			args = append(args, id, seq+i, b.form, b.size, b.sum, b.data)
		}
		_, err = l.exec(ctx, inserts[n-1], args...)
		seq, records = seq+n, records[n:]
	}
	return id, err
}

// mostIDs is how many sessions a lane remembers the ids of.
const mostIDs = 1024

// advance counts n records more of a session that has seq, and returns its id.
func (s *Store) advance(ctx context.Context, l *lane, session string, seq, n int) (id int64, err error) {
	// Mostly it is known, by which a row is found and changed in half the time.
	if id, ok := l.ids[session]; ok {
		const update = "UPDATE sessions SET records = ?4, updated = ?5, writer = ?6 WHERE id = ?1 AND name = ?2 AND records = ?3"
		if rows, err := l.changed(ctx, update, id, []byte(session), seq, seq+n, s.stamp(), os.Getpid()); err != nil || rows == 1 {
			return id, err
		}
	}
	if id, err = s.advanceByName(ctx, l, session, seq, n); err == nil {
		if len(l.ids) >= mostIDs {
			clear(l.ids)
		}
		l.ids[session] = id
	}
	return id, err
}

// advanceByName is advance for a session whose id is not known.
func (s *Store) advanceByName(ctx context.Context, l *lane, session string, seq, n int) (id int64, err error) {
	const update = "UPDATE sessions SET records = ?3, updated = ?4, writer = ?5 WHERE name = ?1 AND records = ?2 RETURNING id"
	counted := func() error {
		return l.one(ctx, update, []any{[]byte(session), seq, seq + n, s.stamp(), os.Getpid()}, &id)
	}
	if err := counted(); !noRow(err) {
		return id, err
	}
	p, err := l.find(ctx, session)
	switch {
	case err != nil && !noRow(err):
		return 0, err
	case err == nil || seq != 0:
		return 0, &store.ConflictError{Session: session, Want: p.records, Got: seq}
	}
	if _, err := s.findOrBegin(ctx, l, session); err != nil {
		return 0, err
	}
	err = counted()
	return id, err
}

// argsOfRecord is how many values a record has.
const argsOfRecord = 6

// inserts are the statements that insert one record, two, and so on: most appends are one
// statement.
var inserts = [...]string{insertOf(1), insertOf(2), insertOf(3), insertOf(4), insertOf(5), insertOf(6), insertOf(7), insertOf(8)}

func insertOf(records int) string {
	return "INSERT INTO records (session, seq, form, size, sum, body) VALUES (?, ?, ?, ?, ?, ?)" + strings.Repeat(", (?, ?, ?, ?, ?, ?)", records-1)
}

// A stretch is a run of records that one session wrote.
type stretch struct {
	session  int64
	from, to int // of the sequence numbers, to excluded
}

// lineage returns the stretches that the records of a session consist of, in their
// order. A session that has not begun has none.
func (l *lane) lineage(ctx context.Context, session string) (out []stretch, err error) {
	const query = `
		WITH RECURSIVE line (depth, at, low, cap) AS (
			SELECT 0, id, fork_seq, records FROM sessions WHERE name = ?1
			UNION ALL
			SELECT l.depth + 1, p.id, p.fork_seq, min(l.cap, l.low)
			FROM line l JOIN sessions s ON s.id = l.at JOIN sessions p ON p.id = s.parent
			WHERE s.parent < s.id
		)
		SELECT at, low, cap FROM line WHERE low < cap ORDER BY depth DESC`
	err = l.each(ctx, func(r *sql.Rows) error {
		var s stretch
		if err := r.Scan(&s.session, &s.from, &s.to); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	}, query, []byte(session))
	return out, err
}

// Records implements [store.Store]. It yields what was there when the iteration
// began; a session that is deleted meanwhile ends it with an error.
func (s *Store) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := usable(ctx, session)
		if err == nil && from < 0 {
			err = fmt.Errorf("first record, want at least 0, got %d", from)
		}
		var parts []stretch
		if err == nil {
			err = s.read(ctx, func(l *lane) (err error) {
				parts, err = l.lineage(ctx, session)
				return err
			})
		}
		for _, p := range parts {
			if p.from = max(p.from, from); err == nil && p.from < p.to {
				err = s.stretch(ctx, session, p, yield)
			}
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, named(ctx, err, "records of %q", session))
		}
	}
}

// stretch yields the records of a stretch. It returns errStop if the caller wants no
// more.
func (s *Store) stretch(ctx context.Context, session string, p stretch, yield func([]byte, error) bool) error {
	for p.from < p.to {
		page, err := s.page(ctx, session, p)
		if err != nil {
			return err
		}
		for _, b := range page {
			if err := ctx.Err(); err != nil {
				return err
			}
			data, err := s.packer.unpack(b, p.session, int64(p.from))
			if err != nil {
				return owned(err, session, "record %d", p.from)
			}
			if !yield(data, nil) {
				return errStop
			}
			p.from++
		}
	}
	return nil
}

// page reads the next records of a stretch, at least one.
func (s *Store) page(ctx context.Context, session string, p stretch) (page []body, err error) {
	const query = "SELECT seq, form, size, sum, body FROM records WHERE session = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq"
	size, want := 0, p.from
	err = s.read(ctx, func(l *lane) error {
		err := l.each(ctx, func(r *sql.Rows) error {
			var b body
			var seq int
			if err := r.Scan(&seq, &b.form, &b.size, &b.sum, &b.data); err != nil {
				return err
			}
			if seq != want && len(page) > 0 {
				return errStop // what comes before a gap is whole
			}
			if seq != want {
				return missing(session, want)
			}
			want++
			page = append(page, b)
			if size += len(b.data); size >= pageBytes {
				return errStop
			}
			return nil
		}, query, p.session, p.from, min(p.to, p.from+pageRecords))
		if err == nil && len(page) == 0 {
			err = l.why(ctx, session, p)
		}
		return err
	})
	return page, err
}

// why says why there is nothing where a stretch goes on: somebody has let go of it, or a
// record that should be there is not.
func (l *lane) why(ctx context.Context, session string, p stretch) error {
	var records int
	err := l.one(ctx, "SELECT records FROM sessions WHERE id = ?1", []any{p.session}, &records)
	if noRow(err) || err == nil && records <= p.from {
		return fmt.Errorf("record %d: the session has been deleted meanwhile", p.from)
	}
	if err == nil {
		err = missing(session, p.from)
	}
	return err
}

// missing says that a record is not there.
func missing(session string, seq int) error {
	return owned(flaw("row", "one", "nothing"), session, "record %d", seq)
}
