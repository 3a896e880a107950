package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A Problem is something that Verify found.
type Problem struct {
	Kind    string // one of the Kind constants
	Session string // whose; empty: of none in particular
	Ref     string // of the blob, if it is about one
	What    string // for people
}

// The kinds of problems.
const (
	KindFile     = "file"     // SQLite itself finds the file damaged
	KindBlob     = "blob"     // a content is not what its Ref says
	KindRecord   = "record"   // a record is missing or damaged
	KindSnapshot = "snapshot" // a snapshot is damaged or beyond the records
	KindSession  = "session"  // what is known about a session is at odds with itself
	KindGarbage  = "garbage"  // something that no session sees: no loss, and GC removes it
)

// String returns the problem on one line.
func (p Problem) String() string {
	s := p.Kind
	if p.Session != "" {
		s += fmt.Sprintf(": session %q", p.Session)
	}
	if p.Ref != "" {
		s += ": " + p.Ref
	}
	return s + ": " + p.What
}

// Verify reads all of a store and calls found for everything that is not as it has to
// be: every content decompresses to what its Ref or checksum says, every session's
// records follow on each other, every blob that a session sees is there, nothing is
// kept that nobody sees, and SQLite's own checks pass. It sees the store as it was
// when Verify began, and changes nothing.
//
// read, which may be nil, is called after each content with the number of contents
// read so far: records, blobs and snapshots, as [Stats] counts them. The error is about
// not being able to go on.
func (s *Store) Verify(ctx context.Context, found func(Problem), read func(contents int)) error {
	err := ctx.Err()
	if err == nil {
		err = s.read(ctx, func(l *lane) error {
			// It only reads, and a damaged file may refuse even to be let go of.
			defer func() { _, _ = l.exec(context.WithoutCancel(ctx), "ROLLBACK") }()
			if _, err := l.exec(ctx, "BEGIN"); err != nil { // so that all steps see the same moment
				return err
			}
			v := verifier{s.packer, l, s.now(), found, read, 0}
			return v.run(ctx)
		})
	}
	return named(ctx, err, "verify %s", s.path)
}

// A verifier is one run of Verify.
type verifier struct {
	packer *packer
	lane   *lane
	now    time.Time
	found  func(Problem)
	read   func(int)
	n      int
}

func (v *verifier) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{v.file, v.sessions, v.blobs, v.records, v.snapshots, v.garbage} {
		if err := step(ctx); err != nil {
			if !isDamage(err) {
				return err
			}
			v.found(Problem{Kind: KindFile, What: err.Error()}) // the other steps may read more
		}
	}
	return nil
}

// next counts a content.
func (v *verifier) next() {
	v.n++
	if v.read != nil {
		v.read(v.n)
	}
}

// file is what SQLite itself checks: pages, indexes, references between tables.
func (v *verifier) file(ctx context.Context) error {
	// A connection remembers how the index of terms is laid out. A query notices that another
	// one has changed that, and the check below does not.
	err := v.lane.each(ctx, func(*sql.Rows) error { return nil }, "SELECT rowid FROM terms WHERE terms MATCH '\"none\"' LIMIT 1")
	if err != nil {
		return err
	}
	err = v.lane.each(ctx, func(r *sql.Rows) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		if text != "ok" {
			v.found(Problem{Kind: KindFile, What: text})
		}
		return nil
	}, "PRAGMA integrity_check")
	if err != nil {
		return err
	}
	return v.lane.each(ctx, func(r *sql.Rows) error {
		var table, refers string
		var row, n sql.NullInt64
		if err := r.Scan(&table, &row, &refers, &n); err != nil {
			return err
		}
		v.found(Problem{Kind: KindFile, What: fmt.Sprintf("row %d of %s refers to one of %s that is missing", row.Int64, table, refers)})
		return nil
	}, "PRAGMA foreign_key_check")
}

// sessions checks what the rows of sessions say about each other and about records.
func (v *verifier) sessions(ctx context.Context) error {
	const query = `
		SELECT s.id, coalesce(s.name, x''), s.fork_seq, s.records, coalesce(p.records, 0), coalesce(s.parent < s.id, 1),
			(SELECT count(*) FROM records r WHERE r.session = s.id),
			(SELECT coalesce(min(r.seq), s.fork_seq) FROM records r WHERE r.session = s.id)
		FROM sessions s LEFT JOIN sessions p ON p.id = s.parent ORDER BY s.id`
	return v.lane.each(ctx, func(r *sql.Rows) error {
		var id, fork, records, parents, count, first int64
		var name []byte
		var older bool
		if err := r.Scan(&id, &name, &fork, &records, &parents, &older, &count, &first); err != nil {
			return err
		}
		report := func(kind, format string, args ...any) {
			v.found(Problem{Kind: kind, Session: string(name), What: fmt.Sprintf("number %d: ", id) + fmt.Sprintf(format, args...)})
		}
		if !older {
			report(KindSession, "is forked from one that began later")
		}
		if fork > parents {
			report(KindSession, "has %d records from its parent, want at most %d", fork, parents)
		}
		// With the unique pairs of session and number that SQLite checks, this is all of them.
		if count != records-fork || first != fork {
			report(KindRecord, "want records %d to %d, got %d from %d", fork, records, count, first)
		}
		return nil
	}, query)
}

func (v *verifier) blobs(ctx context.Context) error {
	return v.lane.each(ctx, func(r *sql.Rows) error {
		var b body
		var ref string
		var content int64
		if err := r.Scan(&ref, &b.form, &b.size, &b.sum, &b.data, &content); err != nil {
			return err
		}
		v.next()
		if b.form == formPieces {
			return v.pieces(ctx, b, llm.Ref(ref), content)
		}
		if _, err := v.packer.blob(b, llm.Ref(ref)); err != nil {
			v.blob(ref, "%s", whatOf(err))
		}
		return nil
	}, "SELECT b.ref, b.form, b.size, b.sum, b.body, coalesce(c.id, 0) FROM blobs b LEFT JOIN contents c ON c.blob = b.id ORDER BY b.id")
}

// blob reports what is wrong with one.
func (v *verifier) blob(ref, format string, args ...any) {
	v.found(Problem{Kind: KindBlob, Ref: ref, What: fmt.Sprintf(format, args...)})
}

// pieces checks those of a content, one after the other.
func (v *verifier) pieces(ctx context.Context, b body, ref llm.Ref, content int64) error {
	x, err := v.packer.index(b, ref)
	if err != nil {
		v.blob(string(ref), "%s", whatOf(err))
		return nil
	}
	made, again, next := sha256.New(), index{}, 0
	whole := true
	var data []byte
	err = v.lane.each(ctx, func(r *sql.Rows) error {
		var i, form int
		var packed sql.RawBytes // as long as the row
		if err := r.Scan(&i, &form, &packed); err != nil {
			return err
		}
		if i != next || i >= len(x.pieces) {
			v.blob(string(ref), "want piece %d of %d, got %d", next, len(x.pieces), i)
			whole, next = false, i+1
			return nil
		}
		next++
		var err error
		if data, err = v.packer.piece(data, x, i, body{form: form, data: packed}); err != nil {
			v.blob(string(ref), "piece %d: %s", i, whatOf(err))
			whole = false
			return nil
		}
		made.Write(data) // never an error
		again.add(data, x.pieces[i].sum)
		return nil
	}, "SELECT seq, form, body FROM pieces WHERE content = ?1 ORDER BY seq", content)
	switch got := llm.RefOfSum([sha256.Size]byte(made.Sum(nil))); {
	case err != nil || !whole:
	case next != len(x.pieces):
		v.blob(string(ref), "want %d pieces, got %d", len(x.pieces), next)
	case got != ref:
		v.blob(string(ref), "%s", whatOf(flaw("ref of the content", ref, got)))
	case !slices.Equal(x.pieces, again.pieces) || x.lines != again.lines:
		v.blob(string(ref), "the index counts other lines than there are")
	}
	return err
}

func (v *verifier) records(ctx context.Context) error {
	return v.bodies(ctx, KindRecord, `
		SELECT coalesce(s.name, x''), s.id, r.seq, r.form, r.size, r.sum, r.body, r.seq < s.records
		FROM records r JOIN sessions s ON s.id = r.session ORDER BY r.rowid`)
}

func (v *verifier) snapshots(ctx context.Context) error {
	return v.bodies(ctx, KindSnapshot, `
		SELECT coalesce(s.name, x''), s.id, n.seq, n.form, n.size, n.sum, n.body, n.seq <= s.records
		FROM snapshots n JOIN sessions s ON s.id = n.session ORDER BY n.rowid`)
}

// bodies checks contents that belong to a session and a number.
func (v *verifier) bodies(ctx context.Context, kind, query string) error {
	return v.lane.each(ctx, func(r *sql.Rows) error {
		var b body
		var name []byte
		var id, seq int64
		var inside bool
		if err := r.Scan(&name, &id, &seq, &b.form, &b.size, &b.sum, &b.data, &inside); err != nil {
			return err
		}
		v.next()
		what := ""
		if !inside {
			what = "is beyond the last record"
		} else if _, err := v.packer.unpack(b, id, seq); err != nil {
			what = whatOf(err)
		}
		if what != "" {
			v.found(Problem{Kind: kind, Session: string(name), What: fmt.Sprintf("%s %d: %s", kind, seq, what)})
		}
		return nil
	}, query)
}

// whatOf is a damage without its place, which a Problem names by itself.
func whatOf(err error) string {
	if d, ok := errors.AsType[*store.DamageError](err); ok {
		return fmt.Sprintf("body is damaged: %s, want %s, got %s", d.What, d.Want, d.Got)
	}
	return err.Error()
}

// garbage finds what no session sees.
func (v *verifier) garbage(ctx context.Context) error {
	err := v.lane.each(ctx, func(r *sql.Rows) error {
		var ref string
		if err := r.Scan(&ref); err != nil {
			return err
		}
		v.found(Problem{Kind: KindGarbage, Ref: ref, What: "a blob that no session sees"})
		return nil
	}, "SELECT ref FROM blobs WHERE id NOT IN (SELECT blob FROM session_blobs)")
	if err != nil {
		return err
	}
	const dead = "SELECT id FROM contents WHERE blob IS NULL AND touched < ?1"
	left, err := v.lane.numbers(ctx, dead, aliveSince(v.now))
	if err != nil {
		return err
	}
	for _, id := range left {
		v.found(Problem{Kind: KindGarbage, What: fmt.Sprintf("content %d: the beginning of one whose writer is gone", id)})
	}
	const beyond = `
		SELECT d.id FROM sessions d WHERE d.name IS NULL AND (
			NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent = d.id)
			OR d.records > (SELECT max(c.fork_seq) FROM sessions c WHERE c.parent = d.id)
			OR EXISTS (SELECT 1 FROM session_blobs v WHERE v.session = d.id AND v.id > (SELECT max(c.fork_blob) FROM sessions c WHERE c.parent = d.id)))`
	return v.lane.each(ctx, func(r *sql.Rows) error {
		var id int64
		if err := r.Scan(&id); err != nil {
			return err
		}
		v.found(Problem{Kind: KindGarbage, What: fmt.Sprintf("number %d: a deleted session keeps what no fork sees", id)})
		return nil
	}, beyond)
}
