package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"time"
)

// A Session is what a store can tell about one without reading it.
type Session struct {
	Name    string
	Parent  string    // what it was forked from; empty: nothing, or a session that was deleted
	Records int       // that it sees, its ancestors' included
	Blobs   int       // that it was given itself
	Bytes   int64     // of the records and blobs that it was given itself, before compression
	Created time.Time // when it began
	Updated time.Time // when it was last appended to
	Writer  int       // the number of the process that did so, on its machine; 0: not known
}

// listPage is how many sessions are read at once.
const listPage = 100

// Sessions yields the sessions in the order in which they began. It ends after the
// first error.
func (s *Store) Sessions(ctx context.Context) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		for after := int64(0); ; {
			page, last, err := s.sessions(ctx, after)
			if err != nil {
				yield(Session{}, named(ctx, err, "list %s", s.path))
				return
			}
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
			}
			if len(page) < listPage {
				return
			}
			after = last
		}
	}
}

// sessions returns the next page after the session with a number, and the last number.
func (s *Store) sessions(ctx context.Context, after int64) (page []Session, last int64, err error) {
	const query = `
		SELECT s.id, s.name, coalesce(p.name, x''), s.records, s.created, s.updated, s.writer,
			(SELECT count(*) FROM session_blobs v WHERE v.session = s.id),
			(SELECT coalesce(sum(b.size), 0) FROM session_blobs v JOIN blobs b ON b.id = v.blob WHERE v.session = s.id)
				+ (SELECT coalesce(sum(r.size), 0) FROM records r WHERE r.session = s.id)
		FROM sessions s LEFT JOIN sessions p ON p.id = s.parent
		WHERE s.name IS NOT NULL AND s.id > ?1 ORDER BY s.id LIMIT ?2`
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	err = s.read(ctx, func(l *lane) error {
		return l.each(ctx, func(r *sql.Rows) error {
			var one Session
			var name, parent []byte
			var created, updated int64
			err := r.Scan(&last, &name, &parent, &one.Records, &created, &updated, &one.Writer, &one.Blobs, &one.Bytes)
			one.Name, one.Parent = string(name), string(parent)
			one.Created, one.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
			page = append(page, one)
			return err
		}, query, after, listPage)
	})
	return page, last, err
}

// Latest returns the name of the session that was last appended to; empty: there is none.
func (s *Store) Latest(ctx context.Context) (name string, err error) {
	if err = ctx.Err(); err == nil {
		err = s.read(ctx, func(l *lane) error {
			var found []byte
			err := l.one(ctx, "SELECT name FROM sessions WHERE name IS NOT NULL ORDER BY updated DESC, id DESC LIMIT 1", nil, &found)
			if noRow(err) {
				err = nil
			}
			name = string(found)
			return err
		})
	}
	return name, named(ctx, err, "latest session of %s", s.path)
}

// Query reads with a statement of the caller's, such as one on the documents' table
// tool_result_blobs; nothing can be changed in a file that way. f is called for every
// row, and may keep nothing of it but what it scans.
func (s *Store) Query(ctx context.Context, f func(*sql.Rows) error, query string, args ...any) error {
	return named(ctx, s.read(ctx, func(l *lane) error {
		rows, err := l.conn.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := f(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}), "query of %s", s.path)
}

// Stats are the figures of a store.
type Stats struct {
	Version       int // of the tables
	Sessions      int
	Forks         int // of the sessions
	Records       int
	Blobs         int
	Snapshots     int
	RecordBytes   int64 // before compression
	BlobBytes     int64 // before compression, each content once
	SnapshotBytes int64 // before compression
	StoredBytes   int64 // of all of these after compression
	FileBytes     int64 // of the file and its log
	FreeBytes     int64 // in the file and not in use: what GC gives back
}

// Bytes returns the bytes of all contents before compression.
func (s Stats) Bytes() int64 { return s.RecordBytes + s.BlobBytes + s.SnapshotBytes }

// Stats counts what is in a store.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var out Stats
	err := ctx.Err()
	if err == nil {
		err = s.read(ctx, func(l *lane) error { return l.stats(ctx, &out) })
	}
	if err == nil {
		out.FileBytes, err = s.fileBytes(ctx)
	}
	if err != nil {
		return Stats{}, named(ctx, err, "stats of %s", s.path)
	}
	return out, nil
}

func (l *lane) stats(ctx context.Context, out *Stats) error {
	if err := l.one(ctx, "PRAGMA user_version", nil, &out.Version); err != nil {
		return err
	}
	const sessions = "SELECT count(*), coalesce(sum(parent IS NOT NULL), 0) FROM sessions WHERE name IS NOT NULL"
	if err := l.one(ctx, sessions, nil, &out.Sessions, &out.Forks); err != nil {
		return err
	}
	for _, t := range []struct {
		table string
		n     *int
		size  *int64
	}{
		{"records", &out.Records, &out.RecordBytes},
		{"blobs", &out.Blobs, &out.BlobBytes},
		{"snapshots", &out.Snapshots, &out.SnapshotBytes},
	} {
		var stored int64
		query := "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(body)), 0) FROM " + t.table
		if err := l.one(ctx, query, nil, t.n, t.size, &stored); err != nil {
			return err
		}
		out.StoredBytes += stored
	}
	var pieces int64
	if err := l.one(ctx, "SELECT coalesce(sum(length(body)), 0) FROM pieces", nil, &pieces); err != nil {
		return err
	}
	out.StoredBytes += pieces
	var pages, size int64
	if err := l.one(ctx, "PRAGMA freelist_count", nil, &pages); err != nil {
		return err
	}
	if err := l.one(ctx, "PRAGMA page_size", nil, &size); err != nil {
		return err
	}
	out.FreeBytes = pages * size
	return nil
}
