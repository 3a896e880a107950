package sqlite

import (
	"context"
	"fmt"
	"sync"
)

const (
	tidyEvery = 128    // commits, between two looks at the log
	tidyTries = 3      // at a moment when nobody writes
	mostLog   = 8_000  // pages of a log that is to begin anew
	endOfLog  = 32_000 // pages of a log at which the writer itself moves them, whatever waits for it
)

// A tidier moves what is in the log into the file, beside the writes: whoever writes would
// have to wait for the disk.
type tidier struct {
	lane    *lane // nil: there is no log
	commits int   // of the writer when it began last; the writer's lane guards it
	mu      sync.Mutex
	running bool
	closed  bool
	all     sync.WaitGroup
}

// keepTidy begins to look after the log. The writer w is in nobody's hands yet.
func (s *Store) keepTidy(ctx context.Context, w *lane, open func() (*lane, error)) (err error) {
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", endOfLog)); err != nil {
		return err
	}
	s.tidier.lane, err = open()
	return err
}

// wrote gives the writer back. Now and then the log is looked after, which nobody waits for.
func (s *Store) wrote(l *lane) {
	t := &s.tidier
	due := t.lane != nil && l.commits-t.commits >= tidyEvery
	if due {
		t.commits = l.commits
	}
	s.writer <- l
	if due {
		t.begin(func() { s.tidy(context.Background()) })
	}
}

// begin runs f, unless it is running or the store is closed.
func (t *tidier) begin(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running || t.closed {
		return
	}
	t.running = true
	t.all.Go(func() {
		f()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running = false
	})
}

// tidy moves what is in the log. Once there is nothing in it that is not moved the log
// begins anew with the next write. If that does not come about by itself, and the log is
// long, the writer waits for the little that was written meanwhile. What fails is tried
// again later, and at the latest the writer's affair.
func (s *Store) tidy(ctx context.Context) {
	l, pages := s.tidier.lane, 0
	for range tidyTries {
		all, moved, err := l.moveLog(ctx)
		if err != nil || all == moved {
			return
		}
		pages = all
	}
	if pages < mostLog {
		return
	}
	w, err := s.take(ctx, s.writer)
	if err != nil {
		return
	}
	defer func() { s.writer <- w }()
	_, _, _ = l.moveLog(ctx)
}

// moveLog moves what is in the log into the file, without waiting for anybody. It returns
// how many pages the log has, and how many of them are moved.
func (l *lane) moveLog(ctx context.Context) (pages, moved int, err error) {
	var busy int
	err = l.one(ctx, "PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &pages, &moved)
	return pages, moved, err
}

// close waits for what is running and closes the lane.
func (t *tidier) close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.all.Wait()
	if t.lane == nil {
		return nil
	}
	return t.lane.close()
}
