package ground

// Texts are searched together. The zero Texts are empty and ready.
type Texts struct {
	all   []Text
	where extents
}

// Add takes a text in.
func (x *Texts) Add(t Text) {
	if x.where == nil {
		x.where = extents{}
	}
	x.where.add(t, len(x.all))
	x.all = append(x.all, t)
}

// Says reports whether one of the texts says s. It looks at no text if a word of s is in none.
func (x *Texts) Says(s Span) bool {
	first, last, ok := x.where.bounds(s, len(x.all)-1)
	for i := first; ok && i <= last; i++ {
		if x.all[i].Says(s) {
			return true
		}
	}
	return false
}

// Extents say of each word where in a list of texts it is.
type extents map[uint32]extent

// An extent is the first and the last text that has a word.
type extent struct{ first, last int32 }

// add takes in the next text of the list.
func (x extents) add(t Text, i int) {
	for _, w := range t.words {
		e, ok := x[w]
		if !ok {
			e.first = int32(i) //nolint:gosec // parts of a conversation
		}
		e.last = int32(i) //nolint:gosec // as above
		x[w] = e
	}
}

// bounds returns the texts up to last outside of which none has all words of s; false if
// there are none.
func (x extents) bounds(s Span, last int) (int, int, bool) {
	first := 0
	for _, w := range s.words {
		e, ok := x[w]
		if !ok {
			return 0, 0, false
		}
		first, last = max(first, int(e.first)), min(last, int(e.last))
	}
	return first, last, first <= last
}
