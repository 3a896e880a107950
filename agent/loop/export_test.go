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
func (w Watcher) Look(ctx context.Context) []core.FileEvent { return w.w.look(ctx, 1) }
