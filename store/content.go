package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Open implements [Opener]. The content stays as it was, whatever becomes of the session.
func (m *Memory) Open(ctx context.Context, session string, ref llm.Ref) (Content, error) {
	data, err := m.get(ctx, session, ref)
	if err != nil {
		return nil, fmt.Errorf("store: open from %q: %w", session, err)
	}
	c := &content{ctx: ctx, session: session, data: data, lines: int64(bytes.Count(data, []byte("\n")))}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		c.lines++
	}
	return c, nil
}

// A content is one of a Memory that is being read.
type content struct {
	ctx     context.Context
	session string
	data    []byte
	lines   int64
	closed  atomic.Bool
}

// Size implements [Content].
func (c *content) Size() int64 { return int64(len(c.data)) }

// Lines implements [Content].
func (c *content) Lines() int64 { return c.lines }

// Close implements [Content].
func (c *content) Close() error {
	c.closed.Store(true)
	return nil
}

// ReadAt implements [Content].
func (c *content) ReadAt(p []byte, off int64) (n int, err error) {
	switch err := c.usable(); {
	case err != nil:
		return 0, fmt.Errorf("store: read from %q: %w", c.session, err)
	case off < 0:
		return 0, fmt.Errorf("store: read from %q: offset, want at least 0, got %d", c.session, off)
	}
	if off < c.Size() {
		n = copy(p, c.data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Line implements [Content].
func (c *content) Line(n int64) (int64, error) {
	err := c.usable()
	if err == nil && (n < 0 || n > c.lines) {
		err = fmt.Errorf("line, want 0 to %d, got %d", c.lines, n)
	}
	if err != nil {
		return 0, fmt.Errorf("store: line of %q: %w", c.session, err)
	}
	at := 0
	for range n {
		next := bytes.IndexByte(c.data[at:], '\n')
		if next < 0 {
			return c.Size(), nil // behind the last line
		}
		at += next + 1
	}
	return int64(at), nil
}

// usable reports why nothing can be read any more.
func (c *content) usable() error {
	if c.closed.Load() {
		return fs.ErrClosed
	}
	return c.ctx.Err()
}

// Search implements [Searcher]. It reads all that a session sees.
func (m *Memory) Search(ctx context.Context, session, query string, limit int) ([]Hit, error) {
	q, s := NewQuery(query), Spread{Found: map[string]int{}}
	refs, err := m.newest(ctx, session)
	var all []Candidate
	for _, ref := range refs {
		own, fault := m.candidates(ctx, session, ref)
		if _, damaged := errors.AsType[*DamageError](fault); damaged {
			continue
		}
		if err = fault; err != nil {
			break
		}
		slices.Reverse(own)
		all = append(all, own...)
	}
	if err != nil {
		return nil, fmt.Errorf("store: search in %q: %w", session, err)
	}
	for _, c := range all {
		for _, t := range Terms(c.Text) {
			s.Found[t]++
		}
	}
	s.Passages = len(all)
	return q.Rank(all, s, limit), nil
}

// candidates returns the passages of a content.
func (m *Memory) candidates(ctx context.Context, session string, ref llm.Ref) (all []Candidate, err error) {
	c, err := m.Open(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	prose, err := ProseOf(c)
	for p, fault := range prose.Passages(Passage{}) {
		if err = fault; err != nil {
			break
		}
		all = append(all, Candidate{ref, p.clone()})
	}
	return all, err
}

// newest returns the refs that a session sees, the one that was given last first.
func (m *Memory) newest(ctx context.Context, session string) ([]llm.Ref, error) {
	if err := usable(ctx, session); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.sessions[session]
	if !ok {
		return nil, nil
	}
	return slices.SortedFunc(maps.Keys(s.refs), func(a, b llm.Ref) int { return s.refs[b] - s.refs[a] }), nil
}

// Index implements [Searcher]. There is nothing to be made ready.
func (m *Memory) Index(ctx context.Context, session string) error { return usable(ctx, session) }
