package raw

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A List rewrites an array, so that elements which stay keep their bytes and the
// white space around them. The zero List is an empty array that is not there.
type List struct {
	raw  []byte
	each []llm.Span // within raw
	next int        // where Find looks first
}

// An Element is one element of the new array.
type Element struct {
	Bytes []byte
	At    int // the element of the old array that it was or came from; -1 for none
}

// NewList returns the list of value, whose elements lie at each. A value that is
// a string, where the dialect allows one, counts as one element that can only stay as
// it is or go. Places that cannot be right are not used; the elements are looked for.
func NewList(value []byte, each []llm.Span) *List {
	switch {
	case IsString(value):
		each = []llm.Span{{End: len(value)}}
	case len(each) == 0 || !inside(each, len(value)):
		each = Elements(value)
	}
	return &List{raw: value, each: each}
}

// Find returns the element that b was, or -1: b itself, where it is a piece of the
// array, else the next element with the same bytes. It goes on after the last one it
// found, because elements keep their order.
func (l *List) Find(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	if i := l.find(b, func(x, y []byte) bool { return &x[0] == &y[0] }); i >= 0 {
		return i
	}
	return l.find(b, bytes.Equal)
}

func (l *List) find(b []byte, same func(x, y []byte) bool) int {
	for i := l.next; i < len(l.each); i++ {
		if s := l.each[i]; s.Len() == len(b) && same(l.raw[s.Start:s.End], b) {
			l.next = i + 1
			return i
		}
	}
	return -1
}

// Same reports whether the elements are those of the old array, untouched.
func (l *List) Same(elements []Element) bool {
	if len(elements) != len(l.each) {
		return false
	}
	for i, e := range elements {
		s := l.each[i]
		if e.At != i || !bytes.Equal(e.Bytes, l.raw[s.Start:s.End]) {
			return false
		}
	}
	return true
}

// With returns the array that holds elements. An element that came from the old
// array keeps the comma and white space before it; what was removed goes with one
// comma.
func (l *List) With(elements []Element) []byte {
	if len(l.raw) > 0 && l.Same(elements) {
		return l.raw
	}
	if !IsArray(l.raw) || len(l.each) == 0 {
		values := make([][]byte, len(elements))
		for i, e := range elements {
			values[i] = e.Bytes
		}
		return Array(values)
	}
	last := l.each[len(l.each)-1]
	size := l.each[0].Start + len(l.raw) - last.End
	for i, e := range elements {
		if i > 0 {
			size += len(l.gap(e.At))
		}
		size += len(e.Bytes)
	}
	out := append(make([]byte, 0, size), l.raw[:l.each[0].Start]...)
	for i, e := range elements {
		if i > 0 {
			out = append(out, l.gap(e.At)...)
		}
		out = append(out, e.Bytes...)
	}
	return append(out, l.raw[last.End:]...)
}

// changes returns what makes the array that of elements, where each of these is still in its
// place; ok is false if some have come, gone or moved. It says of only a few that are others
// what With says by writing all of them.
func (l *List) changes(elements []Element) (changes []Change, ok bool) {
	if !IsArray(l.raw) || len(elements) != len(l.each) {
		return nil, false
	}
	for i, e := range elements {
		if e.At != i {
			return nil, false
		}
		if at := l.each[i]; !bytes.Equal(e.Bytes, Slice(l.raw, at)) {
			changes = append(changes, Change{At: at, New: e.Bytes})
		}
	}
	return changes, true
}

// gap returns what stands between element i of the old array and the one before.
func (l *List) gap(i int) []byte {
	if i < 1 {
		i = 1 // a new element is set apart like the second one
	}
	if i >= len(l.each) {
		return []byte{','}
	}
	return l.raw[l.each[i-1].End:l.each[i].Start]
}

// A Change is a new value for a place in a text.
type Change struct {
	At  llm.Span
	New []byte
}

// Apply returns b with all changes made, which must not overlap; their order is
// free. Without changes it returns b itself.
func Apply(b []byte, changes []Change) []byte {
	if len(changes) == 0 {
		return b
	}
	sorted := slices.SortedFunc(slices.Values(changes), func(x, y Change) int { return cmp.Compare(x.At.Start, y.At.Start) })
	size := len(b)
	for _, c := range sorted {
		size += len(c.New) - c.At.Len()
	}
	out := make([]byte, 0, max(size, 0))
	done := 0
	for _, c := range sorted {
		out = append(append(out, b[done:c.At.Start]...), c.New...)
		done = c.At.End
	}
	return append(out, b[done:]...)
}
