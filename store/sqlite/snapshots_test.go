package sqlite_test

import (
	"database/sql"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestSessionSnapshots reads the documents' table: of each session the newest snapshot that
// says what is shown.
func TestSessionSnapshots(t *testing.T) {
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC) }})
	must(t, err)
	ctx := t.Context()
	must(t, s.Append(ctx, "work", 0, lines("1", "2", "3", "4")))
	must(t, s.PutSnapshot(ctx, "work", 1, []byte(`{"plimsoll":1,"token_count":3,"messages":[{"role":"user"}]}`+"\n1\n")))
	must(t, s.PutSnapshot(ctx, "work", 3, []byte(`{"plimsoll":1,"token_count":5,"messages":[]}`+"\n2\n3\n")))
	must(t, s.Fork(ctx, "work", "fork", 2))
	must(t, s.Append(ctx, "other", 0, lines("1", "2")))
	must(t, s.PutSnapshot(ctx, "other", 1, []byte("what another host keeps")))
	must(t, s.Append(ctx, "later", 0, lines("1")))
	must(t, s.PutSnapshot(ctx, "later", 1, []byte(`{"plimsoll":1}`+"\n1\n")))
	read := func() (rows []string) {
		must(t, s.Query(ctx, func(r *sql.Rows) error {
			var session, messages, tokens, created string
			err := r.Scan(&session, &messages, &tokens, &created)
			rows = append(rows, session+" "+messages+" "+tokens+" "+created)
			return err
		}, "SELECT session_id, messages, token_count, created_at FROM session_snapshots ORDER BY session_id"))
		return rows
	}
	t.Run("R002-18_a row for each session", func(t *testing.T) {
		want := []string{`fork [{"role":"user"}] 3 2026-03-01 12:30:15`, `work [] 5 2026-03-01 12:30:15`}
		if got := read(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("R002-18_it goes with its session", func(t *testing.T) {
		must(t, s.Delete(ctx, "work"))
		if got := read(); len(got) != 1 || got[0][:4] != "fork" {
			t.Errorf("got %q, want that of the fork", got)
		}
		wholesome(t, s)
	})
	must(t, s.Close())
}

// TestWriter: the file says which process has written to a session last.
func TestWriter(t *testing.T) {
	s := open(t, filled(t), sqlite.Options{})
	for one, err := range s.Sessions(t.Context()) {
		must(t, err)
		if one.Writer != os.Getpid() {
			t.Errorf("%s: want process %d, got %d", one.Name, os.Getpid(), one.Writer)
		}
	}
}
