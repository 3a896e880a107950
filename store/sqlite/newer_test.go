package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestBroughtForward: a program that has a file open while a newer one brings it forward writes
// nothing to it any more and says why, and what it had written is there.
func TestBroughtForward(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	older, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	blob := edit.Blob{Ref: llm.RefOf([]byte("output")), Data: []byte("output")}
	must(t, older.Commit(t.Context(), "a", 0, [][]byte{[]byte("one")}, []edit.Blob{blob}))

	tools, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := address(path, false)
	if err != nil {
		t.Fatal(err)
	}
	newer, err := newLane(t.Context(), tools.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, newer.close()) }()
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	mine := len(all)
	all = append(all, "ALTER TABLE records ADD COLUMN more INTEGER NOT NULL DEFAULT 0")
	if v, err := migrate(t.Context(), newer, all); err != nil || v != mine+1 {
		t.Fatalf("want version %d, got %d (%v)", mine+1, v, err)
	}
	for name, do := range map[string]func() error{
		"append":    func() error { return older.Append(t.Context(), "a", 1, [][]byte{[]byte("two")}) },
		"unflushed": func() error { return older.AppendUnflushed(t.Context(), "a", 1, [][]byte{[]byte("two")}) },
		"commit":    func() error { return older.Commit(t.Context(), "a", 1, [][]byte{[]byte("two")}, []edit.Blob{blob}) },
		"put":       func() error { return older.Put(t.Context(), "b", []edit.Blob{blob}) },
		"stream":    func() error { _, _, err := older.PutFrom(t.Context(), "b", strings.NewReader("x")); return err },
		"fork":      func() error { return older.Fork(t.Context(), "a", "b", 1) },
		"delete":    func() error { return older.Delete(t.Context(), "a") },
		"snapshot":  func() error { return older.PutSnapshot(t.Context(), "a", 1, []byte("x")) },
		"collect":   func() error { _, err := older.GC(t.Context()); return err },
		"get":       func() error { _, err := older.Get(t.Context(), "a", blob.Ref); return err },
		"records": func() error {
			for _, err := range older.Records(t.Context(), "a", 0) {
				return err
			}
			return nil
		},
	} {
		v, ok := errors.AsType[*VersionError](do())
		if !ok || *v != (VersionError{path, mine, mine + 1}) {
			t.Errorf("%s: want a *VersionError, got %v", name, v)
		}
	}
	must(t, older.Close())
	var records, blobs int
	if err := newer.one(t.Context(), "SELECT (SELECT count(*) FROM records), (SELECT count(*) FROM blobs)", nil, &records, &blobs); err != nil || records != 1 || blobs != 1 {
		t.Errorf("want the record and the blob from before, got %d and %d (%v)", records, blobs, err)
	}
}
