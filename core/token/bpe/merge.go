package bpe

// merge returns the ids that byte-pair merging makes of the piece b[i:end], in the scratch's stack.
//
// Merging joins, again and again, the leftmost neighbours whose joined token has the lowest id. Its result has a local
// description, which the bpe crate of github.com/github/rust-gems (MIT) uses: a row of tokens is the result exactly when
// every two neighbours are what merging their joined bytes gives (compatible). So the row
// can be found from left to right: take the longest token at a position; while it is not compatible with its left
// neighbour, take the next shorter one; if none is left, the left neighbour was wrong: give it back, note that nothing
// starts here, and go on with its next shorter one. Every position is given up at most once and a token has few
// prefixes, so that the time is linear in the piece's length whatever it holds.
func (v *vocabulary) merge(s *scratch, b []byte, i, end int) []uint32 {
	if end-i <= scanBytes {
		return v.scan(s, b, i, end)
	}
	words := (end-i)>>6 + 1
	if cap(s.bad) < words {
		s.bad = make([]uint64, words)
	}
	bad := s.bad[:words]
	clear(bad)
	stack := s.stack[:0]
	at, token := i, v.longest(b, i, end)
	for {
		next := at + int(v.spans[token]&0xFF)
		n := next - i
		if bad[n>>6]>>(n&63)&1 == 0 && (len(stack) == 0 || v.compatible(stack[len(stack)-1], token)) {
			stack = append(stack, token)
			if next == end {
				break
			}
			at, token = next, v.longest(b, next, end)
			continue
		}
		if shorter := v.prior[token]; shorter != none {
			token = shorter
			continue
		}
		if len(stack) == 0 { // cannot be: every piece has a row of tokens
			break
		}
		// The left neighbour goes on with its next shorter token: its own end is marked now.
		bad[(at-i)>>6] |= 1 << ((at - i) & 63)
		last := len(stack) - 1
		token, stack = stack[last], stack[:last]
		at -= int(v.spans[token] & 0xFF)
	}
	s.stack = stack
	return stack
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

// scanBytes is the length up to which scan is faster than the search from left to right.
const scanBytes = 24

// scan is merge by its definition, for short pieces: it looks for the lowest joined token, joins it, and starts again.
// Tokens are named by the offset of their first byte.
func (v *vocabulary) scan(s *scratch, b []byte, i, end int) []uint32 {
	n := end - i
	text := b[i:end]
	var right, left [scanBytes + 1]uint8 // neighbours
	ids, offers := s.ids[:n], s.offers[:n]
	for k := range text {
		ids[k] = v.single[text[k]]
		right[k], left[k+1] = uint8(k+1), uint8(k)
		if k+1 < n {
			offers[k] = offer(v.double[int(text[k])<<8|int(text[k+1])], k)
		}
	}
	offers[n-1] = none
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
		ids[at], offers[gone] = best>>8, none
		right[at], left[next] = uint8(next), uint8(at)
		offers[at] = none
		if next < n {
			offers[at] = offer(v.join(ids[at], ids[next]), at)
		}
		if at > 0 {
			before := int(left[at])
			offers[before] = offer(v.join(ids[before], ids[at]), before)
		}
	}
	stack := s.stack[:0]
	for k := 0; k < n; k = int(right[k]) {
		stack = append(stack, ids[k])
	}
	s.stack = stack
	return stack
}

// noOffer is below what offer gives for none.
const noOffer = none &^ 0xFF

// offer says that joining at this offset would give id; offers sort by id, then from left to right.
func offer(id uint32, at int) uint32 { return id<<8 | uint32(at) }
