package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/plimsoll-dev/plimsoll/store"
)

// PutSnapshot implements [store.Snapshotter].
func (s *Store) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	err := usable(ctx, session)
	var b body
	if err == nil {
		b, err = s.packer.pack(data)
	}
	if err == nil {
		err = s.write(ctx, func(ctx context.Context, l *lane) error {
			p, err := l.find(ctx, session)
			if err != nil && !noRow(err) {
				return err
			}
			if seq < 1 || seq > p.records {
				return fmt.Errorf("records, want 1 to %d, got %d", p.records, seq)
			}
			const put = `
				INSERT INTO snapshots (session, seq, form, size, sum, body, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
				ON CONFLICT (session, seq) DO UPDATE
				SET form = excluded.form, size = excluded.size, sum = excluded.sum, body = excluded.body, created = excluded.created`
			b := s.packer.at(b, p.id, int64(seq))
			_, err = l.exec(ctx, put, p.id, seq, b.form, b.size, b.sum, b.data, s.stamp())
			return err
		})
	}
	return named(ctx, err, "put snapshot of %q", session)
}

// Snapshot implements [store.Snapshotter].
func (s *Store) Snapshot(ctx context.Context, session string) (seq int, data []byte, err error) {
	seq, data, err = s.snapshot(ctx, session, 1, math.MaxInt64)
	if err != nil {
		return 0, nil, named(ctx, err, "snapshot of %q", session)
	}
	return seq, data, nil
}

// SnapshotAt implements [store.Snapshotter].
func (s *Store) SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error) {
	_, data, err := s.snapshot(ctx, session, int64(max(seq, 1)), int64(seq))
	if err != nil {
		return nil, named(ctx, err, "snapshot %d of %q", seq, session)
	}
	return data, nil
}

// snapshot returns the newest one with least to most records.
func (s *Store) snapshot(ctx context.Context, session string, least, most int64) (seq int, data []byte, err error) {
	const query = `
		WITH RECURSIVE line (depth, at, low, cap) AS (
			SELECT 0, id, fork_seq, records FROM sessions WHERE name = ?1
			UNION ALL
			SELECT l.depth + 1, p.id, p.fork_seq, min(l.cap, l.low)
			FROM line l JOIN sessions s ON s.id = l.at JOIN sessions p ON p.id = s.parent
			WHERE s.parent < s.id
		)
		SELECT session, seq, form, size, sum, body FROM snapshots WHERE rowid = (
			SELECT n.rowid FROM line l JOIN snapshots n ON n.session = l.at AND n.seq <= l.cap AND n.seq BETWEEN ?2 AND ?3
			ORDER BY n.seq DESC, l.depth LIMIT 1
		)`
	var b body
	var of int64 // the session that took it
	if err = usable(ctx, session); err == nil {
		err = s.read(ctx, func(l *lane) error {
			return l.one(ctx, query, []any{[]byte(session), least, most}, &of, &seq, &b.form, &b.size, &b.sum, &b.data)
		})
	}
	if noRow(err) {
		return 0, nil, store.ErrNotFound
	}
	if err != nil {
		return 0, nil, err
	}
	if data, err = s.packer.unpack(b, of, int64(seq)); err != nil {
		return 0, nil, owned(err, session, "snapshot %d", seq)
	}
	return seq, data, nil
}
