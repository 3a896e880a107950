package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	mostCounted = 1000 // passages with a term, the oldest: of a more common one these say how common
	mostListed  = 5000 // passages with the rarer terms of a query, of which the best are read
	mostWhole   = 200  // passages with all words of a query that are looked at
	mostJoined  = 4    // words, the rarest, that say which passages may have all
	leastRead   = 64   // passages that are read and ranked, and
	readForEach = 4    // for each hit that is asked for
)

// Search implements [store.Searcher]. First it indexes what has come to the session since it
// was searched last. Then the passages that have the rarer of the terms are listed; those
// that promise most are read, and ranked by what is in them. Where all terms are common,
// the newer ones of the passages are listed. A store that is only read finds what had been
// indexed before.
func (s *Store) Search(ctx context.Context, session, query string, limit int) ([]store.Hit, error) {
	err := usable(ctx, session)
	q := store.NewQuery(query)
	var hits []store.Hit
	if err == nil && limit > 0 && len(q.Words()) > 0 {
		hits, err = s.search(ctx, session, q, limit)
	}
	return hits, named(ctx, err, "search in %q", session)
}

func (s *Store) search(ctx context.Context, session string, q store.Query, limit int) ([]store.Hit, error) {
	line, err := s.indexed(ctx, session)
	if err != nil {
		return nil, err
	}
	var best []int64
	spread := store.Spread{Found: map[string]int{}}
	err = s.read(ctx, func(l *lane) error {
		f := finder{lane: l, query: q, spread: &spread}
		for _, a := range line {
			if err := f.within(ctx, a); err != nil {
				return err
			}
		}
		best, err = f.best(ctx, max(leastRead, readForEach*limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	all, err := s.candidates(ctx, session, best)
	return q.Rank(all, spread, limit), err
}

// An ancestor is a session that another one sees contents of, or that one itself.
type ancestor struct {
	session int64
	bound   int64 // the newest row of session_blobs that is seen
}

// line returns a session and its ancestors.
func (s *Store) line(ctx context.Context, session string) (out []ancestor, err error) {
	const query = `
		WITH RECURSIVE line (at, bound) AS (
			SELECT id, 4611686018427387904 FROM sessions WHERE name = ?1
			UNION ALL
			SELECT s.parent, s.fork_blob FROM line l JOIN sessions s ON s.id = l.at WHERE s.parent < s.id
		)
		SELECT at, bound FROM line`
	err = s.read(ctx, func(l *lane) error {
		return l.each(ctx, func(r *sql.Rows) error {
			var a ancestor
			err := r.Scan(&a.session, &a.bound)
			out = append(out, a)
			return err
		}, query, []byte(session))
	})
	return out, err
}

// A finder lists passages by their numbers.
type finder struct {
	lane   *lane
	query  store.Query
	spread *store.Spread
	ranges []numbers // the newest first
}

// numbers are those of passages from one to another.
type numbers struct{ from, to int64 }

// within adds the passages that are seen of an ancestor.
func (f *finder) within(ctx context.Context, a ancestor) error {
	const last = `
		SELECT p.id FROM session_blobs v JOIN passages p ON p.given = v.id
		WHERE v.session = ?1 AND v.id <= ?2 ORDER BY v.id DESC, p.id DESC LIMIT 1`
	n := numbers{from: a.session << sessionBits}
	err := f.lane.one(ctx, last, []any{a.session, a.bound}, &n.to)
	if noRow(err) {
		return nil
	}
	if err == nil {
		f.ranges = append(f.ranges, n)
		f.spread.Passages += int(n.to-n.from) + 1
	}
	return err
}

// best returns the numbers of the passages that promise most, the newest first.
func (f *finder) best(ctx context.Context, most int) ([]int64, error) {
	terms := f.query.Terms()
	for _, t := range terms {
		n, err := f.count(ctx, t)
		if err != nil {
			return nil, err
		}
		f.spread.Found[t] = n
	}
	slices.SortStableFunc(terms, func(a, b string) int { return f.spread.Found[a] - f.spread.Found[b] })
	promise, listed := map[int64]float64{}, 0
	for _, t := range terms {
		n := f.spread.Found[t]
		if listed > 0 && listed+n > mostListed {
			break
		}
		listed += n
		if err := f.list(ctx, quoted(t), mostListed, func(id int64) { promise[id] += f.query.Weight(t, *f.spread) }); err != nil {
			return nil, err
		}
	}
	if words := f.rarest(mostJoined); len(words) > 1 {
		const before = 1e9 // more than any sum of weights
		if err := f.list(ctx, strings.Join(words, " AND "), mostWhole, func(id int64) { promise[id] += before }); err != nil {
			return nil, err
		}
	}
	return pick(promise, most), nil
}

// rarest returns the rarest words of the query, quoted.
func (f *finder) rarest(most int) []string {
	words := f.query.Words()
	slices.SortStableFunc(words, func(a, b string) int { return f.spread.Found[a] - f.spread.Found[b] })
	words = words[:min(len(words), most)]
	for i, w := range words {
		words[i] = quoted(w)
	}
	return words
}

// pick returns the keys with the highest values, the highest key first.
func pick(promise map[int64]float64, most int) []int64 {
	out := make([]int64, 0, len(promise))
	for id := range promise {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b int64) int {
		switch {
		case promise[a] > promise[b]:
			return -1
		case promise[a] < promise[b]:
			return 1
		}
		return newer(a, b)
	})
	out = out[:min(len(out), most)]
	slices.SortFunc(out, newer)
	return out
}

// newer orders numbers of passages.
func newer(a, b int64) int {
	if a > b {
		return -1
	}
	if a < b {
		return 1
	}
	return 0
}

// quoted is a term in the language of a match. No term has a quote in it.
func quoted(term string) string { return `"` + term + `"` }

// count counts the passages with a term. Behind the oldest of them it takes the others to be as
// common, so that the many terms of a long query cost little. Were it the newest, the words of
// what is worked on now would be taken for common ones.
func (f *finder) count(ctx context.Context, term string) (int, error) {
	const query = `
		SELECT count(*), coalesce(max(id), 0)
		FROM (SELECT rowid AS id FROM terms WHERE terms MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid LIMIT ?4)`
	found, among := 0, int64(0)
	for _, r := range slices.Backward(f.ranges) {
		var n int
		var last int64
		if err := f.lane.one(ctx, query, []any{quoted(term), r.from, r.to, mostCounted - found}, &n, &last); err != nil {
			return 0, err
		}
		found += n
		if found == mostCounted {
			among += last - r.from + 1
			return int(int64(found) * int64(f.spread.Passages) / among), nil
		}
		among += r.to - r.from + 1
	}
	return found, nil
}

// list calls each for the newest passages that match.
func (f *finder) list(ctx context.Context, match string, most int, each func(id int64)) error {
	for _, r := range f.ranges {
		const query = "SELECT rowid FROM terms WHERE terms MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4"
		err := f.lane.each(ctx, func(rows *sql.Rows) error {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			each(id)
			most--
			return nil
		}, query, match, r.from, r.to, most)
		if err != nil {
			return err
		}
	}
	return nil
}

// candidates reads passages. One that cannot be read is left out.
func (s *Store) candidates(ctx context.Context, session string, numbers []int64) (out []store.Candidate, err error) {
	const query = "SELECT p.at, p.line, p.given, b.ref FROM passages p JOIN session_blobs v ON v.id = p.given JOIN blobs b ON b.id = v.blob WHERE p.id = ?1"
	var prose store.Prose
	var open int64 // the row of session_blobs that it is of
	for _, id := range numbers {
		var at, line, given int64
		var ref llm.Ref
		err := s.read(ctx, func(l *lane) error { return l.one(ctx, query, []any{id}, &at, &line, &given, &ref) })
		if noRow(err) {
			continue // it was let go of
		}
		if err == nil && given != open {
			prose, err = s.prose(ctx, session, ref)
			open = given
			if err != nil {
				open = 0
			}
		}
		var p store.Passage
		if err == nil {
			p, err = prose.At(at, line)
		}
		if unreadable(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, store.Candidate{Ref: ref, Passage: p})
	}
	return out, nil
}

// prose opens a content for its passages.
func (s *Store) prose(ctx context.Context, session string, ref llm.Ref) (store.Prose, error) {
	c, err := s.open(ctx, session, ref)
	if err != nil {
		return store.Prose{}, err
	}
	return store.ProseOf(c)
}
