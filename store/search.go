package store

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Searcher is a Store that finds contents by their words.
type Searcher interface {
	// Search returns the passages of contents that a session sees which fit a query best,
	// at most limit of them. A query is plain text, of which [Terms] are looked for; nothing
	// in it has another meaning. First come passages with all of its words, then those with
	// any; among them the higher score first, and of two equal ones the newer content. What
	// is no text, and what is damaged, is not found; of a long content the first 16 MiB are
	// looked at. Where very many passages fit a backend may rank only the newer ones of them.
	Search(ctx context.Context, session, query string, limit int) ([]Hit, error)

	// Index makes ready what has come to a session since the last Search or Index in it, so
	// that the next Search need not. What it has done when its context ends is kept.
	Index(ctx context.Context, session string) error
}

// A Hit is a passage that a search has found.
type Hit struct {
	Ref    llm.Ref
	Offset int64  // where Text begins, in bytes
	Line   int64  // the line in which it begins, counted from 0
	Text   string // what of the passage fits best, of 1,000 bytes at most, in whole runes
	Said   bool   // Text is what an archive says: its lines stand in strings, and are not the content's
	Score  int    // thousandths of BM25; scores of one search can be compared
}

const (
	mostTerms  = 96   // of a query
	hitBytes   = 1000 // of the text of a hit
	hitStep    = 150  // bytes between two places where the text of a hit may begin in a long line
	saturation = 1.2  // k1 of BM25 (Robertson and Zaragoza, 2009, section 3.2)
	byLength   = 0.75
)

// A Query is what is looked for. It is the one place that says in which order passages are
// found.
type Query struct {
	words  []string // a passage with all of these comes first
	wholes []string // these say that it fits better
}

// NewQuery returns the query that a text is. Of a long text the first words are looked for.
func NewQuery(text string) Query {
	var q Query
	known := map[string]bool{}
	scanTerms([]byte(text), func(term []byte, whole bool) {
		if known[string(term)] || len(known) == mostTerms {
			return
		}
		known[string(term)] = true
		if whole {
			q.wholes = append(q.wholes, string(term))
		} else {
			q.words = append(q.words, string(term))
		}
	})
	q.wholes = slices.DeleteFunc(q.wholes, func(t string) bool { return slices.Contains(q.words, t) })
	return q
}

// Words returns the words that are looked for. A passage with all of them comes first.
func (q Query) Words() []string { return slices.Clone(q.words) }

// Terms returns all that is looked for: words, and the wholes that they are parts of.
func (q Query) Terms() []string { return append(slices.Clone(q.words), q.wholes...) }

// A Candidate is a passage that may fit.
type Candidate struct {
	Ref llm.Ref
	Passage
}

// A Spread says how common terms are.
type Spread struct {
	Passages int            // that are searched
	Found    map[string]int // of these, how many have a term
}

// Rank returns the best of some candidates, of which the newer come first.
func (q Query) Rank(all []Candidate, s Spread, limit int) []Hit {
	type ranked struct {
		Candidate
		whole bool // it has all words
		score float64
	}
	weights := map[string]float64{}
	for _, t := range q.Terms() {
		weights[t] = q.Weight(t, s)
	}
	var fit []ranked
	for _, c := range all {
		counts := q.count(c.Text, weights)
		r := ranked{Candidate: c, whole: true}
		for _, w := range q.words {
			r.whole = r.whole && counts[w] > 0
		}
		length := 1 - byLength + byLength*float64(len(c.Text))/passageBytes
		for _, term := range q.Terms() {
			if n := float64(counts[term]); n > 0 {
				r.score += weights[term] * n * (saturation + 1) / (n + saturation*length)
			}
		}
		if r.score > 0 {
			fit = append(fit, r)
		}
	}
	slices.SortStableFunc(fit, func(a, b ranked) int {
		if a.whole != b.whole {
			if a.whole {
				return -1
			}
			return 1
		}
		return int(math.Round(b.score*1000)) - int(math.Round(a.score*1000))
	})
	var out []Hit
	for _, r := range fit[:min(len(fit), max(limit, 0))] {
		out = append(out, q.hit(r.Candidate, weights, int(math.Round(r.score*1000))))
	}
	return out
}

// Weight says how much a term tells: more if it is rarer.
func (q Query) Weight(term string, s Spread) float64 {
	n := float64(s.Found[term])
	return math.Log1p((max(float64(s.Passages), n) - n + 0.5) / (n + 0.5))
}

// count says how often each term that has a weight is in a text.
func (q Query) count(text []byte, weights map[string]float64) map[string]int {
	out := map[string]int{}
	scanTerms(text, func(term []byte, _ bool) {
		if _, ok := weights[string(term)]; ok {
			out[string(term)]++
		}
	})
	return out
}

// hit is what is shown of a passage: of the places where a line or a part of a long one begins
// from which most is found, the middle one, so that what stands before and behind is shown, too.
func (q Query) hit(c Candidate, weights map[string]float64, score int) Hit {
	found := func(text []byte) (sum float64) {
		counts := q.count(text, weights)
		for _, term := range q.Terms() { // in order: sums of floats depend on it
			if counts[term] > 0 {
				sum += weights[term]
			}
		}
		return sum
	}
	var best []int // where the texts begin, one after another, that have most
	most := 0.0
	for from := 0; from < len(c.Text); from += step(c.Text[from:]) {
		switch sum := found(cutText(c.Text[from:])); {
		case sum > most:
			best, most = []int{from}, sum
		case sum == most && len(best) > 0:
			best = append(best, from)
		}
		if len(c.Text)-from <= hitBytes {
			break // a later one would show less
		}
	}
	at := 0
	if len(best) > 0 {
		at = best[len(best)/2]
	}
	text := cutText(c.Text[at:])
	offset, line := c.place(at)
	return Hit{
		Ref: c.Ref, Offset: offset, Line: line, Said: c.places != nil,
		Text: strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD"), Score: score,
	}
}

// step is how far it is to the next place where a hit may begin.
func step(text []byte) int {
	next := bytes.IndexByte(text, '\n') + 1
	if next > 0 && next <= hitBytes {
		return next
	}
	n := min(hitStep, len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// cutText is the beginning of a text, with whole runes.
func cutText(text []byte) []byte {
	if len(text) <= hitBytes {
		return text
	}
	n := hitBytes
	for n > hitBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
