package turn

import "sort"

// CanCut reports whether the conversation may be cut before position i: no call
// before i is open or answered at or after i. Both ends, 0 and Len, are cuts when
// that holds; anything outside is not.
func (x *Index) CanCut(i int) bool {
	if i == x.length {
		return x.canCutEnd()
	}
	at := sort.SearchInts(x.cuts, i)
	return at < len(x.cuts) && x.cuts[at] == i
}

// canCutEnd reports whether everything so far is complete.
func (x *Index) canCutEnd() bool {
	return len(x.rounds) == 0 || x.rounds[len(x.rounds)-1].open == 0
}

// CutBefore returns the nearest legal cut at or below i. There always is one: 0.
func (x *Index) CutBefore(i int) int {
	if i >= x.length && x.canCutEnd() {
		return x.length
	}
	at := sort.SearchInts(x.cuts, i+1) - 1
	if at < 0 {
		return 0
	}
	return x.cuts[at]
}

// CutAfter returns the nearest legal cut at or above i, or -1 if there is none:
// a call is open and its Round reaches to the end, or i is beyond the end.
func (x *Index) CutAfter(i int) int {
	if at := sort.SearchInts(x.cuts, i); at < len(x.cuts) {
		return x.cuts[at]
	}
	if i <= x.length && x.canCutEnd() {
		return x.length
	}
	return none
}

// SafeBoundary returns the start of a Turn near a position:
//
//	empty, or near <= 0          0
//	near >= Len                  Len
//	no Human message at all      near itself
//	else                         the last Turn start at or before near, if above 0;
//	                             else the first one after near;
//	                             else 0, which means: this is one Turn, do not cut
//
// The document cuts blindly in its second and third row. Here the answer is
// always a legal cut: where a Round lies across it, the nearest legal cut before
// it is returned, else the nearest one after it, else 0.
func (x *Index) SafeBoundary(near int) int {
	switch {
	case x.length == 0 || near <= 0:
		return 0
	case near >= x.length:
		return x.legal(x.length)
	case len(x.humans) == 0:
		return x.legal(near)
	}
	after := sort.SearchInts(x.humans, near+1)
	if after > 0 && x.humans[after-1] > 0 {
		return x.humans[after-1]
	}
	if after < len(x.humans) {
		return x.humans[after]
	}
	return 0
}

// legal returns i if it is a legal cut, else the one nearest to it that removes
// less, else the nearest one that removes more, else 0.
func (x *Index) legal(i int) int {
	if before := x.CutBefore(i); before > 0 {
		return before
	}
	return max(x.CutAfter(i), 0)
}
