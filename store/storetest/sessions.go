package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

func testForks(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Append(ctx, "parent", 0, lines("one", "two")))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("before")}))
	must(t, s.Fork(ctx, "parent", "child", 1))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("after")}))
	must(t, s.Put(ctx, "child", []edit.Blob{blobOf("own"), blobOf("before")}))
	must(t, s.Append(ctx, "child", 1, lines("second")))
	must(t, s.Append(ctx, "parent", 2, lines("three")))
	must(t, s.Fork(ctx, "child", "grandchild", 2))

	see(t, s).records("parent", 0, "one", "two", "three")
	see(t, s).records("child", 0, "one", "second")
	see(t, s).records("grandchild", 1, "second")
	for _, tt := range []struct {
		blob                      string
		parent, child, grandchild bool
	}{
		{"before", true, true, true},
		{"after", true, false, false},
		{"own", false, true, true},
	} {
		see(t, s).blob("parent", tt.blob, tt.parent)
		see(t, s).blob("child", tt.blob, tt.child)
		see(t, s).blob("grandchild", tt.blob, tt.grandchild)
	}
	t.Run("what a parent gets later the child can be given too", func(t *testing.T) {
		must(t, s.Put(ctx, "child", []edit.Blob{blobOf("after")}))
		see(t, s).blob("child", "after", true)
		see(t, s).blob("grandchild", "after", false)
	})
	t.Run("a session of blobs alone can be forked", func(t *testing.T) {
		must(t, s.Put(ctx, "early", []edit.Blob{blobOf("first")}))
		must(t, s.Fork(ctx, "early", "bird", 0))
		see(t, s).blob("bird", "first", true)
		must(t, s.Append(ctx, "bird", 0, lines("one")))
	})
}

func testForkRefused(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Append(ctx, "parent", 0, lines("one", "two", "three")))
	must(t, s.Append(ctx, "child", 0, lines("one")))
	must(t, s.Put(ctx, "early", nil))
	if err := s.Fork(ctx, "nobody", "orphan", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no parent: want ErrNotFound, got %v", err)
	}
	for _, child := range []string{"child", "parent", "early"} {
		if err := s.Fork(ctx, "parent", child, 1); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s has begun: want ErrConflict, got %v", child, err)
		}
	}
	for _, seq := range []int{-1, 4} {
		if err := s.Fork(ctx, "parent", "fresh", seq); err == nil {
			t.Errorf("%d of 3 records: want an error, got nil", seq)
		}
	}
	see(t, s).records("fresh", 0)
	see(t, s).records("child", 0, "one")
	must(t, s.Append(ctx, "fresh", 0, lines("begins")))
}

// testChain forks forks, each shorter than what its parent has from its own.
func testChain(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Append(ctx, "0", 0, lines("a", "b", "c", "d")))
	for i := 1; i <= 40; i++ {
		parent, child := fmt.Sprint(i-1), fmt.Sprint(i)
		must(t, s.Put(ctx, parent, []edit.Blob{blobOf("of " + parent)}))
		must(t, s.Fork(ctx, parent, child, max(4-i, 1)))
		must(t, s.Append(ctx, child, max(4-i, 1), lines(child)))
	}
	see(t, s).records("1", 0, "a", "b", "c", "1")
	see(t, s).records("2", 0, "a", "b", "2")
	see(t, s).records("3", 0, "a", "3")
	see(t, s).records("40", 0, "a", "40")
	see(t, s).blob("40", "of 0", true)
	see(t, s).blob("40", "of 39", true)
	see(t, s).blob("0", "of 1", false)
}

func testDelete(t *testing.T, s store.Store) {
	d, ctx := deleter(t, s), t.Context()
	must(t, s.Append(ctx, "parent", 0, lines("one")))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("shared"), blobOf("gone"), blobOf("twice")}))
	must(t, s.Put(ctx, "other", []edit.Blob{blobOf("twice")}))
	must(t, s.Fork(ctx, "parent", "child", 1))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("late")}))

	must(t, d.Delete(ctx, "parent"))
	must(t, d.Delete(ctx, "parent"))
	must(t, d.Delete(ctx, "nobody"))
	see(t, s).records("parent", 0)
	see(t, s).records("child", 0, "one")
	see(t, s).blob("parent", "shared", false)
	t.Run("law 2: R002-4_a Ref lives while anything refers to it", func(t *testing.T) {
		see(t, s).blob("child", "shared", true)
		see(t, s).blob("other", "twice", true)
	})
	see(t, s).blob("child", "late", false)
	must(t, s.Append(ctx, "parent", 0, lines("anew")))
	see(t, s).blob("parent", "late", false)
	see(t, s).records("child", 0, "one")

	must(t, d.Delete(ctx, "child"))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("shared")}))
	see(t, s).blob("parent", "shared", true)
	see(t, s).blob("other", "twice", true)
}

// testDeleteChain deletes from the top, from the middle and from the end.
func testDeleteChain(t *testing.T, s store.Store) {
	d, ctx := deleter(t, s), t.Context()
	must(t, s.Append(ctx, "a", 0, lines("1", "2", "3")))
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("of a")}))
	must(t, s.Fork(ctx, "a", "b", 3))
	must(t, s.Append(ctx, "b", 3, lines("4", "5")))
	must(t, s.Put(ctx, "b", []edit.Blob{blobOf("of b")}))
	must(t, s.Fork(ctx, "b", "c", 4))
	must(t, s.Append(ctx, "c", 4, lines("six")))
	must(t, s.Fork(ctx, "b", "d", 2))

	must(t, d.Delete(ctx, "b"))
	see(t, s).records("c", 0, "1", "2", "3", "4", "six")
	see(t, s).records("d", 0, "1", "2")
	must(t, d.Delete(ctx, "a"))
	see(t, s).records("c", 0, "1", "2", "3", "4", "six")
	see(t, s).blob("c", "of a", true)
	see(t, s).blob("d", "of b", true)
	must(t, d.Delete(ctx, "c"))
	see(t, s).records("d", 0, "1", "2")
	see(t, s).blob("d", "of a", true)
	must(t, s.Fork(ctx, "d", "e", 1))
	must(t, d.Delete(ctx, "d"))
	see(t, s).records("e", 0, "1")
	see(t, s).blob("e", "of b", true)
	must(t, d.Delete(ctx, "e"))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		see(t, s).records(name, 0)
		see(t, s).blob(name, "of a", false)
	}
}

// testDeleteWhileReading has a reader that must not take what is left for all.
func testDeleteWhileReading(t *testing.T, s store.Store) {
	d, ctx := deleter(t, s), t.Context()
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprint(i))
	}
	must(t, s.Append(ctx, "a", 0, lines(all...)))
	n, failed := 0, false
	for r, err := range s.Records(ctx, "a", 0) {
		if err != nil {
			failed = true
			break
		}
		if n == 0 {
			must(t, d.Delete(ctx, "a"))
			must(t, s.Append(ctx, "a", 0, lines("another")))
		}
		if string(r) != all[n] {
			t.Fatalf("record %d: want %q, got %q", n, all[n], r)
		}
		n++
	}
	if n < len(all) && !failed {
		t.Errorf("want %d records or an error, got %d and none", len(all), n)
	}
	see(t, s).records("a", 0, "another")
}

func testSnapshots(t *testing.T, s store.Store) {
	n, ctx := snapshotter(t, s), t.Context()
	see(t, s).snapshot("a", 0, "")
	must(t, s.Append(ctx, "a", 0, lines("one", "two", "three")))
	see(t, s).snapshot("a", 0, "")
	data := []byte("at two")
	must(t, n.PutSnapshot(ctx, "a", 2, data))
	clear(data)
	see(t, s).snapshot("a", 2, "at two")
	must(t, n.PutSnapshot(ctx, "a", 1, []byte("at one")))
	see(t, s).snapshot("a", 2, "at two")
	must(t, n.PutSnapshot(ctx, "a", 2, []byte("R002-20: updated")))
	_, got, err := n.Snapshot(ctx, "a")
	must(t, err)
	clear(got)
	see(t, s).snapshot("a", 2, "R002-20: updated")
	must(t, n.PutSnapshot(ctx, "a", 3, nil))
	see(t, s).snapshot("a", 3, "")
	see(t, s).snapshotAt("a", 1, "at one")
	see(t, s).snapshotAt("a", 2, "R002-20: updated")
	for _, seq := range []int{-1, 0, 4} {
		if got, err := n.SnapshotAt(ctx, "a", seq); !errors.Is(err, store.ErrNotFound) || got != nil {
			t.Errorf("snapshot at %d, where none is: want ErrNotFound, got %q (%v)", seq, got, err)
		}
		if err := n.PutSnapshot(ctx, "a", seq, []byte("lost")); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("snapshot at %d of 3 records: want an error of its own, got %v", seq, err)
		}
	}
	for _, seq := range []int{0, 1} {
		if err := n.PutSnapshot(ctx, "new", seq, []byte("lost")); err == nil {
			t.Errorf("snapshot at %d of a session that has not begun: want an error, got nil", seq)
		}
	}
	see(t, s).snapshot("a", 3, "")
	see(t, s).snapshot("new", 0, "")
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused snapshot began a session: want ErrNotFound, got %v", err)
	}
}

func testSnapshotForks(t *testing.T, s store.Store) {
	n, ctx := snapshotter(t, s), t.Context()
	must(t, s.Append(ctx, "a", 0, lines("1", "2", "3", "4")))
	must(t, n.PutSnapshot(ctx, "a", 2, []byte("two")))
	must(t, n.PutSnapshot(ctx, "a", 4, []byte("four")))
	must(t, s.Fork(ctx, "a", "b", 3))
	must(t, s.Fork(ctx, "a", "early", 1))
	see(t, s).snapshot("b", 2, "two")
	see(t, s).snapshotAt("b", 2, "two")
	if got, err := n.SnapshotAt(ctx, "b", 4); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a snapshot of more than a fork has from its parent: want ErrNotFound, got %q (%v)", got, err)
	}
	see(t, s).snapshot("early", 0, "")
	must(t, n.PutSnapshot(ctx, "a", 3, []byte("later, of records that b has")))
	see(t, s).snapshot("b", 3, "later, of records that b has")
	must(t, n.PutSnapshot(ctx, "b", 3, []byte("own")))
	see(t, s).snapshot("b", 3, "own")
	see(t, s).snapshot("a", 4, "four")
	must(t, s.Fork(ctx, "b", "c", 2))
	see(t, s).snapshot("c", 2, "two")

	d := deleter(t, s)
	must(t, d.Delete(ctx, "a"))
	must(t, d.Delete(ctx, "b"))
	see(t, s).snapshot("c", 2, "two")
	see(t, s).snapshot("a", 0, "")
	must(t, s.Append(ctx, "a", 0, lines("anew", "two")))
	see(t, s).snapshot("a", 0, "")
	must(t, n.PutSnapshot(ctx, "a", 2, []byte("another")))
	see(t, s).snapshot("c", 2, "two")
}
