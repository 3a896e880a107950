package bpe

// scanBytes is the length up to which scan is faster than search.
const scanBytes = 20

// merge returns the ids that byte-pair merging makes of the piece b[i:end]: from its bytes on, again and again the
// leftmost neighbours are joined whose joined token has the lowest id. The result is the scratch's stack.
func (v *vocabulary) merge(s *scratch, b []byte, i, end int) []uint32 {
	if end-i <= scanBytes {
		s.stack = v.scan(s, s.stack[:0], b[i:end])
	} else {
		s.stack = v.search(s, s.stack[:0], b[i:end])
	}
	return s.stack
}

// search appends the ids to the stack without merging. The result of merging has a local description, which the bpe crate
// of github.com/github/rust-gems (MIT) uses: a row of tokens is the result exactly when every two neighbours are what
// merging their joined bytes gives (compatible). So the row can be found from left to right: take the longest token at a
// position; while it is not compatible with its left neighbour, take the next shorter one; if none is left, the left
// neighbour was wrong: give it back, note that nothing starts here, and go on with its next shorter one. Every position
// is given up at most once and a token has few prefixes, so that the time is linear in the piece's length whatever it
// holds.
func (v *vocabulary) search(s *scratch, stack []uint32, piece []byte) []uint32 {
	words := len(piece)>>6 + 1
	if cap(s.bad) < words {
		s.bad = make([]uint64, words)
	}
	bad := s.bad[:words]
	clear(bad)
	at, token := 0, v.longest(piece, 0)
	for {
		end := at + v.length(token)
		if bad[end>>6]>>(end&63)&1 == 0 && (len(stack) == 0 || v.compatible(stack[len(stack)-1], token)) {
			stack = append(stack, token)
			if end == len(piece) {
				return stack
			}
			at, token = end, v.longest(piece, end)
			continue
		}
		if shorter := v.prior[token]; shorter != none {
			token = shorter
			continue
		}
		if len(stack) == 0 { // cannot be: every piece has a row of tokens
			return stack
		}
		// The left neighbour goes on with its next shorter token: its own end is marked now.
		bad[at>>6] |= 1 << (at & 63)
		last := len(stack) - 1
		token, stack = stack[last], stack[:last]
		at -= v.length(token)
	}
}

// compatible reports whether two neighbouring tokens stay apart when their joined bytes are merged. It takes the two
// apart again in the reverse order of their merges, and looks whether at any time the tokens that then met at the border
// would have been joined before the merge that is being undone.
func (v *vocabulary) compatible(left, right uint32) bool {
	limit := none
	for {
		if v.join(left, right) < limit {
			return false
		}
		if left > right {
			limit = left
			if left = v.parts[left].right; left == none {
				return true
			}
			continue
		}
		limit = right + 1
		if right = v.parts[right].left; right == none {
			return true
		}
	}
}

// scan appends the ids to the stack by merging as defined, for a piece of at most scanBytes bytes. Tokens are named by the
// offset of their first byte.
func (v *vocabulary) scan(s *scratch, stack []uint32, piece []byte) []uint32 {
	var left, right [scanBytes + 1]uint8 // the neighbours
	n := len(piece)
	ids, offers := s.ids[:n], s.offers[:n]
	for at, c := range piece {
		ids[at], offers[at] = v.single[c], none
		right[at], left[at+1] = uint8(at+1), uint8(at)
		if at > 0 {
			offers[at-1] = offer(v.double[int(piece[at-1])<<8|int(c)], at-1)
		}
	}
	for {
		best := none
		for _, o := range offers {
			best = min(best, o)
		}
		if best >= noOffer {
			break
		}
		at := int(best & 0xFF)
		gone := int(right[at])
		next := int(right[gone])
		ids[at], offers[at], offers[gone] = best>>8, none, none
		right[at], left[next] = uint8(next), uint8(at)
		if next < n {
			offers[at] = offer(v.join(ids[at], ids[next]), at)
		}
		if at > 0 {
			before := int(left[at])
			offers[before] = offer(v.join(ids[before], ids[at]), before)
		}
	}
	for at := 0; at < n; at = int(right[at]) {
		stack = append(stack, ids[at])
	}
	return stack
}

// offer says that joining the token at this offset with the next gives id, which may be none. Offers sort by id, then from
// left to right.
func offer(id uint32, at int) uint32 { return id<<8 | uint32(at) }

// noOffer is the lowest offer of none.
const noOffer = none &^ 0xFF
