package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Contents returns what a session sees in a store, for a host of the tools of package builtin
// that has not opened the session: another program may be at work on it. A search is over
// all of it, as such a host does not know what the model has before it.
func Contents(st store.Store, session string) builtin.Source {
	return contents{store: st, session: session}
}

// contents are what the tools of package builtin read from.
type contents struct {
	store   store.Store
	session string
	// left returns the Refs of what has left the view, and whether a search is for it; nil: it
	// is for all.
	left func() map[llm.Ref]bool
}

// Open implements builtin.Source. What is not there although an edit names it has been lost.
func (c contents) Open(ctx context.Context, ref llm.Ref) (builtin.Content, error) {
	opened, err := c.open(ctx, ref)
	if errors.Is(err, builtin.ErrNotFound) && c.hasLeft(ref) {
		err = fmt.Errorf("%w: nothing is there", builtin.ErrDamaged)
	}
	return opened, err
}

func (c contents) open(ctx context.Context, ref llm.Ref) (builtin.Content, error) {
	if o, ok := c.store.(store.Opener); ok {
		opened, err := o.Open(ctx, c.session, ref)
		if err != nil {
			return nil, asSource(err)
		}
		return content{opened}, nil
	}
	data, err := c.store.Get(ctx, c.session, ref)
	if err != nil {
		return nil, asSource(err)
	}
	var held store.Memory
	if err := held.Put(ctx, c.session, []edit.Blob{{Ref: ref, Data: data}}); err != nil {
		return nil, err
	}
	return held.Open(ctx, c.session, ref)
}

// A content says in the words of package builtin what is wrong with it.
type content struct{ store.Content }

// ReadAt implements io.ReaderAt.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Content.ReadAt(p, off)
	return n, asSource(err)
}

// Line implements builtin.Content.
func (c content) Line(n int64) (int64, error) {
	at, err := c.Content.Line(n)
	return at, asSource(err)
}

// Search implements builtin.Source. What several contents say alike, as an archive does that
// holds what one before it had, is found in the best of them alone.
func (c contents) Search(ctx context.Context, query string, limit int) ([]builtin.Hit, error) {
	st, ok := c.store.(store.Searcher)
	if !ok {
		return nil, fmt.Errorf("plimsoll: session %q: search: want a store.Searcher, got a %T", c.session, c.store)
	}
	found, err := st.Search(ctx, c.session, query, limit*searchMore)
	if err != nil {
		return nil, asSource(err)
	}
	var left map[llm.Ref]bool
	if c.left != nil {
		left = c.left()
	}
	var hits []builtin.Hit
	said := map[string]bool{}
	for _, h := range found {
		if (c.left == nil || left[h.Ref]) && len(hits) < limit && news(said, h.Text) {
			hits = append(hits, builtin.Hit{Ref: h.Ref, Offset: h.Offset, Line: h.Line, Text: h.Text, Said: h.Said})
		}
	}
	return hits, nil
}

// news reports whether a passage says something that was not said: a quarter of its lines, by
// their bytes and each counted once, is new. If so, they have been said then.
func news(said map[string]bool, text string) bool {
	all, known := map[string]bool{}, 0
	size := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); all[line] {
			continue
		}
		all[line] = true
		size += len(line)
		if said[line] {
			known += len(line)
		}
	}
	if known*4 > size*3 {
		return false
	}
	maps.Copy(said, all)
	return true
}

// searchMore is how many times more passages are asked for than are wanted, since some may
// be of outputs that the model sees, or say the same.
const searchMore = 4

// hasLeft reports whether something has ever left the view.
func (c contents) hasLeft(ref llm.Ref) bool {
	if c.left == nil {
		return false
	}
	_, ok := c.left()[ref]
	return ok
}

// left returns the Refs of all that edits have ever taken out of the view (what has never left
// it the model sees already), and whether a search finds it: what a tool of ours gave back it
// finds where that came from.
func (s *Session) left() map[llm.Ref]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := map[llm.Ref]bool{}
	for _, e := range s.machine.Journal() {
		for _, ref := range e.Refs {
			left[ref] = true
		}
	}
	for _, e := range s.machine.Journal() {
		if e.Op == edit.Replace && s.machine.Answers(e.Span.From, e.Part) {
			for _, ref := range e.Refs {
				left[ref] = false
			}
		}
	}
	return left
}

// asSource returns an error of the store in the words of package builtin.
func asSource(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", builtin.ErrNotFound, err)
	}
	if _, damaged := errors.AsType[*store.DamageError](err); damaged {
		return fmt.Errorf("%w: %w", builtin.ErrDamaged, err)
	}
	return err
}
