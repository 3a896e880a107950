package journal

import (
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Stretch is the records of a page, read. It takes a tenth of the room of a list of them.
type Stretch struct {
	kinds    []Kind // of all, in their order
	messages []llm.Message
	edits    []pagedEdit
	usages   []Usage
	states   []writtenState
	others   []Record
}

// A pagedEdit is what a record of an edit says.
type pagedEdit struct {
	edit   edit.Edit
	within Within
	worth  *Worth
}

// Read decodes the records of p, as the function [Read] does.
func (p Page) Read() (*Stretch, error) {
	n := len(p.Lines)
	s := &Stretch{
		kinds: make([]Kind, 0, n), messages: make([]llm.Message, 0, n/2), edits: make([]pagedEdit, 0, n/4),
		usages: make([]Usage, 0, n/4), states: make([]writtenState, 0, n/4),
	}
	for r, err := range Read(Lines(p.Lines)) {
		if err != nil {
			return nil, err
		}
		s.add(&r)
	}
	return s, nil
}

func (s *Stretch) add(r *Record) {
	s.kinds = append(s.kinds, r.Kind)
	switch r.Kind {
	case KindMessage:
		s.messages = append(s.messages, r.Message)
	case KindEdit:
		s.edits = append(s.edits, pagedEdit{r.Edit, r.Within, r.Worth})
	case KindUsage:
		s.usages = append(s.usages, r.Usage)
	case KindState:
		s.states = append(s.states, writtenState{r.State, r.Unread})
	default:
		s.others = append(s.others, *r)
	}
}

// All yields the records in their order.
func (s *Stretch) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		left := *s
		for _, k := range s.kinds {
			if !yield(left.next(k)) {
				return
			}
		}
	}
}

// next takes the next record out of s, which is of a kind.
func (s *Stretch) next(k Kind) Record {
	switch k {
	case KindMessage:
		return Record{Kind: k, Message: taken(&s.messages)}
	case KindEdit:
		e := taken(&s.edits)
		return Record{Kind: k, Edit: e.edit, Within: e.within, Worth: e.worth}
	case KindUsage:
		return Record{Kind: k, Usage: taken(&s.usages)}
	case KindState:
		w := taken(&s.states)
		return Record{Kind: k, State: w.read, Unread: w.unread}
	}
	return taken(&s.others)
}

// taken takes the first thing out of a list.
func taken[T any](list *[]T) T {
	one := (*list)[0]
	*list = (*list)[1:]
	return one
}
