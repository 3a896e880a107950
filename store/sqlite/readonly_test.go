package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestReadOnly: a store can be read without its file being written to, also where that is
// not permitted, and nothing changes it.
func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	path := newFile(t)
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	must(t, err)
	must(t, s.Append(ctx, "a", 0, [][]byte{[]byte("one")}))
	must(t, s.Close())
	must(t, os.Chmod(path, 0o400))
	before, err := os.ReadFile(path)
	must(t, err)

	r := open(t, path, sqlite.Options{ReadOnly: true})
	stats, err := r.Stats(ctx)
	if err != nil || stats.Sessions != 1 || stats.Records != 1 {
		t.Errorf("got %+v, %v", stats, err)
	}
	wholesome(t, r)
	if err := r.Append(ctx, "a", 1, [][]byte{[]byte("two")}); err == nil {
		t.Error("want an error from Append, got none")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, or %v", err)
	}
}

// TestReadOnlyRefuses: nothing is made where there is no store.
func TestReadOnlyRefuses(t *testing.T) {
	ctx := context.Background()
	missing := filepath.Join(t.TempDir(), "missing.db")
	if _, err := sqlite.Open(ctx, missing, sqlite.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a file was made")
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(empty, nil, 0o400))
	if _, err := sqlite.Open(ctx, empty, sqlite.Options{ReadOnly: true}); !errors.Is(err, sqlite.ErrNotStore) {
		t.Errorf("got %v", err)
	}
}
