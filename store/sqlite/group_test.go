package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/store"
)

// grouped opens a store, lets appends wait for its connection and returns them with it.
func grouped(t *testing.T, all ...*appending) (*Store, *lane) {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "group.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, s.Close()) })
	l := <-s.writer
	t.Cleanup(func() { s.writer <- l })
	s.group.add(all...)
	return s, l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func appendingOf(t *testing.T, session string, seq int, text string) *appending {
	t.Helper()
	v, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	b, err := v.packer.pack([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &appending{session: session, seq: seq, records: []body{b}, done: make(chan struct{})}
}

// recordsOf counts what a session has, by the connection that is held.
func recordsOf(t *testing.T, l *lane, session string) int {
	t.Helper()
	p, err := l.find(t.Context(), session)
	if err != nil && !noRow(err) {
		t.Fatal(err)
	}
	return p.records
}

func finished(a *appending) bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// TestGroup has appends that wait together: one is written with all others, and one that
// conflicts keeps nobody from being written.
func TestGroup(t *testing.T) {
	a, b, wrong := appendingOf(t, "a", 0, "one"), appendingOf(t, "b", 0, "two"), appendingOf(t, "c", 7, "three")
	again := appendingOf(t, "a", 1, "four")
	s, l := grouped(t, a, wrong, b, again)
	s.lead(t.Context(), l, b)
	for _, x := range []*appending{a, b, again} {
		if !finished(x) || x.err != nil {
			t.Errorf("append to %s at %d, want it written, got %v", x.session, x.seq, x.err)
		}
	}
	if !finished(wrong) || !errors.Is(wrong.err, store.ErrConflict) {
		t.Errorf("append that conflicts, want to be told so, got %v", wrong.err)
	}
	for session, want := range map[string]int{"a": 2, "b": 1, "c": 0} {
		if got := recordsOf(t, l, session); got != want {
			t.Errorf("records of %s, want %d, got %d", session, want, got)
		}
	}
}

// TestGroupFails has an append that SQLite refuses: it fails alone, and the others are
// written without it.
func TestGroupFails(t *testing.T) {
	good, bad := appendingOf(t, "a", 0, "one"), &appending{session: "b", records: []body{{}}, done: make(chan struct{})}
	other := appendingOf(t, "c", 0, "two")
	s, l := grouped(t, good, bad, other)
	s.lead(t.Context(), l, good)
	if !finished(good) || good.err != nil || !finished(other) || other.err != nil {
		t.Fatalf("want the good ones written, got %v and %v", good.err, other.err)
	}
	if !finished(bad) || bad.err == nil || errors.Is(bad.err, store.ErrConflict) {
		t.Fatalf("the bad one, want SQLite's error and nobody else's, got %v", bad.err)
	}
	if recordsOf(t, l, "a") != 1 || recordsOf(t, l, "b") != 0 || recordsOf(t, l, "c") != 1 {
		t.Errorf("%d, %d and %d records", recordsOf(t, l, "a"), recordsOf(t, l, "b"), recordsOf(t, l, "c"))
	}
}

// TestGroupCancelled has a leader whose context has ended: nothing of its own is written,
// and the others are.
func TestGroupCancelled(t *testing.T) {
	mine, other := appendingOf(t, "a", 0, "one"), appendingOf(t, "b", 0, "two")
	s, l := grouped(t, mine, other)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.lead(ctx, l, mine)
	if !errors.Is(mine.err, context.Canceled) || !finished(mine) {
		t.Fatalf("want the leader's own error, got %v", mine.err)
	}
	if !finished(other) || other.err != nil || recordsOf(t, l, "a") != 0 || recordsOf(t, l, "b") != 1 {
		t.Fatalf("want the other one alone written, got %v, %d and %d records", other.err, recordsOf(t, l, "a"), recordsOf(t, l, "b"))
	}
}

// TestAppendsSideBySide has many sessions that grow at once, some of whose contexts end
// while they wait: what was said to be written is there, and nothing else.
func TestAppendsSideBySide(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "many.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, s.Close()) }()
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			session, written := fmt.Sprint("s", n), 0
			for i := range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%5 == 4 {
					go cancel()
				}
				err := s.Append(ctx, session, written, [][]byte{fmt.Appendf(nil, "%s %d", session, written)})
				cancel()
				switch {
				case err == nil:
					written++
				case !errors.Is(err, context.Canceled):
					t.Errorf("append to %s: %v", session, err)
				}
			}
			got := 0
			for record, err := range s.Records(t.Context(), session, 0) {
				if want := fmt.Sprintf("%s %d", session, got); err != nil || string(record) != want {
					t.Errorf("record of %s, want %q, got %q (%v)", session, want, record, err)
				}
				got++
			}
			if got != written {
				t.Errorf("records of %s, want the %d that were written, got %d", session, written, got)
			}
		})
	}
	all.Wait()
}
