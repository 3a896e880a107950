package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Open implements [store.Opener]. What is read is compared with a checksum piece by
// piece. One piece, of 256 KiB, is in memory; of a content that a version before pieces
// has kept, all of it is. Nothing in the file is held between reads, so that a content
// that is let go of meanwhile is not found any more.
func (s *Store) Open(ctx context.Context, session string, ref llm.Ref) (store.Content, error) {
	c, err := s.open(ctx, session, ref)
	if err != nil {
		return nil, named(ctx, err, "open from %q", session)
	}
	return c, nil
}

// open is Open, with errors that do not say what was done.
func (s *Store) open(ctx context.Context, session string, ref llm.Ref) (*content, error) {
	if err := usable(ctx, session); err != nil {
		return nil, err
	}
	var b body
	c := &content{ctx: ctx, store: s, session: session, ref: ref}
	err := s.read(ctx, func(l *lane) error {
		return l.one(ctx, seen, []any{[]byte(session), string(ref)}, &b.form, &b.size, &b.sum, &b.data, &c.id)
	})
	if noRow(err) {
		return nil, c.missing()
	}
	if err != nil {
		return nil, err
	}
	if err := c.take(b); err != nil {
		return nil, owned(err, session, "ref %s", ref)
	}
	return c, nil
}

// A content is one that is being read.
type content struct {
	ctx     context.Context
	store   *Store
	session string
	ref     llm.Ref
	index   *index
	id      int64 // the row of contents; 0: data is all of it

	mu     sync.Mutex
	data   []byte // of the piece at
	at     int
	closed bool
}

var _ store.Content = (*content)(nil)

// take makes the content of the row of a blob. An error is like that of unpack.
func (c *content) take(b body) (err error) {
	if b.form == formPieces {
		c.at = -1
		c.index, err = c.store.packer.index(b, c.ref)
		if err == nil && c.id == 0 {
			err = flaw("pieces", len(c.index.pieces), "none")
		}
		return err
	}
	c.id = 0
	if c.data, err = c.store.packer.blob(b, c.ref); err != nil {
		return err
	}
	c.index = &index{ref: c.ref}
	if len(c.data) > 0 {
		c.index.add(c.data, b.sum)
	}
	return nil
}

// missing says that a session does not have it.
func (c *content) missing() error { return fmt.Errorf("ref %.40q: %w", c.ref, store.ErrNotFound) }

// Size implements [store.Content].
func (c *content) Size() int64 { return c.index.size }

// Lines implements [store.Content].
func (c *content) Lines() int64 { return c.index.lines }

// Close implements [store.Content].
func (c *content) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.data, c.at = true, nil, -1
	return nil
}

// ReadAt implements [store.Content].
func (c *content) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.read(p, off)
	if err == io.EOF { //nolint:errorlint // what a ReaderAt returns is io.EOF itself
		return n, err
	}
	return n, named(c.ctx, err, "read from %q", c.session)
}

// read is ReadAt, with errors that do not say what was done.
func (c *content) read(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("offset, want at least 0, got %d", off)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(p) {
		at := off + int64(n)
		if at >= c.Size() {
			return n, c.usable(io.EOF)
		}
		data, from, err := c.piece(at)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at-from:])
	}
	return n, c.usable(nil)
}

// Line implements [store.Content].
func (c *content) Line(n int64) (offset int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case n < 0 || n > c.Lines():
		err = fmt.Errorf("line, want 0 to %d, got %d", c.Lines(), n)
	case n == 0:
		err = c.usable(nil)
	case n == c.Lines():
		offset, err = c.Size(), c.usable(nil)
	default:
		offset, err = c.line(n)
	}
	return offset, named(c.ctx, err, "line of %q", c.session)
}

// line returns where a line begins that is neither the first nor beyond the last: behind
// the newline with its number. c.mu is held.
func (c *content) line(n int64) (int64, error) {
	i := c.index.find(n)
	data, from, err := c.piece(int64(i) * pieceBytes)
	if err != nil {
		return 0, err
	}
	offset := from
	for left := n - c.index.pieces[i].breaks; left > 0; left-- {
		at := bytes.IndexByte(data[offset-from:], '\n')
		if at < 0 {
			return 0, owned(flaw("newlines of a piece", n-c.index.pieces[i].breaks, n-c.index.pieces[i].breaks-left), c.session, "ref %s", c.ref)
		}
		offset += int64(at) + 1
	}
	return offset, nil
}

// usable returns err, or why nothing can be read any more. c.mu is held.
func (c *content) usable(err error) error {
	if c.closed {
		return fs.ErrClosed
	}
	if over := c.ctx.Err(); over != nil {
		return over
	}
	return err
}

// piece returns the piece that an offset is in, and its own offset. c.mu is held.
func (c *content) piece(off int64) (data []byte, from int64, err error) {
	if err := c.usable(nil); err != nil || c.id == 0 {
		return c.data, 0, err
	}
	i := int(off / pieceBytes)
	from = int64(i) * pieceBytes
	if i == c.at {
		return c.data, from, nil
	}
	c.at = -1
	err = c.store.read(c.ctx, func(l *lane) error { return c.load(l, i) })
	if err != nil {
		return nil, 0, owned(err, c.session, "ref %s, bytes %d to %d", c.ref, from, from+c.index.extent(i))
	}
	c.at = i
	return c.data, from, nil
}

// load reads a piece into data. c.mu is held.
func (c *content) load(l *lane, i int) error {
	found := false
	err := l.each(c.ctx, func(r *sql.Rows) (err error) {
		var form int
		var packed sql.RawBytes // as long as the row
		if err := r.Scan(&form, &packed); err != nil {
			return err
		}
		found = true
		c.data, err = c.store.packer.piece(c.data, c.index, i, body{form: form, data: packed})
		return err
	}, "SELECT form, body FROM pieces WHERE content = ?1 AND seq = ?2", c.id, i)
	if err != nil || found {
		return err
	}
	err = l.one(c.ctx, "SELECT 1 FROM contents WHERE id = ?1", []any{c.id}, new(int))
	switch {
	case noRow(err):
		err = c.missing()
	case err == nil:
		err = flaw("piece", i, "nothing")
	}
	return err
}
