package crosscheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// errStore is what a shelf answers when it is told to fail.
var errStore = errors.New("the disk is full")

// A shelf is a store in memory that knows its own history, so that it can be had again as it was at any time, and that fails on demand.
type shelf struct {
	*store.Memory
	mu       sync.Mutex
	history  []func(context.Context, *store.Memory) error
	failPuts int // so many of the next are refused
	failAdds int
}

func newShelf() *shelf { return &shelf{Memory: new(store.Memory)} }

func (s *shelf) note(f func(context.Context, *store.Memory) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, f)
}

func (s *shelf) fails(n *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *n <= 0 {
		return false
	}
	*n--
	return true
}

// length is how much has happened so far.
func (s *shelf) length() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.history)
}

// at returns the shelf as it was after n things.
func (s *shelf) at(ctx context.Context, n int) (*shelf, error) {
	s.mu.Lock()
	past := s.history[:n:n]
	s.mu.Unlock()
	c := newShelf()
	for _, f := range past {
		if err := f(ctx, c.Memory); err != nil {
			return nil, err
		}
		c.history = append(c.history, f)
	}
	return c, nil
}

func (s *shelf) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	if s.fails(&s.failAdds) {
		return errStore
	}
	if err := s.Memory.Append(ctx, session, seq, records); err != nil {
		return err
	}
	kept := make([][]byte, len(records))
	for i, r := range records {
		kept[i] = append([]byte(nil), r...)
	}
	s.note(func(ctx context.Context, m *store.Memory) error { return m.Append(ctx, session, seq, kept) })
	return nil
}

func (s *shelf) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if s.fails(&s.failPuts) {
		return errStore
	}
	if err := s.Memory.Put(ctx, session, blobs); err != nil {
		return err
	}
	kept := make([]edit.Blob, len(blobs))
	for i, b := range blobs {
		kept[i] = edit.Blob{Ref: b.Ref, Data: append([]byte(nil), b.Data...)}
	}
	s.note(func(ctx context.Context, m *store.Memory) error { return m.Put(ctx, session, kept) })
	return nil
}

func (s *shelf) PutFrom(ctx context.Context, session string, r io.Reader) (llm.Ref, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	if s.fails(&s.failPuts) {
		return "", 0, errStore
	}
	put := func(ctx context.Context, m *store.Memory) (llm.Ref, int64, error) {
		return m.PutFrom(ctx, session, bytes.NewReader(data))
	}
	ref, size, err := put(ctx, s.Memory)
	if err == nil {
		s.note(func(ctx context.Context, m *store.Memory) error { _, _, err := put(ctx, m); return err })
	}
	return ref, size, err
}

func (s *shelf) Fork(ctx context.Context, parent, child string, seq int) error {
	if err := s.Memory.Fork(ctx, parent, child, seq); err != nil {
		return err
	}
	s.note(func(ctx context.Context, m *store.Memory) error { return m.Fork(ctx, parent, child, seq) })
	return nil
}
