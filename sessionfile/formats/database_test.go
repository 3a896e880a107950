package formats

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A database is one of opencode's, with the columns that are read.
type database struct {
	t    *testing.T
	path string
	db   *sql.DB
}

// newDatabase makes a database with a log, as the client keeps it.
func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{t: t, path: filepath.Join(t.TempDir(), "opencode.db")}
	var err error
	if d.db, err = sql.Open("sqlite", d.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.db.Close() })
	d.do(`PRAGMA journal_mode = WAL`)
	d.do(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT, cost REAL, tokens_input INTEGER,
		tokens_output INTEGER, tokens_reasoning INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER, time_created INTEGER, time_updated INTEGER)`)
	d.do(`CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)`)
	d.do(`CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)`)
	return d
}

func (d *database) do(ask string, args ...any) {
	d.t.Helper()
	if _, err := d.db.ExecContext(d.t.Context(), ask, args...); err != nil {
		d.t.Fatal(err)
	}
}

// exported is the export of a session, as far as it is in the database.
type exported struct {
	Info struct {
		ID, ParentID, Directory, Version string
		Cost                             float64
		Tokens                           struct {
			Input, Output, Reasoning int64
			Cache                    struct{ Read, Write int64 }
		}
		Time struct{ Created, Updated int64 }
	}
	Messages []struct {
		Info  map[string]any
		Parts []map[string]any
	}
}

// add writes what an export holds into the database, as a session with an id.
func (d *database) add(export []byte, id, parent string) {
	d.t.Helper()
	var e exported
	if err := json.Unmarshal(export, &e); err != nil {
		d.t.Fatal(err)
	}
	k := e.Info.Tokens
	d.do(`INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, id, parent, e.Info.Directory, e.Info.Version, e.Info.Cost,
		k.Input, k.Output, k.Reasoning, k.Cache.Read, k.Cache.Write, e.Info.Time.Created, e.Info.Time.Updated)
	for i, m := range e.Messages {
		message := fmt.Sprint(m.Info["id"])
		delete(m.Info, "id")
		d.do(`INSERT INTO message VALUES (?,?,?,?)`, message, id, int64(i), asText(d.t, m.Info))
		for k, p := range m.Parts {
			delete(p, "id")
			d.do(`INSERT INTO part VALUES (?,?,?,?)`, fmt.Sprintf("prt_%s_%03d", message, k), message, id, asText(d.t, p))
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// without leaves out where things stand.
func withoutPlaces(s *sessionfile.Session) string {
	for i := range s.Segments {
		for k := range s.Segments[i].Entries {
			s.Segments[i].Entries[k].Line = 0
		}
		for k := range s.Segments[i].Failures {
			s.Segments[i].Failures[k].Line = 0
		}
	}
	for i := range s.Abandoned {
		s.Abandoned[i].First, s.Abandoned[i].Last = 0, 0
	}
	for i := range s.Stated {
		s.Stated[i].Line = 0
	}
	for i := range s.Problems {
		s.Problems[i].Line = 0
	}
	return show(s)
}

// TestDatabase: a session of the database is read as its export is, also what is in the
// log yet, and nothing is written to the file or its log.
func TestDatabase(t *testing.T) {
	files, err := filepath.Glob("testdata/opencode/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range append(files, "testdata/recorded/opencode-1.18.33.json", "testdata/recorded/opencode-1.18.33-compacted.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			export, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, ".txt") {
				export = txtar.Parse(export).Files[0].Data
			}
			want, err := Read("x", bytes.NewReader(export))
			if err != nil {
				t.Fatal(err)
			}
			d := newDatabase(t)
			d.add(export, want.ID, want.Parent)
			before := d.files()
			got, err := Open(d.path) // it holds one session
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, got)
			for _, e := range got.Segments[0].Entries {
				if e.Line < 2 {
					t.Fatalf("want the number of the message, from 2, got line %d", e.Line)
				}
			}
			if diff := cmp.Diff(withoutPlaces(want), withoutPlaces(got)); diff != "" {
				t.Errorf("the database differs from the export (-export +database):\n%s", diff)
			}
			if !bytes.Equal(before, d.files()) {
				t.Error("the database or its log was written to")
			}
		})
	}
}

// files returns the bytes of the database and of its log.
func (d *database) files() []byte {
	d.t.Helper()
	var all []byte
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(d.path + end)
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

const small = `{"info":{"directory":"/home/ada","version":"1.18.33","time":{"created":1,"updated":2}},"messages":[
	{"info":{"id":"%[1]s1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"Hello, %[1]s."}]}]}`

// TestDatabaseOfMany: the sessions of a database are listed, and one is opened by its id.
func TestDatabaseOfMany(t *testing.T) {
	d := newDatabase(t)
	for _, id := range []string{"ses_b", "ses_a"} {
		d.add(fmt.Appendf(nil, small, id), id, "")
	}
	d.add(fmt.Appendf(nil, small, "ses_c"), "ses_c", "ses_a")
	d.other("notes.db")
	want := []string{d.path + "#ses_a", d.path + "#ses_b", d.path + "#ses_c"}
	for _, path := range []string{d.path, filepath.Dir(d.path)} {
		if got, err := Find([]string{path}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("sessions of %s: want %v, got %v, %v", path, want, got, err)
		}
	}
	if got, err := Find([]string{want[1], want[1]}); err != nil || !cmp.Equal(got, want[1:2]) {
		t.Errorf("one session: want %v once, got %v, %v", want[1], got, err)
	}
	sessions, err := Sessions(d.path)
	if err != nil || len(sessions) != 3 || sessions[2].Parent != "ses_a" || sessions[0].Time != 2 {
		t.Errorf("want three sessions, the last one of a sub-agent, got %+v, %v", sessions, err)
	}
	s, err := Open(want[2])
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "ses_c" || s.Parent != "ses_a" || s.Kin != sessionfile.KinAgent || s.Path != want[2] || s.Segments[0].Entries[0].Message.Text() != "Hello, ses_c." {
		t.Errorf("want session ses_c, a sub-agent of ses_a, got %s", show(s))
	}
}

// other makes a database of another program beside it.
func (d *database) other(name string) {
	d.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(filepath.Dir(d.path), name))
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(d.t.Context(), `CREATE TABLE note (text TEXT)`); err != nil {
		d.t.Fatal(err)
	}
}

// TestDatabaseUnreadable: a database that is damaged or locked says so, wherever it is met.
func TestDatabaseUnreadable(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "opencode.db")
	if err := os.WriteFile(damaged, []byte("SQLite format 3\x00, and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := newDatabase(t)
	locked.add(fmt.Appendf(nil, small, "ses_a"), "ses_a", "")
	locked.db.SetMaxOpenConns(1)
	locked.do(`PRAGMA journal_mode = DELETE`)
	locked.do(`PRAGMA locking_mode = EXCLUSIVE`)
	locked.do(`BEGIN EXCLUSIVE`)
	locked.do(`DELETE FROM part`)
	for path, why := range map[string]string{damaged: "not a database", locked.path: "locked"} {
		_, err := Open(path)
		for _, part := range []string{"an SQLite database that cannot be read: ", why} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("open: want an error that says %q, got %v", part, err)
			}
		}
	}
	empty := newDatabase(t)
	if _, err := Open(empty.path); err == nil || !strings.Contains(err.Error(), "a database of opencode without sessions") {
		t.Errorf("open: want an error that says that there are no sessions, got %v", err)
	}
	_, listed := Sessions(damaged)
	_, found := Find([]string{filepath.Dir(damaged)})
	for what, err := range map[string]error{"sessions": listed, "find in its folder": found} {
		if err == nil || !strings.Contains(err.Error(), "not a database") {
			t.Errorf("%s: want an error that says why, got %v", what, err)
		}
	}
}

// TestDatabaseBroken: what cannot be read is named, and the rest is read.
func TestDatabaseBroken(t *testing.T) {
	d := newDatabase(t)
	d.add(fmt.Appendf(nil, small, "ses_a"), "ses_a", "")
	d.do(`INSERT INTO message VALUES ('m2', 'ses_a', 9, '{"role":"assistant"')`)
	d.do(`INSERT INTO message VALUES ('m3', 'ses_a', 10, '{"role":"user","time":{"created":5}}')`)
	d.do(`INSERT INTO part VALUES ('p1', 'm3', 'ses_a', '{"type":"text","text":"Still there."}')`)
	d.do(`INSERT INTO part VALUES ('p2', 'm3', 'ses_a', x'ff')`)
	d.do(`INSERT INTO part VALUES ('p3', 'gone', 'ses_a', '{}')`)
	s, err := Open(d.path)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`opencode ses_a by opencode 1.18.33
segment root
  2 user/human: "Hello, ses_a."
  4 user/human: "Still there."
problem 1: parts of a message that the database does not have, left out
problem 3: a row whose data are no JSON object, read as empty
problem 3: a message of the role %q, skipped
problem 4: a row whose data are no JSON object, read as empty
`, "")
	if diff := cmp.Diff(want, show(s)); diff != "" {
		t.Errorf("read differs (-want +got):\n%s", diff)
	}

	d.add(fmt.Appendf(nil, small, "ses_b"), "ses_b", "")
	bare, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(other, bare[:len(bare)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(lines, []byte(`{"type":"session","id":"x","cwd":"/","timestamp":"2026-01-01T00:00:00Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, part := range map[string]string{
		d.path:            "a database of 2 sessions of opencode, of which none is named",
		d.path + "#ses_z": `want one of the database, got "ses_z"`,
		other:             "an SQLite database",
		lines + "#ses_a":  "which is one session",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: want an error that says %q, got %v", path, part, err)
		}
	}
	if _, err := Read("x.db", bytes.NewReader(bare)); err == nil || !strings.Contains(err.Error(), "read by its path") {
		t.Errorf("want an error that asks for the path, got %v", err)
	}
}

// FuzzDatabase reads databases with any bytes in the place of some of their own.
func FuzzDatabase(f *testing.F) {
	f.Add(uint16(100), []byte("data"), `{"role":"user"}`, `{"type":"text","text":"x"}`)
	f.Add(uint16(0), []byte{}, `{"role":"assistant","parentID":"m1","summary":true,"finish":"stop"}`, `{"type":"tool","callID":"c"}`)
	f.Fuzz(func(t *testing.T, at uint16, noise []byte, message, part string) {
		d := newDatabase(t)
		d.add(fmt.Appendf(nil, small, "ses_a"), "ses_a", "")
		d.do(`INSERT INTO message VALUES ('m2', 'ses_a', 9, ?)`, message)
		d.do(`INSERT INTO part VALUES ('p1', 'm2', 'ses_a', ?)`, part)
		if s, err := Open(d.path); err == nil {
			checkSession(t, s)
		} else {
			t.Errorf("a whole database: %v", err)
		}
		d.do(`PRAGMA wal_checkpoint(TRUNCATE)`)
		b, err := os.ReadFile(d.path)
		if err != nil {
			t.Fatal(err)
		}
		copy(b[min(int(at), len(b)):], noise)
		path := filepath.Join(t.TempDir(), "opencode.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path); err == nil {
			checkSession(t, s)
		}
	})
}
