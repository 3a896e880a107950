package gateway

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/store"
)

// save takes the snapshot of a branch that is due, while nobody waits for it: the request that
// something was taken out of has left, and its reply has been told. Where a request of the
// conversation has come meanwhile it is left to the end of that one.
func (g *Gateway) save(f *family, b *branch) {
	if !g.store.snapshots() || !g.saving.TryRLock() {
		return
	}
	go func() {
		defer g.saving.RUnlock()
		if !f.mu.TryLock() {
			return
		}
		defer f.mu.Unlock()
		if b.session == nil || f.stale.Load() {
			return
		}
		ctx, cancel := within(context.Background(), mostHeard)
		defer cancel()
		if err := g.store.flush(ctx, b.name); err != nil {
			g.unwritten(f, b.name, err)
			return
		}
		if err := b.session.Snapshot(ctx); err != nil { // it is read from its records
			g.options.Log.Warn("a snapshot was not kept", "session", b.name, "error", err.Error())
		}
	}()
}

// snapshots reports whether the store keeps snapshots that outlive this process.
func (b *behind) snapshots() bool {
	_, memory := b.Store.(*store.Memory)
	_, ok := b.Store.(store.Snapshotter)
	return ok && !memory
}

// PutSnapshot implements [store.Snapshotter], where the store is one.
func (b *behind) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	s, ok := b.Store.(store.Snapshotter)
	if !ok {
		return nil
	}
	return promptly(ctx, func() error { return s.PutSnapshot(ctx, session, seq, data) })
}

// Snapshot implements [store.Snapshotter], where the store is one.
func (b *behind) Snapshot(ctx context.Context, session string) (seq int, data []byte, err error) {
	if s, ok := b.Store.(store.Snapshotter); ok {
		return s.Snapshot(ctx, session)
	}
	return 0, nil, store.ErrNotFound
}

// SnapshotAt implements [store.Snapshotter], where the store is one.
func (b *behind) SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error) {
	if s, ok := b.Store.(store.Snapshotter); ok {
		return s.SnapshotAt(ctx, session, seq)
	}
	return nil, store.ErrNotFound
}
