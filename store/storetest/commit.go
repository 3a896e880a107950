package storetest

import (
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// testCommit keeps contents and records at once, or nothing of them.
func testCommit(t *testing.T, s store.Store) {
	c, ok := s.(store.Committer)
	if !ok {
		t.Skipf("%T keeps contents and records one after the other", s)
	}
	ctx := t.Context()
	must(t, c.Commit(ctx, "a", 0, lines("one", "two"), []edit.Blob{blobOf("x"), blobOf("y"), blobOf("x")}))
	must(t, c.Commit(ctx, "a", 2, lines("three"), []edit.Blob{blobOf("x")}))
	must(t, c.Commit(ctx, "b", 0, nil, []edit.Blob{blobOf("x")}))
	must(t, c.Commit(ctx, "b", 0, lines("other"), nil))
	see(t, s).records("a", 0, "one", "two", "three")
	see(t, s).records("b", 0, "other")
	see(t, s).blob("a", "x", true)
	see(t, s).blob("a", "y", true)
	see(t, s).blob("b", "x", true)
	see(t, s).blob("b", "y", false)

	var conflict *store.ConflictError
	if err := c.Commit(ctx, "a", 2, lines("lost"), []edit.Blob{blobOf("lost")}); !errors.As(err, &conflict) || conflict.Want != 3 {
		t.Errorf("at 2 of 3: want a *ConflictError, got %v", err)
	}
	if err := c.Commit(ctx, "new", 1, lines("lost"), []edit.Blob{blobOf("lost")}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("in a session that has not begun: want a conflict, got %v", err)
	}
	if err := c.Commit(ctx, "a", 3, lines("lost"), []edit.Blob{blobOf("z"), {Ref: blobOf("other").Ref, Data: []byte("lost")}}); err == nil {
		t.Error("a blob under another's ref: want an error, got nil")
	}
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a conflict began a session: want ErrNotFound, got %v", err)
	}
	see(t, s).records("a", 0, "one", "two", "three")
	see(t, s).blob("a", "lost", false)
	see(t, s).blob("a", "z", false)
}
