package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// calls are all operations, each on a session that exists.
func calls(s store.Store) map[string]func(ctx context.Context, session string) error {
	all := map[string]func(ctx context.Context, session string) error{
		"Append": func(ctx context.Context, session string) error { return s.Append(ctx, session, 2, lines("x")) },
		"Records": func(ctx context.Context, session string) error {
			_, err := read(ctx, s, session, 0)
			return err
		},
		"Put": func(ctx context.Context, session string) error { return s.Put(ctx, session, []edit.Blob{blobOf("x")}) },
		"Get": func(ctx context.Context, session string) error {
			_, err := s.Get(ctx, session, blobOf("output").Ref)
			return err
		},
		"Fork to":   func(ctx context.Context, session string) error { return s.Fork(ctx, "a", session, 0) },
		"Fork from": func(ctx context.Context, session string) error { return s.Fork(ctx, session, "b", 0) },
	}
	if c, ok := s.(store.Committer); ok {
		all["Commit"] = func(ctx context.Context, session string) error {
			return c.Commit(ctx, session, 2, lines("x"), []edit.Blob{blobOf("x")})
		}
	}
	if d, ok := s.(store.Deleter); ok {
		all["Delete"] = d.Delete
	}
	if n, ok := s.(store.Snapshotter); ok {
		all["PutSnapshot"] = func(ctx context.Context, session string) error { return n.PutSnapshot(ctx, session, 1, []byte("x")) }
		all["Snapshot"] = func(ctx context.Context, session string) error {
			_, _, err := n.Snapshot(ctx, session)
			return err
		}
		all["SnapshotAt"] = func(ctx context.Context, session string) error {
			_, err := n.SnapshotAt(ctx, session, 1)
			return err
		}
	}
	if f, ok := s.(store.Streamer); ok {
		all["PutFrom"] = func(ctx context.Context, session string) error {
			_, _, err := f.PutFrom(ctx, session, strings.NewReader("x"))
			return err
		}
	}
	if o, ok := s.(store.Opener); ok {
		all["Open"] = func(ctx context.Context, session string) error {
			c, err := o.Open(ctx, session, blobOf("output").Ref)
			if err != nil {
				return err
			}
			return c.Close()
		}
	}
	if f, ok := s.(store.Searcher); ok {
		all["Search"] = func(ctx context.Context, session string) error {
			_, err := f.Search(ctx, session, "output", 1)
			return err
		}
	}
	return all
}

func testRefusals(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Append(ctx, "a", 0, lines("one", "two")))
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("output")}))
	for name, call := range calls(s) {
		if err := call(ctx, ""); err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s without a name: want an error of its own, got %v", name, err)
		}
	}
	if _, err := read(ctx, s, "a", -1); err == nil {
		t.Error("Records from -1: want an error, got nil")
	}
	see(t, s).records("a", 0, "one", "two")
	see(t, s).records("b", 0)
}

func testContext(t *testing.T, s store.Store) {
	must(t, s.Append(t.Context(), "a", 0, lines("one", "two")))
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("output")}))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, call := range calls(s) {
		if err := call(over, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end of its context: want that error, got %v", name, err)
		}
		if err := call(late, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s after its deadline: want that error, got %v", name, err)
		}
	}
	see(t, s).records("a", 0, "one", "two")
	see(t, s).records("b", 0)
	see(t, s).blob("a", "x", false)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ends []string
	for r, err := range s.Records(ctx, "a", 0) {
		ends = append(ends, fmt.Sprint(string(r), errors.Is(err, context.Canceled)))
		cancel()
	}
	if want := []string{"onefalse", "true"}; !slices.Equal(ends, want) {
		t.Errorf("a context that ends on the way: want %q, got %q", want, ends)
	}
	must(t, s.Append(t.Context(), "a", 2, lines("three"))) // nothing is left locked
}

// testConcurrent lets writers race for one session, and readers look on.
func testConcurrent(t *testing.T, s store.Store) {
	const writers, each = 4, 25
	ctx := t.Context()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() { raceWrite(t, s, w*each, each) })
		group.Go(func() {
			if err := s.Fork(ctx, "a", "child", 0); err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			for r, err := range s.Records(ctx, "a", 0) {
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Get(ctx, "a", blobOf(string(r)).Ref); err != nil {
					t.Errorf("law 2: a record is there before its blob: %v", err)
				}
			}
		})
	}
	group.Wait()
	got, want := map[string]bool{}, map[string]bool{}
	for i := range writers * each {
		want[strconv.Itoa(i)] = true
	}
	all, err := read(ctx, s, "a", 0)
	must(t, err)
	for _, r := range all {
		got[r] = true
	}
	if len(all) != writers*each || !maps.Equal(got, want) {
		t.Errorf("want each of %d records once, got %d", writers*each, len(all))
	}
}

// raceWrite writes numbers as blobs and then as records, wherever the others have got to.
func raceWrite(t *testing.T, s store.Store, first, count int) {
	ctx, seq := t.Context(), 0
	for i := range count {
		text := strconv.Itoa(first + i)
		if err := s.Put(ctx, "a", []edit.Blob{blobOf(text), blobOf("common")}); err != nil {
			t.Error(err)
		}
		var conflict *store.ConflictError
		err := s.Append(ctx, "a", seq, lines(text))
		for errors.As(err, &conflict) {
			seq = conflict.Want
			err = s.Append(ctx, "a", seq, lines(text))
		}
		if err != nil {
			t.Error(err)
		}
		seq++
	}
}
