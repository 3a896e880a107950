package sqlite

import (
	"context"
	"database/sql"
)

// weights are what is in a file, by what it would have without some of its sessions.
type weights struct {
	lane     *lane
	pages    int64 // bytes of the pages in use
	empty    int64 // of these, what a file without sessions has
	contents int64 // bytes of all contents, after compression
	freed    int64 // of these
	sessions map[int64]*weight
	named    map[string]*weight
	blobs    map[int64]*weightOfBlob
}

// A weight is a session.
type weight struct {
	parent  *weight
	id      int64
	seq     int   // records that are the parent's
	blob    int64 // newest row of session_blobs when it was forked
	records int   // its own up to here are there still
	forks   []*weight
	given   []givenBlob // in the order of time
	named   bool
}

type givenBlob struct{ row, blob int64 }

type weightOfBlob struct {
	bytes int64
	given int // rows of session_blobs
}

// left returns how large the file would be, in bytes. What is beside the contents, such as
// indexes, is taken to grow with them, but for a page of each table and index.
func (w *weights) left() int64 {
	if w.contents == 0 {
		return w.pages
	}
	return w.pages - int64(float64(w.pages-w.empty)*float64(w.freed)/float64(w.contents))
}

// weigh looks at all that is in a file.
func (l *lane) weigh(ctx context.Context) (*weights, error) {
	w := &weights{lane: l, sessions: map[int64]*weight{}, named: map[string]*weight{}, blobs: map[int64]*weightOfBlob{}}
	var all Stats
	var pages, size int64
	if err := l.stats(ctx, &all); err != nil {
		return nil, err
	}
	if err := l.one(ctx, "PRAGMA page_count", nil, &pages); err != nil {
		return nil, err
	}
	if err := l.one(ctx, "PRAGMA page_size", nil, &size); err != nil {
		return nil, err
	}
	const trees = "SELECT 1 + count(*) FROM sqlite_schema WHERE rootpage > 0" // and that of the schema itself
	if err := l.one(ctx, trees, nil, &w.empty); err != nil {
		return nil, err
	}
	w.pages, w.contents = pages*size-all.FreeBytes, all.StoredBytes
	w.empty = min(w.empty*size, w.pages)
	if err := w.readSessions(ctx); err != nil {
		return nil, err
	}
	return w, w.readBlobs(ctx)
}

func (w *weights) readSessions(ctx context.Context) error {
	const query = "SELECT id, name, parent, fork_seq, fork_blob, records FROM sessions ORDER BY id" // a parent comes before its forks
	return w.lane.each(ctx, func(r *sql.Rows) error {
		one := &weight{}
		var name []byte
		var parent sql.NullInt64
		if err := r.Scan(&one.id, &name, &parent, &one.seq, &one.blob, &one.records); err != nil {
			return err
		}
		if one.named = name != nil; one.named {
			w.named[string(name)] = one
		}
		if p := w.sessions[parent.Int64]; parent.Valid && p != nil {
			one.parent, p.forks = p, append(p.forks, one)
		}
		w.sessions[one.id] = one
		return nil
	}, query)
}

func (w *weights) readBlobs(ctx context.Context) error {
	const bytes = `
		SELECT b.id, length(b.body) + coalesce((SELECT sum(length(p.body)) FROM contents c JOIN pieces p ON p.content = c.id WHERE c.blob = b.id), 0)
		FROM blobs b`
	err := w.lane.each(ctx, func(r *sql.Rows) error {
		var id, n int64
		err := r.Scan(&id, &n)
		w.blobs[id] = &weightOfBlob{bytes: n}
		return err
	}, bytes)
	if err != nil {
		return err
	}
	return w.lane.each(ctx, func(r *sql.Rows) error {
		var session int64
		var g givenBlob
		if err := r.Scan(&g.row, &session, &g.blob); err != nil {
			return err
		}
		if s, b := w.sessions[session], w.blobs[g.blob]; s != nil && b != nil {
			s.given = append(s.given, g)
			b.given++
		}
		return nil
	}, "SELECT id, session, blob FROM session_blobs ORDER BY id")
}

// without leaves a session out, as [lane.remove] removes one.
func (w *weights) without(ctx context.Context, session string) error {
	s := w.named[session]
	if s == nil { // it has gone meanwhile
		return nil
	}
	s.named = false
	for ; s != nil && !s.named; s = s.parent {
		seq, blob := 0, int64(0)
		for _, f := range s.forks {
			seq, blob = max(seq, f.seq), max(blob, f.blob)
		}
		const beyond = `
			SELECT (SELECT coalesce(sum(length(body)), 0) FROM records WHERE session = ?1 AND seq >= ?2 AND seq < ?3)
				+ (SELECT coalesce(sum(length(body)), 0) FROM snapshots WHERE session = ?1 AND seq > ?2 AND seq <= ?3)`
		var bytes int64
		if err := w.lane.one(ctx, beyond, []any{s.id, seq, s.records}, &bytes); err != nil {
			return err
		}
		w.freed += bytes
		s.records = min(s.records, seq)
		for n := len(s.given); n > 0 && s.given[n-1].row > blob; n-- {
			b := w.blobs[s.given[n-1].blob]
			if b.given--; b.given == 0 {
				w.freed += b.bytes
			}
			s.given = s.given[:n-1]
		}
		if len(s.forks) > 0 {
			return nil
		}
		if p := s.parent; p != nil {
			for i, f := range p.forks {
				if f == s {
					p.forks = append(p.forks[:i:i], p.forks[i+1:]...)
					break
				}
			}
		}
	}
	return nil
}
