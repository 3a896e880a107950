package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestVerify damages a file in every way that Verify looks for.
func TestVerify(t *testing.T) {
	for _, tt := range []struct {
		name, sql string
		kind      string
		what      string // a part of it
	}{
		{"bytes of a content", "UPDATE blobs SET body = CAST(x'00' || substr(body, 2) AS BLOB) WHERE form = 0", sqlite.KindBlob, "checksum"},
		{"bytes of a packed content", "UPDATE blobs SET body = CAST(substr(body, 1, 20) || x'ffff' || substr(body, 23) AS BLOB) WHERE form = 1", sqlite.KindBlob, "damaged"},
		{"no bytes", "UPDATE blobs SET body = x''", sqlite.KindBlob, "damaged"},
		{"an impossible size", "UPDATE blobs SET size = 4611686018427387904", sqlite.KindBlob, "size"},
		{"a negative size", "UPDATE blobs SET size = -1", sqlite.KindBlob, "size"},
		{"another form", "UPDATE blobs SET form = 7", sqlite.KindBlob, "form"},
		{"a content under another's ref", "UPDATE blobs SET ref = 'raaaaaaaaaaaaaaaaaaaaaaaaaa' WHERE size = 5 AND ref = (SELECT max(ref) FROM blobs WHERE size = 5)", sqlite.KindBlob, "ref of the content"},
		{"a blob that is gone", "DELETE FROM blobs WHERE form = 1", sqlite.KindFile, "blobs that is missing"},
		{"a blob that nobody was given", "DELETE FROM session_blobs", sqlite.KindGarbage, "no session sees"},
		{"a record in another's place", "UPDATE records SET seq = 7 - seq WHERE session = 1 AND seq > 0; UPDATE records SET seq = seq - 4 WHERE seq > 3", sqlite.KindRecord, "record 1: body is damaged: checksum"},
		{"a snapshot in another's place", "UPDATE snapshots SET seq = 1", sqlite.KindSnapshot, "snapshot 1: body is damaged: checksum"},
		{"a record that is gone", "DELETE FROM records WHERE session = 1 AND seq = 1", sqlite.KindRecord, "want records 0 to 3, got 2 from 0"},
		{"the first record is gone", "DELETE FROM records WHERE session = 1 AND seq = 0", sqlite.KindRecord, "got 2 from 1"},
		{"a record's bytes", "UPDATE records SET body = x'00' WHERE seq = 0", sqlite.KindRecord, "record 0: body is damaged"},
		{"a record too many", "UPDATE sessions SET records = 2 WHERE id = 1", sqlite.KindRecord, "want records 0 to 2, got 3"},
		{"more from a parent than it has", "UPDATE sessions SET fork_seq = 9 WHERE parent IS NOT NULL", sqlite.KindSession, "has 9 records from its parent"},
		{"a parent that began later", "UPDATE sessions SET parent = 2 WHERE id = 1", sqlite.KindSession, "forked from one that began later"},
		{"a parent that is gone", "DELETE FROM records WHERE session = 1; DELETE FROM session_blobs WHERE session = 1; DELETE FROM snapshots; DELETE FROM sessions WHERE id = 1", sqlite.KindFile, "sessions that is missing"},
		{"a snapshot's bytes", "UPDATE snapshots SET sum = 1", sqlite.KindSnapshot, "checksum"},
		{"a snapshot of nothing", "UPDATE snapshots SET seq = 8", sqlite.KindSnapshot, "beyond the last record"},
		{"a deleted session without forks", "UPDATE sessions SET name = NULL WHERE parent IS NOT NULL", sqlite.KindGarbage, "keeps what no fork sees"},
		{"an index", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'ON session_blobs (blob)', 'ON session_blobs (created)') WHERE name = 'session_blobs_blob'", sqlite.KindFile, "index session_blobs_blob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filled(t)
			damage(t, path, tt.sql)
			s := open(t, path, sqlite.Options{})
			var all []string
			hit := false
			err := s.Verify(t.Context(), func(p sqlite.Problem) {
				all = append(all, p.String())
				hit = hit || p.Kind == tt.kind && strings.Contains(p.What, tt.what)
			}, nil)
			if err != nil || !hit {
				t.Errorf("want a problem %s: %s, got %q (%v)", tt.kind, tt.what, all, err)
			}
		})
	}
}

// TestVerifyTornPage has a page in the middle that another program wrote over.
func TestVerifyTornPage(t *testing.T) {
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	for i := range 200 {
		must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(output(i))}))
	}
	must(t, s.Close())
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the test's own
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("overwritten ", 1000)), 40*4096)
	must(t, err)
	must(t, f.Close())
	found := 0
	s = open(t, path, sqlite.Options{})
	if err := s.Verify(t.Context(), func(sqlite.Problem) { found++ }, nil); err != nil || found == 0 {
		t.Errorf("want problems, got %d (%v)", found, err)
	}
}

func TestVerifyProgress(t *testing.T) {
	s := open(t, filled(t), sqlite.Options{})
	stats, err := s.Stats(t.Context())
	must(t, err)
	last := 0
	must(t, s.Verify(t.Context(), func(p sqlite.Problem) { t.Error(p) }, func(n int) {
		if n != last+1 {
			t.Errorf("want %d contents, got %d", last+1, n)
		}
		last = n
	}))
	if want := stats.Records + stats.Blobs + stats.Snapshots; last != want {
		t.Errorf("want %d contents read, got %d", want, last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = s.Verify(ctx, func(sqlite.Problem) {}, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped on the way: want that error, got %v", err)
	}
	must(t, s.Append(t.Context(), "work", 3, lines("four")))
}

// TestDamagedIsNotServed is law 2: what is not the content any more is an error.
func TestDamagedIsNotServed(t *testing.T) {
	path := filled(t)
	damage(t, path, "UPDATE blobs SET sum = sum + 1", "UPDATE records SET sum = sum + 1 WHERE seq = 1", "UPDATE snapshots SET sum = sum + 1")
	s := open(t, path, sqlite.Options{})
	if data, err := s.Get(t.Context(), "work", blobOf("short").Ref); err == nil || data != nil {
		t.Errorf("blob: want an error, got %q", data)
	}
	if _, data, err := s.Snapshot(t.Context(), "work"); err == nil || data != nil {
		t.Errorf("snapshot: want an error, got %q", data)
	}
	var got []string
	for r, err := range s.Records(t.Context(), "work", 0) {
		got = append(got, fmt.Sprint(string(r), err != nil))
	}
	if want := []string{"onefalse", "true"}; !slices.Equal(got, want) {
		t.Errorf("records: want %q, got %q", want, got)
	}
}

func TestGC(t *testing.T) {
	path := newFile(t)
	s := open(t, path, sqlite.Options{})
	ctx := t.Context()
	for i := range 60 {
		must(t, s.Put(ctx, "old", []edit.Blob{blobOf(output(i))}))
	}
	must(t, s.Append(ctx, "old", 0, lines("one", "two")))
	must(t, s.Fork(ctx, "old", "fork", 1))
	must(t, s.Put(ctx, "kept", []edit.Blob{blobOf(output(0))}))
	must(t, s.Delete(ctx, "old"))
	must(t, s.Delete(ctx, "fork"))
	wholesome(t, s)
	before, err := s.Stats(ctx)
	must(t, err)
	if before.Blobs != 1 || before.Records != 0 || before.Sessions != 1 || before.FreeBytes == 0 {
		t.Errorf("Delete: want one blob and free space left, got %+v", before)
	}
	freed, err := s.GC(ctx)
	must(t, err)
	after, err := s.Stats(ctx)
	must(t, err)
	if freed.FileBytes <= 0 || after.FreeBytes != 0 || after.FileBytes >= before.FileBytes || freed.Blobs != 0 {
		t.Errorf("want the file smaller, got %+v, %+v before, %+v after", freed, before, after)
	}
	wholesome(t, s)
	if _, err := s.Get(ctx, "kept", blobOf(output(0)).Ref); err != nil {
		t.Error(err)
	}

	t.Run("R001-9_what nobody sees goes", func(t *testing.T) {
		path := filled(t)
		damage(t, path, "DELETE FROM session_blobs WHERE session = 1", "UPDATE sessions SET name = NULL WHERE parent IS NOT NULL")
		s := open(t, path, sqlite.Options{})
		freed, err := s.GC(ctx)
		must(t, err)
		if freed.Blobs != 3 || freed.Records != 1 || freed.Bytes == 0 {
			t.Errorf("want 3 blobs and 1 record gone, got %+v", freed)
		}
		wholesome(t, s)
	})
}

func TestSessions(t *testing.T) {
	s := open(t, filled(t), sqlite.Options{})
	var got []sqlite.Session
	for one, err := range s.Sessions(t.Context()) {
		must(t, err)
		if one.Created.Format("2006-01-02 15:04:05") != "2026-03-01 12:30:15" || one.Updated != one.Created {
			t.Errorf("%s: times %v, %v", one.Name, one.Created, one.Updated)
		}
		one.Created, one.Updated = one.Created.AddDate(-9999, 0, 0), one.Created.AddDate(-9999, 0, 0)
		got = append(got, one)
	}
	if len(got) != 2 || got[0].Name != "work" || got[0].Records != 3 || got[0].Blobs != 3 || got[0].Bytes != 3+400+5+5+7000+5 ||
		got[1].Name != "fork" || got[1].Parent != "work" || got[1].Records != 3 || got[1].Blobs != 0 || got[1].Bytes != 5 {
		t.Errorf("got %+v", got)
	}
	must(t, s.Delete(t.Context(), "work"))
	for one, err := range s.Sessions(t.Context()) {
		must(t, err)
		if one.Name != "fork" || one.Parent != "" || one.Records != 3 {
			t.Errorf("got %+v", one)
		}
	}
	t.Run("many, and one of them enough", func(t *testing.T) {
		for i := range 250 {
			must(t, s.Put(t.Context(), fmt.Sprint("n", i), nil))
		}
		n := 0
		for _, err := range s.Sessions(t.Context()) {
			must(t, err)
			n++
		}
		if n != 251 {
			t.Errorf("want 251 sessions, got %d", n)
		}
		for _, err := range s.Sessions(t.Context()) {
			must(t, err)
			break
		}
	})
}

func TestLatest(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	s := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{Now: func() time.Time { return now }})
	is := func(want string) {
		t.Helper()
		if got, err := s.Latest(t.Context()); err != nil || got != want {
			t.Errorf("want %q, got %q, %v", want, got, err)
		}
	}
	is("")
	must(t, s.Append(t.Context(), "a", 0, [][]byte{[]byte("one")}))
	must(t, s.Append(t.Context(), "b", 0, [][]byte{[]byte("one")}))
	is("b") // of the same moment
	now = now.Add(time.Second)
	must(t, s.Append(t.Context(), "a", 1, [][]byte{[]byte("two")}))
	is("a")
	must(t, s.Delete(t.Context(), "a"))
	is("b")
}

func TestStats(t *testing.T) {
	got, err := open(t, filled(t), sqlite.Options{}).Stats(t.Context())
	must(t, err)
	if got.StoredBytes <= 0 || got.StoredBytes >= got.Bytes() || got.FileBytes <= 0 {
		t.Errorf("got %+v", got)
	}
	got.StoredBytes, got.FileBytes = 0, 0
	want := sqlite.Stats{Version: 7, Sessions: 2, Forks: 1, Records: 4, Blobs: 3, Snapshots: 1, RecordBytes: 3 + 400 + 5 + 5, BlobBytes: 5 + 7000 + 5, SnapshotBytes: 8}
	if got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
}

// TestDeleteKeepsNoMore deletes sessions above forks: what is left in the file is what the
// forks see, record for record.
func TestDeleteKeepsNoMore(t *testing.T) {
	s, ctx := open(t, newFile(t), sqlite.Options{}), t.Context()
	want := func(records, blobs, snapshots int) {
		t.Helper()
		wholesome(t, s)
		got, err := s.Stats(ctx)
		must(t, err)
		if got.Records != records || got.Blobs != blobs || got.Snapshots != snapshots {
			t.Errorf("want %d records, %d blobs and %d snapshots, got %+v", records, blobs, snapshots, got)
		}
	}
	must(t, s.Append(ctx, "a", 0, lines("1", "2", "3")))
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("of a")}))
	must(t, s.PutSnapshot(ctx, "a", 1, []byte("one")))
	must(t, s.PutSnapshot(ctx, "a", 3, []byte("three")))
	must(t, s.Fork(ctx, "a", "b", 3))
	must(t, s.Append(ctx, "b", 3, lines("4", "5")))
	must(t, s.PutSnapshot(ctx, "b", 4, []byte("four")))
	must(t, s.Fork(ctx, "b", "c", 1))
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("late in a")}))
	must(t, s.Put(ctx, "b", []edit.Blob{blobOf("late in b")}))
	want(5, 3, 3)
	must(t, s.Delete(ctx, "b"))
	want(3, 2, 2)
	must(t, s.Delete(ctx, "a"))
	want(1, 1, 1)
	if seq, data, err := s.Snapshot(ctx, "c"); err != nil || seq != 1 || string(data) != "one" {
		t.Errorf("snapshot of the last fork: got %q at %d (%v)", data, seq, err)
	}
	freed, err := s.GC(ctx)
	must(t, err)
	if freed.Records != 0 || freed.Blobs != 0 {
		t.Errorf("want nothing left to remove, got %+v", freed)
	}
	want(1, 1, 1)
	must(t, s.Delete(ctx, "c"))
	want(0, 0, 0)
}
