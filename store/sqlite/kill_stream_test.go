package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// longOutput is an output of three pieces, different for each n.
func longOutput(n int) string { return strings.Repeat(output(n), 12) }

// streamed is a content that is put as a stream; every third one is so long, and compresses
// so badly, that it is written in several transactions.
func streamed(n int) string {
	if n%3 != 0 {
		return longOutput(n)
	}
	out := make([]byte, 11<<20)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(out) // never an error
	return string(out)
}

// streamChild puts one stream after the other until it is killed. What it has printed the
// number of is kept.
func streamChild(s *sqlite.Store, from int) error {
	for i := from; ; i++ {
		if _, _, err := s.PutFrom(context.Background(), fmt.Sprint(i), strings.NewReader(streamed(i))); err != nil {
			return err
		}
		if _, err := fmt.Println(i); err != nil {
			return err
		}
	}
}

// TestKillStream kills a process that is putting streams. What it acknowledged is there,
// the one that was on its way is there as a whole or not at all, and nothing lies about.
func TestKillStream(t *testing.T) {
	path, next := newFile(t), 0
	for kill := range 10 {
		cmd, out := start(t, path, "stream", next, 0)
		for n := 0; out.Scan(); n++ {
			if out.Text() != fmt.Sprint(next) {
				t.Fatalf("want %d acknowledged, got %s", next, out.Text())
			}
			next++
			if n == kill%4 {
				must(t, cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("want the child killed, got %v", err)
		}
		next += compareStreams(t, path, next)
	}
}

// compareStreams looks for the contents before next. It returns 1 if that of next is
// there too.
func compareStreams(t *testing.T, path string, next int) int {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: true})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	wholesome(t, s)
	for i := range next {
		if got, err := s.Get(t.Context(), fmt.Sprint(i), blobOf(streamed(i)).Ref); err != nil || string(got) != streamed(i) {
			t.Errorf("law 2: stream %d: want it, got %d bytes (%v)", i, len(got), err)
		}
	}
	files, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), filepath.Base(path)) {
			t.Errorf("want nothing but the store in the folder, got %s", f.Name())
		}
	}
	must(t, s.Query(t.Context(), func(r *sql.Rows) error {
		var left int
		err := r.Scan(&left)
		if left > 1 {
			t.Errorf("killed while it wrote one, want at most one left, got %d", left)
		}
		return err
	}, "SELECT count(*) FROM contents WHERE blob IS NULL AND id > (SELECT coalesce(max(id), 0) FROM contents WHERE blob IS NOT NULL)"))
	_, err = s.Get(t.Context(), fmt.Sprint(next), blobOf(streamed(next)).Ref)
	if err == nil {
		return 1
	}
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("stream %d: want it or nothing, got %v", next, err)
	}
	return 0
}

// A stuck reader says when it is asked for more, and has nothing.
type stuck struct{}

func (stuck) Read([]byte) (int, error) {
	fmt.Println("stuck")
	select {}
}

// halfChild puts a stream that never ends.
func halfChild(s *sqlite.Store) error {
	_, _, err := s.PutFrom(context.Background(), "half", io.MultiReader(strings.NewReader(streamed(0)), stuck{}))
	return err
}

// TestKillHalf kills a process whose stream is half written. Another one that works on the
// file sees nothing of it, leaves it alone while it may be alive, and lets go of it a day later.
func TestKillHalf(t *testing.T) {
	path, now := newFile(t), time.Now()
	s := open(t, path, sqlite.Options{Now: func() time.Time { return now }})
	cmd, out := start(t, path, "half", 0, 0)
	if !out.Scan() {
		t.Fatal("want the child to say that it is stuck, got nothing")
	}
	left := func(want int64) {
		t.Helper()
		stats, err := s.Stats(t.Context())
		must(t, err)
		if stats.StoredBytes>>20 != want || stats.Blobs != 0 || stats.Sessions != 0 {
			t.Errorf("want %d MiB of nobody, got %+v", want, stats)
		}
		if _, err := s.Get(t.Context(), "half", blobOf(streamed(0)).Ref); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("want it not found, got %v", err)
		}
	}
	gc := func(want int64) {
		t.Helper()
		freed, err := s.GC(t.Context())
		must(t, err)
		if freed.Bytes>>20 != want || freed.FileBytes>>20 < want {
			t.Errorf("want %d MiB let go of, got %+v", want, freed)
		}
	}
	left(10)
	wholesome(t, s)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	gc(0)
	left(10)
	now = now.Add(25 * time.Hour)
	var found []string
	must(t, s.Verify(t.Context(), func(p sqlite.Problem) { found = append(found, p.Kind) }, nil))
	if len(found) != 1 || found[0] != sqlite.KindGarbage {
		t.Errorf("want garbage, got %q", found)
	}
	gc(10)
	left(0)
	wholesome(t, s)
}

// TestStreamGone: what was taken for left behind while its writer slept is an error, and
// the next stream lets go of what is left of others.
func TestStreamGone(t *testing.T) {
	now := time.Now()
	s := open(t, newFile(t), sqlite.Options{Now: func() time.Time { return now }})
	text := streamed(0)
	late := func(after time.Duration, f func()) io.Reader {
		return io.MultiReader(strings.NewReader(text), readerFunc(func([]byte) (int, error) {
			now = now.Add(after)
			f()
			return 0, io.EOF
		}))
	}
	_, _, err := s.PutFrom(t.Context(), "a", late(25*time.Hour, func() {
		_, _, err := s.PutFrom(t.Context(), "b", strings.NewReader(text))
		must(t, err)
		must(t, s.Delete(t.Context(), "b"))
	}))
	if err == nil || !strings.Contains(err.Error(), "nothing had come for too long") {
		t.Errorf("want an error about the time, got %v", err)
	}
	_, _, err = s.PutFrom(t.Context(), "a", late(23*time.Hour, func() { must(t, second(s.GC(t.Context()))) }))
	must(t, err)
	if got, err := s.Get(t.Context(), "a", blobOf(text).Ref); err != nil || got == nil {
		t.Errorf("want it after 23 hours, got %v", err)
	}
	wholesome(t, s)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
