package edit

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A standing is the edits of a view by the place at which they stand, so that a transform
// of many messages need not look through all of them for each.
type standing struct {
	archives []*Edit // in order of ID
	byPlace  []*Edit // the archives, in order of their spans
	inserts  []*Edit // in order of the message that they stand before
	replaces map[partID][]*Edit
}

// A partID names a part of a message.
type partID struct {
	message llm.MessageID
	part    int
}

func standingOf(edits []Edit) *standing {
	st := &standing{replaces: map[partID][]*Edit{}}
	for i := range edits {
		switch e := &edits[i]; e.Op {
		case Archive:
			st.archives = append(st.archives, e)
		case Insert:
			st.inserts = append(st.inserts, e)
		case Replace:
			at := partID{e.Span.From, e.Part}
			st.replaces[at] = append(st.replaces[at], e)
		}
	}
	place := func(a, b *Edit) int { return cmp.Compare(a.Span.From, b.Span.From) }
	slices.SortStableFunc(st.inserts, place)
	st.byPlace = slices.Clone(st.archives)
	slices.SortStableFunc(st.byPlace, place)
	return st
}

// archivesFrom returns the archives that begin at or after message id, in order.
func (st *standing) archivesFrom(id llm.MessageID) []*Edit { return from(st.byPlace, id) }

// insertsFrom returns the notes that stand before message id or a later one, in order.
func (st *standing) insertsFrom(id llm.MessageID) []*Edit { return from(st.inserts, id) }

func from(edits []*Edit, id llm.MessageID) []*Edit {
	return edits[sort.Search(len(edits), func(i int) bool { return edits[i].Span.From >= id }):]
}

// placed returns s with its edits by their places.
func (s Scene) placed() Scene {
	if s.standing == nil {
		s.standing = standingOf(s.View.edits)
	}
	return s
}

// tallied is placed, with the sizes of what the view shows.
func (s Scene) tallied() Scene {
	s = s.placed()
	if s.tally != nil {
		return s
	}
	s.tally = make([]int, len(s.View.Items)+1)
	for i := range s.View.Items {
		s.tally[i+1] = s.tally[i] + s.Measure(s.View.Items[i].Message)
	}
	return s
}

// shown returns the edits that show part n of message id in another form.
func (s Scene) shown(id llm.MessageID, n int) []*Edit {
	if s.standing != nil {
		return s.standing.replaces[partID{id, n}]
	}
	var out []*Edit
	for i := range s.View.edits {
		if e := &s.View.edits[i]; e.Op == Replace && e.Span.From == id && e.Part == n {
			out = append(out, e)
		}
	}
	return out
}

// sizeOf returns the tokens of what leaves with span.
func (s Scene) sizeOf(span Span) int { return s.size(s.leaving(span)) }

// size returns the tokens of View.Items[from:to].
func (s Scene) size(from, to int) int {
	if s.tally != nil {
		return s.tally[to] - s.tally[from]
	}
	n := 0
	for i := from; i < to; i++ {
		n += s.Measure(s.View.Items[i].Message)
	}
	return n
}

// leaving returns what leaves with span: View.Items[from:to].
func (s Scene) leaving(span Span) (from, to int) {
	from, to = s.View.at(span)
	// What stays stands at the ends: notes before the first message, and the notes of
	// an archive that goes on beyond the last.
	for from < to && !s.within(s.View.Items[from], span) {
		from++
	}
	for from < to && !s.within(s.View.Items[to-1], span) {
		to--
	}
	return from, to
}

// within reports whether it leaves with span.
func (s Scene) within(it Item, span Span) bool {
	if !it.IsNote() {
		return span.Contains(it.Message.ID)
	}
	at, ok := slices.BinarySearchFunc(s.View.edits, it.Edits[0], func(e Edit, id ID) int { return cmp.Compare(e.ID, id) })
	return ok && insideOf(s.View.edits[at], span)
}
