package token

// unknown returns the error for an id that no estimator has.
func unknown(id string) error {
	known := EstimatorIDs()
	return &UnknownError{ID: id, Nearest: nearest(id, known), Known: known}
}

// nearest returns the id that differs from the given one in the fewest letters,
// if those are at most a third of it, or 2.
func nearest(id string, known []string) string {
	if len(id) > 64 {
		return ""
	}
	best, least := "", max(2, len(id)/3)+1
	for _, k := range known {
		if d := distance(id, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many bytes must be inserted, removed or replaced to turn
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
