package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
)

// keep writes a file of a workspace.
func keep(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hears waits until the system has said of a change of a file.
func hears(t *testing.T, w loop.Watcher, path string) {
	t.Helper()
	for !w.Heard(path) {
		if t.Context().Err() != nil {
			t.Fatalf("want to hear of %s, heard nothing", path)
		}
	}
}

// Where the system says when files change, a change has the time at which it happened. What git
// ignores and the loop's own folder are not listened to.
func TestR004_2_events(t *testing.T) {
	t.Run("R004-2_file_events_have_their_times", func(t *testing.T) {
		dir := t.TempDir()
		if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
		keep(t, dir, ".gitignore", "made/\n")
		keep(t, dir, "a/b/kept.txt", "a\n")
		keep(t, dir, "made/deep/x.txt", "made\n")
		keep(t, dir, ".plimsoll/log", "mine\n")
		w := loop.NewWatcher(dir)
		var clock atomic.Int64
		clock.Store(41)
		if err := w.Listen(clock.Load); err != nil {
			t.Skipf("this system does not tell: %v", err)
		}
		defer w.Deaf()
		w.Look(t.Context())
		if n, ok := w.Listening(); !ok || n != 3 { // of the workspace, a, a/b
			t.Errorf("want three folders listened to, got %d %t", n, ok)
		}
		clock.Store(42)
		keep(t, dir, "a/b/kept.txt", "a\nb\n")
		hears(t, w, "a/b/kept.txt")
		clock.Store(43)
		got := w.Look(t.Context())
		if len(got) != 1 || got[0].Path != "a/b/kept.txt" || got[0].At != 42 {
			t.Errorf("want the change at 42, got %+v", got)
		}
		keep(t, dir, "a/new/file.txt", "1\n")
		w.Look(t.Context())
		clock.Store(44)
		keep(t, dir, "a/new/file.txt", "1\n2\n") // in a folder that was not there at first
		hears(t, w, "a/new/file.txt")
		if got := w.Look(t.Context()); len(got) != 1 || got[0].Op != "modified" || got[0].At != 44 {
			t.Errorf("want the change in it, got %+v", got)
		}
	})
}

// Of more folders than are listened to none is, and what has changed is found all the same.
func TestTooManyFoldersToListenTo(t *testing.T) {
	dir := t.TempDir()
	for i := range loop.MostWatched {
		keep(t, dir, fmt.Sprintf("%d/x", i), "x")
	}
	w := loop.NewWatcher(dir)
	if err := w.Listen(func() int64 { return 1 }); err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	defer w.Deaf()
	w.Look(t.Context())
	if _, ok := w.Listening(); ok {
		t.Error("want it to have given up")
	}
	keep(t, dir, "7/x", "another")
	if got := w.Look(t.Context()); len(got) != 1 || got[0].Path != "7/x" {
		t.Errorf("want the change found, got %+v", got)
	}
}
