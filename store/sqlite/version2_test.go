package sqlite

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// writeVersion2 makes a file as the second version wrote it: each content is one body,
// whatever its length.
func writeVersion2(t *testing.T, path string, contents ...[]byte) {
	t.Helper()
	tools, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if err := touch(path, Options{}); err != nil {
		t.Fatal(err)
	}
	dsn, err := address(path, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLane(t.Context(), tools.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}()
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrate(t.Context(), l, all[:2]); err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := l.exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	pack := func(data []byte) body {
		b, err := tools.packer.pack(data)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	exec("INSERT INTO sessions (id, name, records, created, updated) VALUES (1, ?1, 1, 0, 0)", []byte("old"))
	record := tools.packer.at(pack([]byte("record")), 1, 0)
	exec("INSERT INTO records VALUES (1, 0, ?1, ?2, ?3, ?4)", record.form, record.size, record.sum, record.data)
	for i, data := range contents {
		b := pack(data)
		exec("INSERT INTO blobs VALUES (?1, ?2, ?3, ?4, ?5, ?6)", i+1, string(llm.RefOf(data)), b.form, b.size, b.sum, b.data)
		exec("INSERT INTO session_blobs (session, blob, created) VALUES (1, ?1, 0)", i+1)
	}
}

// TestVersion2 opens a file that was written when contents were not cut into pieces, and
// goes on in it.
func TestVersion2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "version2.db")
	long := bytes.Repeat([]byte("a line of an old content\n"), 40_000)
	contents := [][]byte{[]byte("short"), long, noise(700_000), {}}
	writeVersion2(t, path, contents...)
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "to read it only, got 2") {
		t.Errorf("read only: want an error about the version, got %v", err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	compare := func(session string) {
		t.Helper()
		for _, want := range contents {
			if got, err := s.Get(t.Context(), session, llm.RefOf(want)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: want %d bytes, got %d (%v)", session, len(want), len(got), err)
			}
			c, err := s.Open(t.Context(), session, llm.RefOf(want))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size())); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: want %d bytes in parts, got %d (%v)", session, len(want), len(got), err)
			}
			if at, err := c.Line(c.Lines() / 2); err != nil || at > 0 && want[at-1] != '\n' {
				t.Errorf("%s: want the beginning of a line, got %d (%v)", session, at, err)
			}
		}
	}
	compare("old")
	for i, data := range contents { // all are there, so that none is cut
		if i%2 == 0 {
			err = s.Put(t.Context(), "new", []edit.Blob{{Ref: llm.RefOf(data), Data: data}})
		} else {
			_, _, err = s.PutFrom(t.Context(), "new", bytes.NewReader(data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	compare("new")
	if err := s.Verify(context.Background(), func(p Problem) { t.Error(p) }, nil); err != nil {
		t.Error(err)
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Blobs != len(contents) || stats.Version <= 2 {
		t.Errorf("want %d blobs in a newer version, got %+v (%v)", len(contents), stats, err)
	}
}
