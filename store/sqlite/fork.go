package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/store"
)

// Fork implements [store.Store]. It copies nothing: the child is told from whom and
// how far.
func (s *Store) Fork(ctx context.Context, parent, child string, seq int) error {
	err := usable(ctx, parent)
	if err == nil {
		err = usable(ctx, child)
	}
	if err == nil {
		err = s.write(ctx, func(ctx context.Context, l *lane) error {
			p, err := l.find(ctx, parent)
			if noRow(err) {
				return fmt.Errorf("parent %w", store.ErrNotFound)
			}
			if err != nil {
				return err
			}
			if _, err := l.find(ctx, child); !noRow(err) {
				if err == nil {
					err = fmt.Errorf("want a child that has not begun, got one that has: %w", store.ErrConflict)
				}
				return err
			}
			if seq < 0 || seq > p.records {
				return fmt.Errorf("records, want 0 to %d, got %d", p.records, seq)
			}
			const insert = `
				INSERT INTO sessions (name, parent, fork_seq, fork_blob, records, created, updated)
				SELECT ?1, ?2, ?3, coalesce(max(id), 0), ?3, ?4, ?4 FROM session_blobs`
			_, err = l.exec(ctx, insert, []byte(child), p.id, seq, s.stamp())
			return err
		})
	}
	return named(ctx, err, "fork of %q to %q", parent, child)
}

// Delete implements [store.Deleter]. What forks see stays until they are deleted.
func (s *Store) Delete(ctx context.Context, session string) error {
	err := usable(ctx, session)
	if err == nil {
		err = s.write(ctx, func(ctx context.Context, l *lane) error {
			p, err := l.find(ctx, session)
			if noRow(err) {
				return nil
			}
			if err != nil {
				return err
			}
			_, err = l.remove(ctx, p.id)
			return err
		})
	}
	return named(ctx, err, "delete %q", session)
}

// remove removes a session, and returns what was let go of.
func (l *lane) remove(ctx context.Context, id int64) (Freed, error) {
	if _, err := l.exec(ctx, "UPDATE sessions SET name = NULL WHERE id = ?1", id); err != nil {
		return Freed{}, err
	}
	return l.trim(ctx, id)
}

// trim takes from a session without a name what none of its forks sees, and the
// session itself if it has none; then the same of its ancestors. It returns what it
// let go of.
func (l *lane) trim(ctx context.Context, id int64) (Freed, error) {
	var all Freed
	for {
		var parent sql.NullInt64
		err := l.one(ctx, "SELECT parent FROM sessions WHERE id = ?1 AND name IS NULL", []any{id}, &parent)
		if noRow(err) {
			return all, nil // it is alive
		}
		if err != nil {
			return all, err
		}
		f, err := l.trimOne(ctx, id)
		all.Add(f)
		if err != nil || !parent.Valid || parent.Int64 >= id { // the last: damage that would lead in a circle
			return all, err
		}
		id = parent.Int64
	}
}

func (l *lane) trimOne(ctx context.Context, id int64) (Freed, error) {
	var f Freed
	var forks, seq int
	var blob int64
	const needed = "SELECT count(*), coalesce(max(fork_seq), 0), coalesce(max(fork_blob), 0) FROM sessions WHERE parent = ?1"
	if err := l.one(ctx, needed, []any{id}, &forks, &seq, &blob); err != nil {
		return f, err
	}
	var err error
	if f.Records, err = l.changed(ctx, "DELETE FROM records WHERE session = ?1 AND seq >= ?2", id, seq); err != nil {
		return f, err
	}
	if _, err := l.exec(ctx, "DELETE FROM snapshots WHERE session = ?1 AND seq > ?2", id, seq); err != nil {
		return f, err
	}
	if err := l.release(ctx, id, blob, &f); err != nil {
		return f, err
	}
	if forks > 0 {
		_, err := l.exec(ctx, "UPDATE sessions SET records = ?2, fork_seq = min(fork_seq, ?2) WHERE id = ?1", id, seq)
		return f, err
	}
	_, err = l.exec(ctx, "DELETE FROM sessions WHERE id = ?1", id)
	return f, err
}

// release takes from a session the blobs that it was given after bound, and lets go of
// those that nobody else has.
func (l *lane) release(ctx context.Context, id, bound int64, f *Freed) error {
	var blobs []int64
	err := l.each(ctx, func(r *sql.Rows) error {
		var b int64
		if err := r.Scan(&b); err != nil {
			return err
		}
		blobs = append(blobs, b)
		return nil
	}, "DELETE FROM session_blobs WHERE session = ?1 AND id > ?2 RETURNING blob", id, bound)
	for i := 0; i < len(blobs) && err == nil; i++ {
		err = l.collect(ctx, blobs[i], f)
	}
	return err
}

// collect lets go of a blob if no session has it.
func (l *lane) collect(ctx context.Context, blob int64, f *Freed) error {
	const remove = "DELETE FROM blobs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM session_blobs WHERE blob = ?1) RETURNING size"
	return l.each(ctx, func(r *sql.Rows) error {
		var size int64
		if err := r.Scan(&size); err != nil {
			return err
		}
		f.Blobs++
		f.Bytes += size
		return nil
	}, remove, blob)
}

// Freed is what a store has let go of.
type Freed struct {
	Records   int
	Blobs     int
	Bytes     int64 // of the blobs, before compression
	FileBytes int64 // by which the file has become smaller
}

// Add adds what was let go of as well.
func (f *Freed) Add(g Freed) {
	f.Records += g.Records
	f.Blobs += g.Blobs
	f.Bytes += g.Bytes
	f.FileBytes += g.FileBytes
}

// GC lets go of what no session sees, in one transaction, and gives free space back
// to the file system. Delete has left nothing to be let go of, so what GC does for most
// stores is the latter, for which it needs as much free space on the disk as the
// store takes; other processes that write wait for it.
func (s *Store) GC(ctx context.Context) (Freed, error) {
	var f Freed
	before, err := s.fileBytes(ctx)
	if err == nil {
		err = s.write(ctx, func(ctx context.Context, l *lane) error {
			if err := l.sweep(ctx, &f); err != nil {
				return err
			}
			if err := l.bury(ctx, s.now(), &f); err != nil {
				return err
			}
			return l.forget(ctx)
		})
	}
	if err == nil {
		err = s.shrink(ctx)
	}
	var after int64
	if err == nil {
		after, err = s.fileBytes(ctx)
	}
	if err != nil {
		return Freed{}, named(ctx, err, "collect %s", s.path)
	}
	f.FileBytes = max(before-after, 0)
	return f, nil
}

// sweep lets go of all that no session sees.
func (l *lane) sweep(ctx context.Context, f *Freed) error {
	// Forks have higher numbers than their parents, and come first.
	dead, err := l.numbers(ctx, "SELECT id FROM sessions WHERE name IS NULL ORDER BY id DESC")
	for i := 0; i < len(dead) && err == nil; i++ {
		var g Freed
		g, err = l.trim(ctx, dead[i])
		f.Add(g)
	}
	if err != nil {
		return err
	}
	blobs, err := l.numbers(ctx, "SELECT id FROM blobs WHERE id NOT IN (SELECT blob FROM session_blobs)")
	for i := 0; i < len(blobs) && err == nil; i++ {
		err = l.collect(ctx, blobs[i], f)
	}
	return err
}

// numbers returns the only column of a query.
func (l *lane) numbers(ctx context.Context, query string, args ...any) (out []int64, err error) {
	err = l.each(ctx, func(r *sql.Rows) error {
		var n int64
		if err := r.Scan(&n); err != nil {
			return err
		}
		out = append(out, n)
		return nil
	}, query, args...)
	return out, err
}

// shrink gives free pages back to the file system.
func (s *Store) shrink(ctx context.Context) error {
	l, err := s.take(ctx, s.writer)
	if err != nil {
		return err
	}
	defer func() { s.writer <- l }()
	var free int
	if err := errors.Join(l.flushing(ctx, true), l.one(ctx, "PRAGMA freelist_count", nil, &free)); err != nil {
		return err
	}
	if err := l.waiting(ctx, busyTimeout); err != nil {
		return err
	}
	defer func() { _ = l.waiting(context.WithoutCancel(ctx), 0) }() // else it waits once more
	if free > 0 {
		if _, err := l.conn.ExecContext(ctx, "VACUUM"); err != nil {
			return err
		}
	}
	// What is in the log goes into the file. Readers may keep it from that, which is no fault.
	_, err = l.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if isBusy(err) {
		return nil
	}
	return err
}
