package loop

import (
	"context"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Saved returns the state of a runner's machine.
func (r *Runner) Saved() []byte { return r.machine.Save() }

// Replayed returns the state that the records of a loop amount to.
func Replayed(ctx context.Context, o Options, id string) ([]byte, error) {
	again, err := replay(ctx, o.Store, o.Counter, id)
	if err != nil {
		return nil, err
	}
	return again.machine.Save(), nil
}

// States returns how many records have the whole state.
func States(ctx context.Context, st store.Store, id string) int {
	n := 0
	for r, err := range records(ctx, st, id) {
		if err == nil && r.State != nil {
			n++
		}
	}
	return n
}

// A Watcher looks at a workspace.
type Watcher struct{ w *watcher }

// NewWatcher returns one for a folder.
func NewWatcher(dir string) Watcher { return Watcher{newWatcher(dir)} }

// Look returns what changed.
func (w Watcher) Look(ctx context.Context) []core.FileEvent {
	events, _ := w.w.look(ctx, 1_000_000)
	return events
}

// Listen has the system say when files change, at the times that now tells.
func (w Watcher) Listen(now func() int64) error { return w.w.listen(now) }

// Heard reports whether the system has said of a change of a file since the last look.
func (w Watcher) Heard(path string) bool {
	n := w.w.heard
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.times[path] > 0
}

// Listening reports whether it still does, and for how many folders.
func (w Watcher) Listening() (folders int, ok bool) {
	if w.w.heard == nil {
		return 0, false
	}
	return len(w.w.heard.watched), true
}

// Deaf ends that.
func (w Watcher) Deaf() { _ = w.w.deaf() }

// MostWatched is how many folders are watched at most.
const MostWatched = mostWatched
