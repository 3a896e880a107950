package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

// open opens a store that the test closes.
func open(t storetest.T, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newFile(t storetest.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plimsoll-store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "plimsoll.db")
}

// wholesome fails on anything that Verify finds.
func wholesome(t storetest.T, s *sqlite.Store) {
	t.Helper()
	err := s.Verify(context.Background(), func(p sqlite.Problem) { t.Errorf("verify: %v", p) }, nil)
	if err != nil {
		t.Error(err)
	}
}

func must(t storetest.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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

func inMemory(t storetest.T) store.Store { return open(t, sqlite.Memory, sqlite.Options{}) }

// inFile is a store in a file of which Verify finds nothing to say when the test is
// over, whatever it did.
func inFile(t storetest.T) store.Store {
	s := open(t, newFile(t), sqlite.Options{})
	t.Cleanup(func() { wholesome(t, s) })
	return s
}

// A hasty store appends without flushing.
type hasty struct{ *sqlite.Store }

func (h hasty) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	return h.AppendUnflushed(ctx, session, seq, records)
}

func hastily(t storetest.T) store.Store {
	s := open(t, newFile(t), sqlite.Options{})
	t.Cleanup(func() { wholesome(t, s) })
	return hasty{s}
}

// TestStore holds the store to the rules of all stores.
func TestStore(t *testing.T) {
	t.Run("file", func(t *testing.T) { storetest.Run(t, inFile) })
	t.Run("file, unflushed", func(t *testing.T) { storetest.Run(t, hastily) })
	t.Run("memory", func(t *testing.T) { storetest.Run(t, inMemory) })
}

// TestDifferential holds it against the store that lives in the process.
func TestDifferential(t *testing.T) {
	storetest.Differential(t, inMemory, func(storetest.T) store.Store { return new(store.Memory) })
}

// TestDifferentialSearch holds what it finds against a search through everything.
func TestDifferentialSearch(t *testing.T) {
	storetest.DifferentialSearch(t, inFile, func(storetest.T) store.Store { return new(store.Memory) })
}
