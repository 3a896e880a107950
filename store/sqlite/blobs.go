package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// seen finds the blob ?2 among those that the session ?1 sees: what it and its
// ancestors were given, of each ancestor up to the moment of the fork.
const seen = `
	WITH RECURSIVE line (at, bound) AS (
		SELECT id, 9223372036854775807 FROM sessions WHERE name = ?1
		UNION ALL
		SELECT s.parent, s.fork_blob FROM line l JOIN sessions s ON s.id = l.at WHERE s.parent < s.id
	)
	SELECT b.form, b.size, b.sum, b.body FROM blobs b CROSS JOIN line l CROSS JOIN session_blobs v
	WHERE b.ref = ?2 AND v.session = l.at AND v.blob = b.id AND v.id <= l.bound LIMIT 1`

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	err := usable(ctx, session)
	all := make([]packed, 0, len(blobs))
	for _, b := range blobs {
		if err != nil {
			break
		}
		if want := llm.RefOf(b.Data); b.Ref != want {
			err = fmt.Errorf("ref of %d bytes, want %s, got %.40q", len(b.Data), want, b.Ref)
			break
		}
		var p body
		p, err = s.packer.pack(b.Data)
		all = append(all, packed{session, b.Ref, p})
	}
	if err == nil {
		err = s.keep(ctx, session, all)
	}
	return named(ctx, err, "put into %q", session)
}

// PutFrom implements [store.Streamer]. The content is compressed as it is read, so that
// what is in memory while it reads is what has come so far after compression, and some
// 8 MiB; in the end there are up to four copies of it, two of them SQLite's. A content
// may have nearly 1,000,000,000 bytes after compression, which is SQLite's limit, and
// 4 GiB before, as [Store.Get] returns it in one piece.
func (s *Store) PutFrom(ctx context.Context, session string, r io.Reader) (ref llm.Ref, size int64, err error) {
	p := packed{session: session}
	if err = usable(ctx, session); err == nil {
		p.ref, p.body, err = s.packer.packFrom(ctx, r)
	}
	if err == nil {
		err = s.keep(ctx, session, []packed{p})
	}
	if err != nil {
		return "", 0, named(ctx, err, "put into %q", session)
	}
	return p.ref, p.body.size, nil
}

// keep gives a session blobs, all of them or none.
func (s *Store) keep(ctx context.Context, session string, all []packed) error {
	return s.write(ctx, func(ctx context.Context, l *lane) error {
		p, err := s.findOrBegin(ctx, l, session)
		for i := 0; i < len(all) && err == nil; i++ {
			err = s.put(ctx, l, p.id, all[i])
		}
		return err
	})
}

// A packed blob is ready to be kept.
type packed struct {
	session string
	ref     llm.Ref
	body    body
}

// put gives the session with a number a blob, unless it sees it already.
func (s *Store) put(ctx context.Context, l *lane, id int64, p packed) error {
	b := p.body
	known := false
	err := l.each(ctx, func(*sql.Rows) error {
		known = true
		return errStop
	}, seen, []byte(p.session), string(p.ref))
	if err != nil || known {
		return err
	}
	const insert = "INSERT INTO blobs (ref, form, size, sum, body) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ref) DO NOTHING"
	if _, err := l.exec(ctx, insert, string(p.ref), b.form, b.size, b.sum, b.data); err != nil {
		return err
	}
	_, err = l.exec(ctx, "INSERT INTO session_blobs (session, blob, created) SELECT ?1, id, ?3 FROM blobs WHERE ref = ?2", id, string(p.ref), s.stamp())
	return err
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, session string, ref llm.Ref) ([]byte, error) {
	var b body
	err := usable(ctx, session)
	if err == nil {
		err = s.read(ctx, func(l *lane) error {
			return l.one(ctx, seen, []any{[]byte(session), string(ref)}, &b.form, &b.size, &b.sum, &b.data)
		})
	}
	var data []byte
	switch {
	case noRow(err):
		err = fmt.Errorf("ref %.40q: %w", ref, store.ErrNotFound)
	case err == nil:
		data, err = s.packer.blob(b, ref)
		err = owned(err, session, "ref %s", ref)
	}
	return data, named(ctx, err, "get from %q", session)
}
