package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// longOutput is an output that is compressed as it comes, different for each n.
func longOutput(n int) string { return strings.Repeat(output(n), 12) }

// streamChild puts one stream after the other until it is killed. What it has printed the
// number of is kept.
func streamChild(s *sqlite.Store, from int) error {
	for i := from; ; i++ {
		if _, _, err := s.PutFrom(context.Background(), fmt.Sprint(i), strings.NewReader(longOutput(i))); err != nil {
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
		if got, err := s.Get(t.Context(), fmt.Sprint(i), blobOf(longOutput(i)).Ref); err != nil || string(got) != longOutput(i) {
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
	_, err = s.Get(t.Context(), fmt.Sprint(next), blobOf(longOutput(next)).Ref)
	if err == nil {
		return 1
	}
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("stream %d: want it or nothing, got %v", next, err)
	}
	return 0
}
