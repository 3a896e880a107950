package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// found are the refs that a search finds, the best first.
func found(t *testing.T, s *sqlite.Store, session, query string, limit int) []llm.Ref {
	t.Helper()
	hits, err := s.Search(t.Context(), session, query, limit)
	must(t, err)
	var out []llm.Ref
	for _, h := range hits {
		out = append(out, h.Ref)
	}
	return out
}

// rows counts what a query counts.
func rows(t *testing.T, s *sqlite.Store, query string) (n int) {
	t.Helper()
	must(t, s.Query(t.Context(), func(r *sql.Rows) error { return r.Scan(&n) }, query))
	return n
}

// TestSearchRecent has two words that are too common to be counted to the end, one of them in
// what came last: it tells more, as it is the rarer one.
func TestSearchRecent(t *testing.T) {
	s := open(t, newFile(t), sqlite.Options{})
	var blobs []edit.Blob
	for i := range 4000 {
		word := "before"
		if i >= 2800 {
			word = "lately"
		}
		blobs = append(blobs, blobOf(fmt.Sprint(word, " number", i)))
	}
	must(t, s.Put(t.Context(), "a", blobs))
	if got := found(t, s, "a", "before lately absent", 1); len(got) != 1 || got[0] != blobs[3999].Ref {
		t.Errorf("want the newest text, got %v", got)
	}
}

// TestSearchCommon has more passages with a common word than are listed: a rare word finds
// the oldest of them all the same, and so do words that only together are rare.
func TestSearchCommon(t *testing.T) {
	s := open(t, newFile(t), sqlite.Options{})
	var blobs []edit.Blob
	for i := range 7000 {
		text := fmt.Sprint("common other number", i)
		if i == 3 {
			text = "common other together rare"
		}
		if i%2 == 0 {
			text += " even"
		} else if i != 5 {
			text += " odd"
		} else {
			text += " odd even"
		}
		blobs = append(blobs, blobOf(text))
	}
	must(t, s.Put(t.Context(), "a", blobs))
	for query, want := range map[string]int{"common rare": 3, "rare": 3, "common odd even": 5, "common other": 6999, "common number17": 17} {
		if got := found(t, s, "a", query, 1); len(got) != 1 || got[0] != blobs[want].Ref {
			t.Errorf("%s: want text %d, got %v", query, want, got)
		}
	}
}

// TestSearchDamaged: a content that cannot be read is not found, and is in nobody's way.
func TestSearchDamaged(t *testing.T) {
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	long := "word in the beginning\n" + longOutput(2) + "word in the end"
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("word one"), blobOf(long), blobOf("word two")}))
	must(t, s.Index(t.Context(), "a"))
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("word six"), blobOf("word ten")}))
	must(t, s.Close())
	damage(t, path, "UPDATE blobs SET sum = sum + 1 WHERE id IN (1, 4)", "UPDATE pieces SET body = x'' WHERE seq = 2")
	s = open(t, path, sqlite.Options{})
	got := found(t, s, "a", "word", 10)
	if want := []llm.Ref{blobOf("word ten").Ref, blobOf("word two").Ref, blobOf(long).Ref}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("want what can be read, %v, got %v", want, got)
	}
}

// TestSearchReadOnly finds what had been indexed before, and changes nothing.
func TestSearchReadOnly(t *testing.T) {
	path := newFile(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("word one")}))
	must(t, s.Index(t.Context(), "a"))
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("word two")}))
	must(t, s.Close())
	s = open(t, path, sqlite.Options{ReadOnly: true})
	must(t, s.Index(t.Context(), "a"))
	if got := found(t, s, "a", "word", 10); len(got) != 1 || got[0] != blobOf("word one").Ref {
		t.Errorf("want the one that was indexed, got %v", got)
	}
}

// TestSearchForgets: what no session sees has left nothing that can be searched, and the
// words of a deleted session go with the next GC.
func TestSearchForgets(t *testing.T) {
	s := open(t, newFile(t), sqlite.Options{})
	for i := range 50 {
		must(t, s.Put(t.Context(), fmt.Sprint(i%2), []edit.Blob{blobOf(fmt.Sprint("word ", i))}))
		if i%10 == 0 {
			must(t, s.Index(t.Context(), fmt.Sprint(i%2)))
			wholesome(t, s)
		}
	}
	must(t, s.Index(t.Context(), "0"))
	must(t, s.Index(t.Context(), "1"))
	must(t, s.Delete(t.Context(), "0"))
	for range 2 {
		if n := rows(t, s, "SELECT count(*) FROM passages"); n != 25 {
			t.Errorf("want the passages of one session, got %d", n)
		}
		if got := found(t, s, "1", "word", 50); len(got) != 25 {
			t.Errorf("want 25 texts, got %d", len(got))
		}
		must(t, second(s.GC(t.Context())))
		if n := rows(t, s, "SELECT count(*) FROM terms WHERE terms MATCH 'word'"); n != 25 {
			t.Errorf("want the words of one session, got those of %d passages", n)
		}
		wholesome(t, s)
	}
	must(t, s.Delete(t.Context(), "1"))
	must(t, second(s.GC(t.Context())))
	if n := rows(t, s, "SELECT count(*) FROM terms WHERE terms MATCH 'word'"); n != 0 {
		t.Errorf("want no words left, got those of %d passages", n)
	}
	must(t, s.Put(t.Context(), "2", []edit.Blob{blobOf("word again")}))
	if got := found(t, s, "2", "word", 50); len(got) != 1 {
		t.Errorf("want it found, got %v", got)
	}
	wholesome(t, s)
}

// TestSearchStops: what was indexed before a context ended is kept, and the rest comes later.
func TestSearchStops(t *testing.T) {
	s := open(t, newFile(t), sqlite.Options{})
	long := logOf(3 << 20)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(long)}))
	for i := range 4 {
		must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(fmt.Sprint("small ", i))}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	indexed := make(chan struct{})
	go func() {
		defer close(indexed)
		_ = s.Index(ctx, "a") // it ends with its context, or is done before
	}()
	for done := false; !done && rows(t, s, "SELECT count(*) FROM passages") == 0; {
		select {
		case <-indexed:
			done = true
		default:
		}
	}
	cancel()
	<-indexed
	before := rows(t, s, "SELECT count(*) FROM passages")
	if got := found(t, s, "a", "small", 10); len(got) != 4 {
		t.Errorf("want the small ones found, got %v", got)
	}
	all := rows(t, s, "SELECT count(*) FROM passages")
	if want := len(long) / 2048; before == 0 || all < want || all > want+want/10 {
		t.Errorf("want some passages and then about %d, got %d and %d", want, before, all)
	}
	wholesome(t, s)
}

func logOf(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "12:%02d worker %d: request %x done, %d bytes\n", i%60, i%7, uint32(i)*2654435761, i*i%9973)
	}
	return b.String()[:n]
}

// TestSearchTogether has two stores on one file that put, index and search at the same time.
func TestSearchTogether(t *testing.T) {
	path := newFile(t)
	stores := []*sqlite.Store{open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})}
	const each = 60
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			s := stores[w%2]
			for i := range each {
				text := fmt.Sprintf("word from%d number%d", w, i)
				if err := s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}); err != nil {
					t.Error(err)
				}
				hits, err := s.Search(t.Context(), "a", text, 1)
				if err != nil || len(hits) != 1 || hits[0].Text != text {
					t.Errorf("%s: want what was just put, got %+v (%v)", text, hits, err)
				}
			}
		})
	}
	group.Wait()
	if n := rows(t, stores[0], "SELECT count(*) FROM passages"); n != 4*each {
		t.Errorf("want each indexed once, got %d passages of %d", n, 4*each)
	}
	wholesome(t, stores[1])
}
