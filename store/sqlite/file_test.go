package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

// filled makes a file with two sessions, one forked from the other, and closes it.
func filled(t *testing.T) string {
	t.Helper()
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC) }})
	must(t, err)
	fill(t, s)
	must(t, s.Close())
	return path
}

func fill(t *testing.T, s *sqlite.Store) {
	t.Helper()
	ctx := t.Context()
	must(t, s.Append(ctx, "work", 0, lines("one", strings.Repeat("two ", 100), "three")))
	must(t, s.Put(ctx, "work", []edit.Blob{blobOf("short"), blobOf(strings.Repeat("a long output\n", 500))}))
	must(t, s.PutSnapshot(ctx, "work", 2, []byte("snapshot")))
	must(t, s.Fork(ctx, "work", "fork", 2))
	must(t, s.Put(ctx, "work", []edit.Blob{blobOf("later")}))
	must(t, s.Append(ctx, "fork", 2, lines("other")))
}

// plainly opens a file with another program's eyes: a connection that is not ours.
func plainly(t storetest.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// scanText reads a row of one text, and forgets it.
func scanText(r *sql.Rows) error {
	var text []byte
	return r.Scan(&text)
}

// damage runs statements on a file as another program would.
func damage(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := plainly(t, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	touched := filepath.Join(dir, "touched.db")
	must(t, os.WriteFile(touched, nil, 0o644)) //nolint:gosec // it is too wide on purpose
	for _, path := range []string{filepath.Join(dir, "new.db"), touched} {
		fill(t, open(t, path, sqlite.Options{}))
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 6 {
		t.Errorf("want two files with a log and an index each, got %v", files)
	}
	for _, f := range files {
		info, err := f.Info()
		must(t, err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s: mode, want 0600, got %o", f.Name(), mode)
		}
	}
}

func TestPathIsAnyName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "100%.db", "a?mode=memory.db", "#1.db", "é&_pragma=x.db", "file:x.db"} {
		s := open(t, filepath.Join(dir, name), sqlite.Options{})
		fill(t, s)
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: want the store in a file of that name, got %v", name, err)
		}
	}
}

func TestReopen(t *testing.T) {
	path := filled(t)
	s := open(t, path, sqlite.Options{Existing: true})
	wholesome(t, s)
	data, err := s.Get(t.Context(), "fork", blobOf("short").Ref)
	if err != nil || string(data) != "short" {
		t.Errorf("want the blob, got %q (%v)", data, err)
	}
	if err := s.Append(t.Context(), "work", 0, lines("lost")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("want a conflict, got %v", err)
	}
}

// TestNotOurs is about files that must be left as they are.
func TestNotOurs(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	must(t, err)
	other := newFile(t)
	damage(t, other, "CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('mine')")
	others, err := os.ReadFile(other) //nolint:gosec // the test's own
	must(t, err)
	marked := newFile(t)
	damage(t, marked, "PRAGMA application_id = 42")
	foreign, err := os.ReadFile(marked) //nolint:gosec // the test's own
	must(t, err)
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"text", []byte("Dear diary, this is no database, but it is longer than a header of one hundred bytes would be, all the same.")},
		{"short text", []byte("hello")},
		{"zeros", make([]byte, 8192)},
		{"header alone", whole[:100]},
		{"half a page", whole[:2048]},
		{"first page", whole[:4096]},
		{"half", whole[:len(whole)/2/4096*4096]},
		{"another program's database", others},
		{"an empty database of another program", foreign},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := newFile(t)
			must(t, os.WriteFile(path, tt.data, 0o600))
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if !errors.Is(err, sqlite.ErrNotStore) || s != nil {
				t.Errorf("want ErrNotStore, got %v", err)
			} else if !strings.Contains(err.Error(), path) {
				t.Errorf("want an error that names the file, got %v", err)
			}
			after, err := os.ReadFile(path) //nolint:gosec // the test's own
			must(t, err)
			if !bytes.Equal(after, tt.data) {
				t.Error("the file has been changed")
			}
		})
	}
}

func TestNewerVersion(t *testing.T) {
	path := filled(t)
	damage(t, path, "PRAGMA user_version = 1000")
	before, err := os.ReadFile(path) //nolint:gosec // the test's own
	must(t, err)
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	var version *sqlite.VersionError
	if !errors.As(err, &version) || version.Got != 1000 || version.Path != path {
		t.Errorf("want a *VersionError, got %v", err)
	}
	after, err := os.ReadFile(path) //nolint:gosec // the test's own
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file has been changed")
	}
}

func TestExisting(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.db")
	if _, err := sqlite.Open(t.Context(), missing, sqlite.Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want fs.ErrNotExist, got %v", err)
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "no", "folder.db"), sqlite.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want fs.ErrNotExist, got %v", err)
	}
	if _, err := sqlite.Open(t.Context(), dir, sqlite.Options{}); err == nil {
		t.Error("a folder: want an error, got nil")
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("want nothing made, got %v", left)
	}
}

func TestClosed(t *testing.T) {
	for _, path := range []string{newFile(t), sqlite.Memory} {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		must(t, err)
		fill(t, s)
		must(t, s.Close())
		must(t, s.Close())
		if err := s.Append(t.Context(), "work", 3, lines("four")); err == nil {
			t.Error("Append after Close: want an error, got nil")
		}
		if _, err := s.Get(t.Context(), "work", blobOf("short").Ref); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get after Close: want an error of its own, got %v", err)
		}
	}
}

// TestReadersDoNotWait reads while another process holds the file for writing.
func TestReadersDoNotWait(t *testing.T) {
	path := filled(t)
	s := open(t, path, sqlite.Options{})
	db := plainly(t, path)
	db.SetMaxOpenConns(1)
	_, err := db.Exec("BEGIN IMMEDIATE; UPDATE sessions SET updated = 0")
	must(t, err)
	if data, err := s.Get(t.Context(), "work", blobOf("short").Ref); err != nil || string(data) != "short" {
		t.Errorf("want the blob, got %q (%v)", data, err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Append(waiting, "work", 3, lines("four")) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a writer that is told to stop waiting: want that error, got %v", err)
	}
	_, err = db.Exec("ROLLBACK")
	must(t, err)
	must(t, s.Append(t.Context(), "work", 3, lines("four")))
	wholesome(t, s)
}

// TestToolResultBlobs reads the documents' table with a connection of ours.
func TestToolResultBlobs(t *testing.T) {
	s := open(t, filled(t), sqlite.Options{})
	long := strings.Repeat("a long output\n", 500)
	t.Run("R002-5_a row for each session and blob", func(t *testing.T) {
		var got, want []string
		must(t, s.Query(t.Context(), func(r *sql.Rows) error {
			var id, session, tool, created string
			var content []byte
			var size int
			if err := r.Scan(&id, &session, &tool, &content, &size, &created); err != nil {
				return err
			}
			if id != string(blobOf(string(content)).Ref) || size != len(content) || tool != "" || created != "2026-03-01 12:30:15" {
				t.Errorf("%s of %s: tool %q, %d bytes, at %s: %.20q", id, session, tool, size, created, content)
			}
			got = append(got, session+" "+string(content))
			return nil
		}, "SELECT id, session_id, tool_name, content, byte_size, created_at FROM tool_result_blobs"))
		for _, row := range []string{"short", long, "later"} {
			want = append(want, "work "+row)
		}
		want = append(want, "fork short", "fork "+long)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("want %.60q, got %.60q", want, got)
		}
	})
	t.Run("R002-5_a content in pieces is whole there", func(t *testing.T) {
		want := longOutput(1)
		must(t, s.Put(t.Context(), "long", []edit.Blob{blobOf(want)}))
		must(t, s.Query(t.Context(), func(r *sql.Rows) error {
			var content []byte
			err := r.Scan(&content)
			if string(content) != want {
				t.Errorf("want %d bytes, got %d", len(want), len(content))
			}
			return err
		}, "SELECT content FROM tool_result_blobs WHERE session_id = 'long'"))
	})
	t.Run("a query changes nothing", func(t *testing.T) {
		if err := s.Query(t.Context(), func(*sql.Rows) error { return nil }, "DELETE FROM blobs"); err == nil {
			t.Error("want an error, got nil")
		}
		wholesome(t, s)
	})
	t.Run("another program is told what is missing", func(t *testing.T) {
		var content []byte
		err := plainly(t, s.Path()).QueryRow("SELECT content FROM tool_result_blobs").Scan(&content)
		if err == nil || !strings.Contains(err.Error(), "no such function: plimsoll_") {
			t.Errorf("want an error that names a function, got %v", err)
		}
	})
}
