package ground

import "slices"

// Texts are searched together. The zero Texts are empty and ready.
type Texts struct {
	all   []Text
	where extents
}

// Grow makes room for so many texts more.
func (x *Texts) Grow(texts int) {
	x.where.grow(texts)
	x.all = slices.Grow(x.all, texts)
}

// Add takes a text in.
func (x *Texts) Add(t Text) {
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

// Extents say of each word where in a list of texts it is. The zero extents are empty and ready.
type extents struct {
	at  map[uint32]int32 // of each word, in all
	all []extent
}

// An extent is the first and the last text that has a word.
type extent struct{ first, last int32 }

// grow makes room for so many words more, as long as there are none.
func (x *extents) grow(words int) {
	if x.at == nil {
		x.at, x.all = make(map[uint32]int32, words), make([]extent, 0, words)
	}
}

// add takes in the next text of the list.
func (x *extents) add(t Text, i int) {
	x.grow(0)
	n := int32(i) //nolint:gosec // parts of a conversation
	for _, w := range t.words {
		if at, ok := x.at[w]; ok {
			x.all[at].last = n
			continue
		}
		x.at[w] = int32(len(x.all)) //nolint:gosec // different words of a conversation
		x.all = append(x.all, extent{n, n})
	}
}

// bounds returns the texts up to last outside of which none has all words of s; false if
// there are none.
func (x *extents) bounds(s Span, last int) (int, int, bool) {
	first := 0
	for _, w := range s.words {
		at, ok := x.at[w]
		if !ok {
			return 0, 0, false
		}
		e := x.all[at]
		first, last = max(first, int(e.first)), min(last, int(e.last))
	}
	return first, last, first <= last
}
