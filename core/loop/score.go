package loop

import "strings"

// Weights of the score in permille, of the program that the document describes
// (progress_detector.py of UMwai/um-agent-coder): how the output differs from the one
// before, changed lines, marks of progress, the checklist.
const (
	diffWeight    = 300
	filesWeight   = 300
	markersWeight = 250
	listWeight    = 150

	fullLines = 100 // changed lines that make the whole of their part
	perMarker = 500 // permille of their part for each mark of progress
)

// signals are what the score of an iteration is made of.
type signals struct {
	diff    int // permille, as differs says
	lines   int // changed in the workspace; the host counts them, as git diff does
	markers int
	done    int // finished items of the checklist in the output,
	items   int // of so many,
	best    int // and the most that were finished before
}

// score returns how far an iteration got, in permille:
//
//	300·diff + 300·min(1, lines/100) + 250·min(1, markers/2) + 150·done/items
//
// Only a list of which more is finished than ever before counts: one that is repeated is
// no progress.
func (s signals) score() int {
	sum := diffWeight*s.diff + filesWeight*(min(s.lines, fullLines)*1000/fullLines) + markersWeight*min(1000, perMarker*s.markers)
	if s.done > s.best {
		sum += listWeight * (s.done * 1000 / s.items)
	}
	return min(1000, sum/1000)
}

// differs returns how much of two outputs is not common to both, in permille: 1 less
// twice the common words by all words, in lower case and without times. It is an upper
// bound of the similarity that the program takes (difflib's ratio, of which it is
// quick_ratio), in linear time. A first output differs wholly, an empty one not at all.
func differs(before, now string) int {
	if blank(now) {
		return 0
	}
	if blank(before) {
		return 1000
	}
	old, words := spoken(before), spoken(now)
	have := map[string]int{}
	for _, w := range old {
		have[w]++
	}
	common := 0
	for _, w := range words {
		if have[w] > 0 {
			have[w]--
			common++
		}
	}
	all := len(old) + len(words)
	if all == 0 {
		return 0
	}
	return 1000 - 2000*common/all
}

// spoken returns the words of a text but for times.
func spoken(text string) []string {
	words := strings.Fields(strings.ToLower(text))
	kept := words[:0]
	for _, w := range words {
		if !isTime(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// isTime recognises dates, times of day and seconds or milliseconds since 1970.
func isTime(word string) bool {
	word = strings.Trim(word, "[](){},;")
	digits := 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case !strings.ContainsRune("-:.tz+", r):
			return false
		}
	}
	plainNumber := digits == len(word)
	return plainNumber && digits >= 10 && digits <= 13 || !plainNumber && digits >= 4 && strings.ContainsAny(word, "-:")
}
