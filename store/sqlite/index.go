package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	batchPassages = 128  // that are indexed in one transaction, about 250 kB
	batchContents = 2000 // that it may take to find so many
	sessionBits   = 32   // of the number of a passage that are its own, not the session's
)

// Index implements [store.Searcher]. Other writers wait no longer than for some 100
// passages at a time.
func (s *Store) Index(ctx context.Context, session string) error {
	err := usable(ctx, session)
	if err == nil {
		_, err = s.indexed(ctx, session)
	}
	return named(ctx, err, "index %q", session)
}

// indexed returns a session and its ancestors, all that they were given indexed. A store that is
// only read stays as it is.
func (s *Store) indexed(ctx context.Context, session string) ([]ancestor, error) {
	line, err := s.line(ctx, session)
	for i := 0; i < len(line) && err == nil && !s.readOnly; i++ {
		err = s.indexSession(ctx, line[i].session)
	}
	return line, err
}

// indexSession indexes what a session was given.
func (s *Store) indexSession(ctx context.Context, id int64) error {
	for {
		b := batch{store: s, session: id}
		if err := b.gather(ctx); err != nil || b.progress == b.begun {
			return err
		}
		if err := s.write(ctx, b.write); err != nil {
			return err
		}
	}
}

// A batch is what is indexed in one transaction.
type batch struct {
	store   *Store
	session int64
	begun   progress // where it begins
	progress
	found []passage
}

// A progress is how far a session has been indexed; a row of indexed.
type progress struct{ given, at, line, passages int64 }

// A passage is a row of passages with its terms.
type passage struct {
	given, at, line int64
	terms           string
}

// progressOf reads how far a session has been indexed.
func (l *lane) progressOf(ctx context.Context, session int64) (progress, error) {
	p := progress{at: -1}
	const query = "SELECT given, at, line, passages FROM indexed WHERE session = ?1"
	err := l.one(ctx, query, []any{session}, &p.given, &p.at, &p.line, &p.passages)
	if noRow(err) {
		err = nil
	}
	return p, err
}

// gather finds the next passages, without the connection that writes.
func (b *batch) gather(ctx context.Context) error {
	err := b.store.read(ctx, func(l *lane) (err error) {
		b.begun, err = l.progressOf(ctx, b.session)
		return err
	})
	b.progress = b.begun
	for n := 0; err == nil && len(b.found) < batchPassages && n < batchContents; n++ {
		var c *content
		if c, err = b.next(ctx); c == nil {
			break
		}
		err = b.read(c)
	}
	return err
}

// next returns the content that is next, or none. One that is damaged is passed over.
func (b *batch) next(ctx context.Context) (*content, error) {
	const query = `
		SELECT v.id, b.ref, b.form, b.size, b.sum, b.body, coalesce(c.id, 0)
		FROM session_blobs v JOIN blobs b ON b.id = v.blob LEFT JOIN contents c ON c.blob = b.id
		WHERE v.session = ?1 AND v.id >= ?2 ORDER BY v.id LIMIT 1`
	from := b.given
	if b.at < 0 {
		from++
	}
	for {
		var row body
		var given int64
		c := &content{ctx: ctx, store: b.store}
		err := b.store.read(ctx, func(l *lane) error {
			return l.one(ctx, query, []any{b.session, from}, &given, &c.ref, &row.form, &row.size, &row.sum, &row.data, &c.id)
		})
		if noRow(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if given > b.given {
			b.given, b.at, b.line = given, 0, 0
		}
		if c.take(row) == nil {
			return c, nil
		}
		b.at = -1
		from = given + 1
	}
}

// read takes passages of a content until it ends or there are enough. What cannot be read of
// it is left out.
func (b *batch) read(c *content) error {
	prose, err := store.ProseOf(c)
	if err != nil && !unreadable(err) {
		return err
	}
	for p, err := range prose.Passages(store.Passage{Offset: b.at, Line: b.line}) {
		if unreadable(err) {
			break
		}
		if err != nil {
			return err
		}
		if len(b.found) == batchPassages {
			b.at, b.line = p.Offset, p.Line
			return nil
		}
		b.found = append(b.found, passage{b.given, p.Offset, p.Line, strings.Join(store.Terms(p.Text), " ")})
	}
	b.at = -1
	return nil
}

// unreadable reports whether an error is about one content: it is damaged, or gone.
func unreadable(err error) bool {
	_, damaged := errors.AsType[*store.DamageError](err)
	return damaged || errors.Is(err, store.ErrNotFound)
}

// write keeps what was gathered, unless somebody else has done so, or the session is gone.
func (b *batch) write(ctx context.Context, l *lane) error {
	now, err := l.progressOf(ctx, b.session)
	if err != nil || now != b.begun {
		return err
	}
	if err := l.one(ctx, "SELECT 1 FROM sessions WHERE id = ?1", []any{b.session}, new(int)); err != nil {
		if noRow(err) {
			return nil
		}
		return err
	}
	// First all of the one, then of the other: a statement on another table lets SQLite
	// write out what it has of an index.
	var kept []string
	for _, p := range b.found {
		// A content that was let go of meanwhile has no passages.
		n, err := l.changed(ctx, "INSERT INTO passages (id, given, at, line) SELECT ?1, id, ?3, ?4 FROM session_blobs WHERE id = ?2",
			b.number(len(kept)), p.given, p.at, p.line)
		if err != nil {
			return err
		}
		if n == 1 {
			kept = append(kept, p.terms)
		}
	}
	for i, terms := range kept {
		if _, err := l.exec(ctx, "INSERT INTO terms (rowid, text) VALUES (?1, ?2)", b.number(i), terms); err != nil {
			return err
		}
	}
	b.passages += int64(len(kept))
	const keep = `
		INSERT INTO indexed (session, given, at, line, passages) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (session) DO UPDATE SET given = excluded.given, at = excluded.at, line = excluded.line, passages = excluded.passages`
	_, err = l.exec(ctx, keep, b.session, b.given, b.at, b.line, b.passages)
	return err
}

// number is that of a new passage.
func (b *batch) number(i int) int64 { return b.session<<sessionBits | (b.passages + int64(i)) }

// forget lets go of the terms of passages that are gone. If they are damaged all are made anew.
func (l *lane) forget(ctx context.Context) error {
	var left bool
	err := l.one(ctx, "SELECT EXISTS (SELECT 1 FROM passages)", nil, &left)
	if err == nil && left {
		_, err = l.exec(ctx, "DELETE FROM terms WHERE rowid IN (SELECT id FROM terms_docsize WHERE id NOT IN (SELECT id FROM passages))")
	}
	if isDamage(err) || err == nil && !left {
		_, err = l.exec(ctx, "INSERT INTO terms (terms) VALUES ('delete-all')")
		for _, table := range []string{"passages", "indexed"} {
			if err == nil && left {
				_, err = l.exec(ctx, "DELETE FROM "+table)
			}
		}
	}
	return err
}
