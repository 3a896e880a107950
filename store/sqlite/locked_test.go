package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// twoOf opens one file twice, as two processes would.
func twoOf(t *testing.T) (a, b *Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "two.db")
	for _, s := range []**Store{&a, &b} {
		var err error
		if *s, err = Open(t.Context(), path, Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { must(t, (*s).Close()) })
	}
	return a, b
}

// TestLocked: a write waits while another process has the file locked, for as long as its
// context allows.
func TestLocked(t *testing.T) {
	other, s := twoOf(t)
	l := <-other.writer
	defer func() { other.writer <- l }()
	if _, err := l.exec(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone, waits := make(chan error, 1), make(chan error, 1)
	go func() { gone <- s.Append(ctx, "a", 0, [][]byte{[]byte("one")}) }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("append whose context ended, want that said, got %v", err)
	}
	go func() { waits <- s.AppendUnflushed(t.Context(), "a", 0, [][]byte{[]byte("two")}) }()
	if _, err := l.exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Errorf("append once the lock was gone, want it written, got %v", err)
	}
}

// TestBegunAnew: a session that another process has let go of, and begun anew, is not taken
// for the one that was appended to before.
func TestBegunAnew(t *testing.T) {
	other, s := twoOf(t)
	ctx := t.Context()
	say := func(s *Store, session string, seq int, text string) {
		t.Helper()
		if err := s.Append(ctx, session, seq, [][]byte{[]byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	say(s, "a", 0, "old")
	say(s, "a", 1, "old")
	must(t, other.Fork(ctx, "a", "fork", 2)) // which keeps what it has of it
	must(t, other.Delete(ctx, "a"))
	say(other, "a", 0, "new")
	say(other, "a", 1, "new")
	say(s, "a", 2, "new")
	for session, want := range map[string]int{"a": 3, "fork": 2} {
		n := 0
		for record, err := range other.Records(ctx, session, 0) {
			if must(t, err); string(record) == "old" != (session == "fork") {
				t.Errorf("record of %s, want one of its own, got %s", session, record)
			}
			n++
		}
		if n != want {
			t.Errorf("records of %s, want %d, got %d", session, want, n)
		}
	}
}
