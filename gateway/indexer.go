package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/store"
)

// idle is for how long no exchange has begun when what has left conversations is made ready to
// be searched.
const idle = time.Second

// An indexer makes ready what has left conversations while nobody asks for anything, so that
// the first search in one does not wait for that. Where a request comes it stops, and goes on
// later.
type indexer struct {
	store store.Searcher
	log   *slog.Logger

	mu      sync.Mutex
	due     map[string]bool // the sessions
	timer   *time.Timer     // runs it; nil: nothing was due yet
	stop    context.CancelFunc
	running chan struct{} // closed at the end; nil: it does not run
	closed  bool
}

func newIndexer(s store.Searcher, log *slog.Logger) *indexer {
	return &indexer{store: s, log: log, due: map[string]bool{}}
}

// left says that something has left the view of a session.
func (i *indexer) left(session string) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.due[session] = true
	i.wait()
}

// busy says that somebody asks for something.
func (i *indexer) busy() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stop != nil {
		i.stop()
	}
	if i.timer != nil {
		i.wait()
	}
}

// wait has it run a while from now on. The lock is held.
func (i *indexer) wait() {
	switch {
	case i.closed || len(i.due) == 0:
	case i.timer == nil:
		i.timer = time.AfterFunc(idle, i.run)
	default:
		i.timer.Reset(idle)
	}
}

// run indexes what is due, unless it is stopped.
func (i *indexer) run() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || i.running != nil {
		i.wait()
		return
	}
	i.stop, i.running = stop, make(chan struct{})
	for session := range i.due {
		delete(i.due, session)
		i.mu.Unlock()
		err := i.store.Index(ctx, session)
		i.mu.Lock()
		if ctx.Err() != nil { // what is done is kept
			i.due[session] = true
			break
		}
		if err != nil {
			i.log.Warn("what has left a conversation is not ready to be searched", "session", session, "error", err)
		}
	}
	close(i.running)
	i.stop, i.running = nil, nil
	i.wait()
}

// close ends it: the store is not touched any more.
func (i *indexer) close() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	if i.timer != nil {
		i.timer.Stop()
	}
	if i.stop != nil {
		i.stop()
	}
	if running := i.running; running != nil {
		i.mu.Unlock()
		<-running
		i.mu.Lock()
	}
}
