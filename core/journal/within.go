package journal

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Within says that the Refs of an earlier edit, all of them in their order, stand among those
// of an edit that were written, before the one at a place. An archive names all there is in it,
// and one that takes in another names that again: written each time, the Refs of a session
// grow with the square of its length.
type Within struct {
	At   int
	Edit edit.ID
}

// errLean says that an edit is as a page has it, and was not made whole.
var errLean = errors.New("this edit's refs are in part those of an earlier one, want them put together")

// leaner returns the line of an edit without the Refs that an earlier one has; see [edit.Edit.Added].
func leaner(l []byte, r Record, edits []edit.Edit) ([]byte, error) {
	before, after, without := r.Edit.Added(edits)
	if without == 0 {
		return l, nil
	}
	r.Within = Within{At: len(before), Edit: without}
	r.Edit.Refs = slices.Concat(before, after)
	return Encode(r)
}

// Whole yields records with all the Refs that [Shorten] has left out of edits. They have to
// begin with the first one of the session.
func Whole(records iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		known := map[edit.ID]run{}
		for r, err := range records {
			if err == nil && r.Kind == KindEdit {
				err = whole(&r, known)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// whole puts the Refs of an edit together, and keeps them for later ones.
func whole(r *Record, known map[edit.ID]run) error {
	e := &r.Edit
	own := run{room: &room{all: e.Refs, to: len(e.Refs)}, to: len(e.Refs)}
	if w := r.Within; w != (Within{}) {
		inner, ok := known[w.Edit]
		if !ok || w.At < 0 || w.At > len(e.Refs) {
			return fmt.Errorf("journal: edit %d: refs of edit %d before ref %d, want an earlier edit and 0 to %d", e.ID, w.Edit, w.At, len(e.Refs))
		}
		own = inner.between(e.Refs[:w.At], e.Refs[w.At:])
		e.Refs, r.Within = own.refs(), Within{}
	}
	if len(e.Refs) > 1 { // no edit has less of another one
		known[e.ID] = own
	}
	return nil
}

// A run is a list of Refs that lies in a room. Lists of which each has the one before in it lie
// in one another, so that all of them take about as much as the last.
type run struct {
	room     *room
	from, to int // of the room
}

// A room is where Refs lie. What is used of it is not changed any more.
type room struct {
	all      []llm.Ref
	from, to int // what is used
}

func (r run) refs() []llm.Ref { return r.room.all[r.from:r.to:r.to] }

// between returns the Refs of r with others before and after them.
func (r run) between(before, after []llm.Ref) run {
	from, to := r.from-len(before), r.to+len(after)
	if r.from != r.room.from || r.to != r.room.to || from < 0 || to > len(r.room.all) {
		n := to - from
		wide := &room{all: make([]llm.Ref, 2*n), from: n/4 + len(before)}
		wide.to = wide.from + copy(wide.all[wide.from:], r.refs())
		r = run{wide, wide.from, wide.to}
		from, to = r.from-len(before), r.to+len(after)
	}
	copy(r.room.all[from:], before)
	copy(r.room.all[r.to:], after)
	r.room.from, r.room.to = from, to
	return run{r.room, from, to}
}
