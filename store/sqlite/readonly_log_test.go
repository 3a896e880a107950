package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestReadOnlyLeavesNothing: a look at a store leaves no file beside it that would be in the
// way of a later writer, also where the store is reached by a link.
func TestReadOnlyLeavesNothing(t *testing.T) {
	path := filled(t)
	must(t, os.Chmod(path, 0o400))
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	for _, name := range []string{path, link} {
		r, err := sqlite.Open(t.Context(), name, sqlite.Options{ReadOnly: true})
		must(t, err)
		wholesome(t, r)
		must(t, r.Close())
		for _, dir := range []string{filepath.Dir(path), filepath.Dir(link)} {
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("%s: want the store alone, got %v, %v", name, files, err)
			}
		}
	}
	must(t, os.Chmod(path, 0o600))
	s := open(t, path, sqlite.Options{Existing: true})
	must(t, s.Append(t.Context(), "work", 3, lines("more")))
}

// TestReadOnlySeesTheLog: what a writer has written is seen though it stands in the log alone,
// also through a link.
func TestReadOnlySeesTheLog(t *testing.T) {
	path := filled(t)
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	s := open(t, path, sqlite.Options{})
	must(t, s.Append(t.Context(), "new", 0, lines("one")))
	for _, name := range []string{path, link} {
		stats, err := open(t, name, sqlite.Options{ReadOnly: true}).Stats(t.Context())
		if err != nil || stats.Sessions != 3 {
			t.Errorf("%s: want three sessions, got %+v, %v", name, stats, err)
		}
	}
}
