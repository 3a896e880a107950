package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// seen finds the blob ?2 among those that the session ?1 sees: what it and its
// ancestors were given, of each ancestor up to the moment of the fork.
const seen = `
	WITH RECURSIVE line (at, bound) AS (
		SELECT id, 9223372036854775807 FROM sessions WHERE name = ?1
		UNION ALL
		SELECT s.parent, s.fork_blob FROM line l JOIN sessions s ON s.id = l.at WHERE s.parent < s.id
	)
	SELECT b.form, b.size, b.sum, b.body, coalesce((SELECT c.id FROM contents c WHERE c.blob = b.id), 0)
	FROM blobs b CROSS JOIN line l CROSS JOIN session_blobs v
	WHERE b.ref = ?2 AND v.session = l.at AND v.blob = b.id AND v.id <= l.bound LIMIT 1`

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	err := usable(ctx, session)
	var all []packed
	if err == nil {
		all, err = s.packer.packBlobs(session, blobs)
	}
	if err == nil {
		err = s.keep(ctx, session, all)
	}
	return named(ctx, err, "put into %q", session)
}

// packBlobs makes blobs ready to be kept.
func (p *packer) packBlobs(session string, blobs []edit.Blob) ([]packed, error) {
	all := make([]packed, len(blobs))
	for i, b := range blobs {
		if want := llm.RefOf(b.Data); b.Ref != want {
			return nil, fmt.Errorf("ref of %d bytes, want %s, got %.40q", len(b.Data), want, b.Ref)
		}
		all[i] = packed{session: session, ref: b.Ref}
		if err := p.packWhole(&all[i], b.Data); err != nil {
			return nil, err
		}
	}
	return all, nil
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
	pieces  []body // the last ones of a body in pieces
	content int64  // the row of contents that has those before; 0: there are none
}

// packWhole makes the bodies of a content that is in memory.
func (p *packer) packWhole(into *packed, data []byte) error {
	if len(data) <= pieceBytes {
		b, err := p.pack(data)
		into.body = b
		return err
	}
	x, pieces, err := p.cut(data, into.ref)
	if err == nil {
		into.body, into.pieces = p.indexed(x), pieces
	}
	return err
}

// put gives the session with a number a blob, unless it sees it already.
func (s *Store) put(ctx context.Context, l *lane, id int64, p packed) error {
	known := false
	err := l.each(ctx, func(*sql.Rows) error {
		known = true
		return errStop
	}, seen, []byte(p.session), string(p.ref))
	if err != nil {
		return err
	}
	if known {
		return l.drop(ctx, p.content)
	}
	b := p.body
	const insert = "INSERT INTO blobs (ref, form, size, sum, body) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ref) DO NOTHING"
	n, err := l.changed(ctx, insert, string(p.ref), b.form, b.size, b.sum, b.data)
	if err == nil && n == 1 && b.form == formPieces {
		err = s.adopt(ctx, l, p)
	} else if err == nil && n == 0 {
		err = l.drop(ctx, p.content) // it is there: another session has it
	}
	if err != nil {
		return err
	}
	_, err = l.exec(ctx, "INSERT INTO session_blobs (session, blob, created) SELECT ?1, id, ?3 FROM blobs WHERE ref = ?2", id, string(p.ref), s.stamp())
	return err
}

// adopt gives a blob its pieces.
func (s *Store) adopt(ctx context.Context, l *lane, p packed) (err error) {
	now := s.now()
	if p.content == 0 {
		p.content, err = l.beginContent(ctx, now)
	} else {
		err = l.touch(ctx, p.content, now)
	}
	if err != nil {
		return err
	}
	all := (p.body.size + pieceBytes - 1) / pieceBytes
	if err := l.addPieces(ctx, p.content, int(all)-len(p.pieces), p.pieces); err != nil {
		return err
	}
	_, err = l.exec(ctx, "UPDATE contents SET blob = (SELECT id FROM blobs WHERE ref = ?2) WHERE id = ?1", p.content, string(p.ref))
	return err
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, session string, ref llm.Ref) ([]byte, error) {
	data, err := s.get(ctx, session, ref)
	return data, named(ctx, err, "get from %q", session)
}

func (s *Store) get(ctx context.Context, session string, ref llm.Ref) ([]byte, error) {
	c, err := s.open(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	if c.id == 0 {
		return c.data, nil
	}
	data := make([]byte, c.Size())
	if _, err := c.read(data, 0); err != nil {
		return nil, err
	}
	if got := llm.RefOf(data); got != ref {
		return nil, owned(flaw("ref of the content", ref, got), session, "ref %s", ref)
	}
	return data, nil
}
