package plimsoll

// A Reservation is room that is held for an output on its way. The zero Reservation
// holds none.
type Reservation struct{ id uint64 }

// reservations are those that were not given back.
type reservations struct {
	last   uint64
	tokens map[uint64]int
}

func (h *reservations) add(tokens int) Reservation {
	if h.tokens == nil {
		h.tokens = map[uint64]int{}
	}
	h.last++
	h.tokens[h.last] = tokens
	return Reservation{h.last}
}

// take returns the tokens of a reservation, once.
func (h *reservations) take(r Reservation) int {
	n := h.tokens[r.id]
	delete(h.tokens, r.id)
	return n
}

func (h *reservations) clear() { clear(h.tokens) }
