package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A T is a test, or one try of a random test: a *testing.T or a *rapid.T. What is
// registered with Cleanup runs when it ends.
type T interface {
	rapid.TB
	Cleanup(f func())
}

// Run is what every backend has to pass. open returns an empty store each time; what
// it opens, it also closes, when t ends.
func Run(t *testing.T, open func(t T) store.Store) {
	for _, part := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"records", testRecords},
		{"records/conflict", testConflict},
		{"records/many", testManyRecords},
		{"blobs", testBlobs},
		{"blobs/large", testLargeBlobs},
		{"atomic", testAtomic},
		{"commit", testCommit},
		{"owner", testOwner},
		{"forks", testForks},
		{"forks/refused", testForkRefused},
		{"forks/chain", testChain},
		{"delete", testDelete},
		{"delete/chain", testDeleteChain},
		{"delete/reading", testDeleteWhileReading},
		{"snapshots/R002-18 R002-20", testSnapshots},
		{"snapshots/forks", testSnapshotForks},
		{"stream", testStream},
		{"stream/broken off", testStreamBrokenOff},
		{"stream/context", testStreamContext},
		{"stream/nobody waits", testStreamAlone},
		{"stream/concurrent", testStreamConcurrent},
		{"open", testOpen},
		{"open/random", testOpenRandom},
		{"open/refused", testOpenRefused},
		{"open/deleted", testOpenDeleted},
		{"open/concurrent", testOpenConcurrent},
		{"search", testSearch},
		{"search/place", testSearchPlace},
		{"search/archive", testSearchArchive},
		{"search/sessions", testSearchSessions},
		{"search/context", testSearchContext},
		{"refusals", testRefusals},
		{"context", testContext},
		{"concurrent", testConcurrent},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
	t.Run("model", func(t *testing.T) {
		Differential(t, open, func(T) store.Store { return newModel() })
	})
}

func blobOf(text string) edit.Blob {
	return edit.Blob{Ref: llm.RefOf([]byte(text)), Data: []byte(text)}
}

func lines(texts ...string) [][]byte {
	var out [][]byte
	for _, text := range texts {
		out = append(out, []byte(text))
	}
	return out
}

// must fails the test on an error.
func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the records of a session as texts.
func read(ctx context.Context, s store.Store, session string, from int) ([]string, error) {
	var out []string
	for r, err := range s.Records(ctx, session, from) {
		if err != nil {
			return out, err
		}
		out = append(out, string(r))
	}
	return out, nil
}

// A view is a store, looked at by a test.
type view struct {
	t testing.TB
	s store.Store
}

func see(t testing.TB, s store.Store) view { return view{t, s} }

// records compares the records of a session from a number on.
func (v view) records(session string, from int, want ...string) {
	v.t.Helper()
	got, err := read(context.Background(), v.s, session, from)
	must(v.t, err)
	if !slices.Equal(got, want) {
		v.t.Errorf("records of %q from %d: want %.100q, got %.100q", session, from, want, got)
	}
}

// blob asks for the content of text.
func (v view) blob(session, text string, there bool) {
	v.t.Helper()
	got, err := v.s.Get(context.Background(), session, blobOf(text).Ref)
	switch {
	case there && (err != nil || string(got) != text):
		v.t.Errorf("blob in %q: want %.100q, got %.100q (%v)", session, text, got, err)
	case !there && (!errors.Is(err, store.ErrNotFound) || got != nil):
		v.t.Errorf("blob in %q: want it not found, got %.100q (%v)", session, got, err)
	}
}

// snapshot asks for the newest snapshot; seq 0 is none.
func (v view) snapshot(session string, seq int, text string) {
	v.t.Helper()
	s, ok := v.s.(store.Snapshotter)
	if !ok {
		v.t.Fatalf("%T keeps no snapshots", v.s)
	}
	n, data, err := s.Snapshot(context.Background(), session)
	switch {
	case seq > 0 && (err != nil || n != seq || string(data) != text):
		v.t.Errorf("snapshot of %q: want %.100q at %d, got %.100q at %d (%v)", session, text, seq, data, n, err)
	case seq == 0 && (!errors.Is(err, store.ErrNotFound) || n != 0 || data != nil):
		v.t.Errorf("snapshot of %q: want it not found, got %.100q at %d (%v)", session, data, n, err)
	}
}

// snapshotAt asks for the snapshot of so many records.
func (v view) snapshotAt(session string, seq int, text string) {
	v.t.Helper()
	s, ok := v.s.(store.Snapshotter)
	if !ok {
		v.t.Fatalf("%T keeps no snapshots", v.s)
	}
	if data, err := s.SnapshotAt(context.Background(), session, seq); err != nil || string(data) != text {
		v.t.Errorf("snapshot %d of %q: want %.100q, got %.100q (%v)", seq, session, text, data, err)
	}
}

// deleter returns s as a store that can let go of sessions, or skips the test.
func deleter(t *testing.T, s store.Store) store.Deleter {
	t.Helper()
	d, ok := s.(store.Deleter)
	if !ok {
		t.Skipf("%T lets go of nothing", s)
	}
	return d
}

// snapshotter returns s as a store that keeps snapshots, or skips the test.
func snapshotter(t *testing.T, s store.Store) store.Snapshotter {
	t.Helper()
	n, ok := s.(store.Snapshotter)
	if !ok {
		t.Skipf("%T keeps no snapshots", s)
	}
	return n
}

// streamer returns s as a store that takes contents as they come, or skips the test.
func streamer(t *testing.T, s store.Store) store.Streamer {
	t.Helper()
	f, ok := s.(store.Streamer)
	if !ok {
		t.Skipf("%T takes no streams", s)
	}
	return f
}
