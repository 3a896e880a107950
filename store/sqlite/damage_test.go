package sqlite_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

// corrupt damages the file of a store with the connection of another program.
type corrupt struct {
	t    storetest.T
	path string
}

// run runs statements without SQLite's own checks. Each gets all the arguments.
func (c corrupt) run(args []any, statements ...string) {
	c.t.Helper()
	db := plainly(c.t, c.path)
	for _, s := range statements {
		if _, err := db.Exec(s, args...); err != nil {
			c.t.Fatalf("%s: %v", s, err)
		}
	}
}

func (c corrupt) Exchange(one, other llm.Ref) {
	c.run([]any{string(one), string(other)},
		"UPDATE blobs SET ref = '' WHERE ref = ?1 AND ?2 = ?2",
		"UPDATE blobs SET ref = ?1 WHERE ref = ?2",
		"UPDATE blobs SET ref = ?2 WHERE ref = '' AND ?1 = ?1")
}

// number is the session with the name ?1, in SQL.
const number = "(SELECT id FROM sessions WHERE name = ?1)"

func (c corrupt) Swap(session string, i, j int) { c.swap("records", session, i, j) }

func (c corrupt) SwapSnapshots(session string, i, j int) { c.swap("snapshots", session, i, j) }

func (c corrupt) swap(table, session string, i, j int) {
	of := " WHERE session = " + number + " AND seq = "
	c.run([]any{[]byte(session), i, j},
		"UPDATE "+table+" SET seq = -1"+of+"?2 AND ?3 = ?3",
		"UPDATE "+table+" SET seq = ?2"+of+"?3",
		"UPDATE "+table+" SET seq = ?3"+of+"-1 AND ?2 = ?2")
}

func (c corrupt) Copy(from string, i int, to string, j int) {
	c.run([]any{[]byte(from), i, []byte(to), j}, `
		REPLACE INTO records (session, seq, form, size, sum, body)
		SELECT (SELECT id FROM sessions WHERE name = ?3), ?4, form, size, sum, body
		FROM records WHERE session = `+number+` AND seq = ?2`)
}

func (c corrupt) Lose(session string, i int) {
	c.run([]any{[]byte(session), i}, "DELETE FROM records WHERE session = "+number+" AND seq = ?2")
}

// TestDamaged holds a store in a file to what all stores notice.
func TestDamaged(t *testing.T) {
	storetest.Damaged(t, func(t storetest.T) (store.Store, storetest.Damage) {
		s := open(t, newFile(t), sqlite.Options{})
		return s, corrupt{t, s.Path()}
	})
}

// TestDamagedIndex has pages of an index in which two rows have changed places, which
// lead to a whole row of something else.
func TestDamagedIndex(t *testing.T) {
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	must(t, s.Append(t.Context(), "a", 0, lines("zero", "one", "two", "three", "four")))
	texts := []string{"unused", "text of one tool", "text of another"}
	for _, text := range texts {
		must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}))
	}
	must(t, s.Close())
	data, err := os.ReadFile(path) //nolint:gosec // the test's own
	must(t, err)
	// A row of an index is the length of its head, the types of its columns, and these; the
	// last one is the number of the row that it leads to. Session 1 takes no byte.
	lead := func(row, to string) {
		t.Helper()
		if n := bytes.Count(data, []byte(row)); n != 1 {
			t.Fatalf("row %x of an index, want it once, got it %d times", row, n)
		}
		data[bytes.Index(data, []byte(row))+len(row)-1] = to[0]
	}
	record := "\x04\x09\x01\x01"
	lead(record+"\x02\x03", "\x04")
	lead(record+"\x03\x04", "\x03")
	refs := []llm.Ref{blobOf(texts[1]).Ref, blobOf(texts[2]).Ref}
	blob := "\x03\x43\x01"
	lead(blob+string(refs[0])+"\x02", "\x03")
	lead(blob+string(refs[1])+"\x03", "\x02")
	must(t, os.WriteFile(path, data, 0o600))

	s = open(t, path, sqlite.Options{})
	for i, ref := range refs {
		got, err := s.Get(t.Context(), "a", ref)
		var d *store.DamageError
		if !errors.As(err, &d) || d.Want != string(ref) || d.Got != string(refs[1-i]) || got != nil {
			t.Errorf("want the damage of %s, got %q (%v)", ref, got, err)
		}
	}
	var got []string
	for r, err := range s.Records(t.Context(), "a", 0) {
		if err != nil {
			var d *store.DamageError
			if !errors.As(err, &d) || d.Place != "record 2" {
				t.Errorf("want the damage of record 2, got %v", err)
			}
			break
		}
		got = append(got, string(r))
	}
	if want := []string{"zero", "one"}; !slices.Equal(got, want) {
		t.Errorf("want %q and then an error, got %q", want, got)
	}
}

// TestToolResultBlobsDamaged reads a content under another's ref through the documents' table.
func TestToolResultBlobsDamaged(t *testing.T) {
	path := filled(t)
	corrupt{t, path}.Exchange(blobOf("short").Ref, blobOf("later").Ref)
	err := open(t, path, sqlite.Options{}).Query(t.Context(), scanText, "SELECT content FROM tool_result_blobs WHERE session_id = 'work'")
	if err == nil || !strings.Contains(err.Error(), string(blobOf("short").Ref)) || !strings.Contains(err.Error(), string(blobOf("later").Ref)) {
		t.Errorf("want an error with both refs, got %v", err)
	}
}

// TestVersion1 opens a file that was written when records did not know their place.
func TestVersion1(t *testing.T) {
	packed, err := os.Open(filepath.Join("testdata", "version1.db.gz"))
	must(t, err)
	defer func() { must(t, packed.Close()) }()
	r, err := gzip.NewReader(packed)
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, err)
	path := newFile(t)
	must(t, os.WriteFile(path, data, 0o600))
	damage(t, path, "PRAGMA journal_mode = DELETE")

	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "version of the file, want 7 to read it only, got 1") {
		t.Errorf("read only: want an error about the version, got %v", err)
	}
	s := open(t, path, sqlite.Options{})
	wholesome(t, s)
	for session, want := range map[string][]string{
		"work":  {"one", strings.Repeat("two ", 100), "three"},
		"leaf":  {"one", strings.Repeat("two ", 100), "other", "last"},
		"other": {"", strings.Repeat("packed ", 200)},
		"fork":  nil,
	} {
		var got []string
		for r, err := range s.Records(t.Context(), session, 0) {
			must(t, err)
			got = append(got, string(r))
		}
		if !slices.Equal(got, want) {
			t.Errorf("records of %s: want %.40q, got %.40q", session, want, got)
		}
	}
	if seq, data, err := s.Snapshot(t.Context(), "leaf"); err != nil || seq != 2 || string(data) != "snapshot" {
		t.Errorf("want the snapshot at 2, got %q at %d (%v)", data, seq, err)
	}
	if data, err := s.Get(t.Context(), "leaf", blobOf("short").Ref); err != nil || string(data) != "short" {
		t.Errorf("want the blob, got %q (%v)", data, err)
	}
	must(t, s.Append(t.Context(), "leaf", 4, lines("new")))
	must(t, s.Query(t.Context(), scanText, "SELECT content FROM tool_result_blobs"))
}
