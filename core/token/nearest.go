package token

import "strings"

// unknown returns the error for an id that no estimator has.
func unknown(id string) error {
	known := EstimatorIDs()
	return &UnknownError{ID: id, Nearest: Nearest(id, known), Known: known}
}

// Nearest returns the known word that word was most likely meant to be: the one
// with the fewest single-letter changes, if these are at most a third of it, or
// one that word begins. It returns "" if there is none.
func Nearest(word string, known []string) string {
	const longest = 64 // a longer word is no misspelling, and the search is quadratic
	if word == "" || len(word) > longest {
		return ""
	}
	best, changes := "", max(2, len(word)/3)+1
	for _, k := range known {
		if n := distance(word, k); n < changes && n < len(k) {
			best, changes = k, n
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(word) > 2 && strings.HasPrefix(k, word) {
			return k
		}
	}
	return ""
}

// distance counts the insertions, deletions and replacements of bytes that turn
// a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
