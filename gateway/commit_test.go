package gateway_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A committer keeps contents and records at once, and counts what has to reach the disk
// before it returns.
type committer struct {
	frail
	contents, commits, appends atomic.Int64
	full                       atomic.Bool // it takes no contents
}

func (c *committer) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	c.appends.Add(1)
	return c.frail.Append(ctx, session, seq, records)
}

func (c *committer) AppendUnflushed(ctx context.Context, session string, seq int, records [][]byte) error {
	return c.frail.Append(ctx, session, seq, records)
}

func (c *committer) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	c.contents.Add(1)
	if c.full.Load() {
		return errFull
	}
	return c.frail.Put(ctx, session, blobs)
}

func (c *committer) Commit(ctx context.Context, session string, seq int, records [][]byte, blobs []edit.Blob) error {
	c.commits.Add(1)
	if c.full.Load() {
		return errFull
	}
	if err := c.frail.Put(ctx, session, blobs); err != nil {
		return err
	}
	return c.frail.Append(ctx, session, seq, records)
}

var (
	_ store.Committer = (*committer)(nil)
	_ store.Unflusher = (*committer)(nil)
)

// edits has a client read large files until a request is edited anew, and returns that one, with
// what had been counted before it.
func (c *committer) edits(t *testing.T, g *gateway.Gateway, talk *talk) (x *gateway.Exchange, commits, appends int64) {
	t.Helper()
	for range 40 {
		commits, appends = c.commits.Load(), c.appends.Load()
		x := talk.reads(60).sends(g)
		if x.Edited() {
			return x, commits, appends
		}
		ends(t, x)
	}
	t.Fatal("no request was edited")
	return nil, 0, 0
}

// TestEditedOnce: what is taken out of a request, and that it was, is on the disk with one write, before
// the request leaves. Whoever takes the conversation up from there sends the same.
func TestEditedOnce(t *testing.T) {
	s := &committer{}
	g := begin(t, s)
	c := newTalk(t, "Read them.")
	x, commits, appends := s.edits(t, g, c)
	if !x.Edited() || s.commits.Load() != commits+1 || s.appends.Load() != appends || s.contents.Load() > 0 {
		t.Errorf("edited: %v, with %d commits, %d appends and %d contents by themselves, want one commit",
			x.Edited(), s.commits.Load()-commits, s.appends.Load()-appends, s.contents.Load())
	}
	again := c.sends(begin(t, s))
	if string(again.Body()) != string(x.Body()) {
		t.Errorf("taken up, it sends\n%s\nwant\n%s", again.Body(), x.Body())
	}
}

// TestContentsFail: where a store takes records and no contents, what was heard goes on waiting
// for it, and the next request is edited once it takes them.
func TestContentsFail(t *testing.T) {
	s := &committer{}
	g := begin(t, s)
	c := newTalk(t, "Read them.")
	s.full.Store(true)
	passed := 0
	for range 20 {
		x, err := g.Begin(t.Context(), c.reads(120).call())
		if err != nil {
			_ = refused(t, err)
			continue
		}
		if x.Edited() {
			t.Fatal("it left edited, and nothing is stored")
		}
		passed++
		ends(t, x)
	}
	if passed == 0 || s.commits.Load() == 0 {
		t.Fatalf("%d passed, %d commits were tried", passed, s.commits.Load())
	}
	s.full.Store(false)
	x := c.reads(5).sends(g)
	if !x.Edited() || x.Report().Passed != "" {
		t.Errorf("when there is room again: got %+v", x.Report())
	}
	ends(t, x)
	if again := c.reads(5).sends(begin(t, s)); !again.Edited() || again.Report().Passed != "" {
		t.Errorf("taken up: got %+v", again.Report())
	}
}
