package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestStoreReadOnly: what only reads does so where nothing may be written; what cannot says
// what can be done.
func TestStoreReadOnly(t *testing.T) {
	folder := t.TempDir()
	if err := storeFixtures(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "filled.db")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if isWritable(path) {
		t.Skip("this user may write everywhere")
	}
	use := func(f storeFlags) error {
		return withStore(t.Context(), "store x", f, func(ctx context.Context, st *sqlite.Store, _ storeFlags) error {
			stats, err := st.Stats(ctx)
			if err == nil && stats.Sessions != 3 {
				err = errors.New("not all sessions are there")
			}
			return err
		})
	}
	if err := use(storeFlags{db: path}); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := use(storeFlags{db: path, changes: true}); err == nil || !strings.Contains(err.Error(), "filled.db can only be read") || !strings.Contains(hintOf(err), "a copy of it") {
		t.Errorf("changing: got %v, %q", err, hintOf(err))
	}
	if files, err := os.ReadDir(folder); err != nil || slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), "filled.db-") }) {
		t.Errorf("something was left beside the file: %v, %v", files, err)
	}
	if err := os.Chmod(folder, 0o500); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) //nolint:gosec // a folder, so that it can be removed
	if err := use(storeFlags{db: path}); err != nil {
		t.Errorf("in a folder that takes no file: %v", err)
	}
	if err := os.Chmod(folder, 0o700); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", []byte("a log without its index"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o500); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	if err := use(storeFlags{db: path}); err == nil || !strings.Contains(hintOf(err), "copy the file, and its -wal") {
		t.Errorf("with a log in a folder that takes no file: got %v, %q", err, hintOf(err))
	}
}
