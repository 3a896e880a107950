package journal

import "github.com/plimsoll-dev/plimsoll/core/edit"

// A writtenState is one of the two.
type writtenState struct {
	read   *State
	unread *UnreadState
}

func (w writtenState) lastEdit() edit.ID {
	if w.read != nil {
		return w.read.LastEdit
	}
	return w.unread.LastEdit
}

// sent returns the request that was sent last, and whether it was of a final Step.
func (w writtenState) sent() (s Sent, final bool) {
	if w.read != nil {
		return w.read.Sent, w.read.Final != ""
	}
	return w.unread.Sent, w.unread.Final
}

func (w writtenState) state() (s *State, err error) {
	if s = w.read; s == nil {
		s, err = w.unread.read()
	}
	if err == nil && s.short {
		err = errShort
	}
	return s, err
}

// An entry is a record in short: where to find it.
type entry struct {
	kind Kind
	at   int // the number of the message or of the edit, else the place in the collector's list of its kind
}

// A heap is a list that grows without being moved.
type heap[T any] struct {
	n      int
	chunks [][]T
}

// chunk is how many things lie together in a heap.
const chunk = 32

// add returns the place of one more.
func (h *heap[T]) add(one T) (at int) {
	if h.n%chunk == 0 {
		h.chunks = append(h.chunks, make([]T, 0, chunk))
	}
	last := &h.chunks[len(h.chunks)-1]
	*last = append(*last, one)
	h.n++
	return h.n - 1
}

func (h *heap[T]) at(i int) *T { return &h.chunks[i/chunk][i%chunk] }
