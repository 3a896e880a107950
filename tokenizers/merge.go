package tokenizers

// scanBytes is the length up to which merging by scanning all neighbours is faster than by a heap.
const scanBytes = 48

// links are the neighbours of a token in a long piece. Tokens are named by the offset of their first byte.
type links struct{ left, right int32 }

// merge returns the ids that merging makes of the piece's bytes: again and again the pair of the lowest rank, the
// leftmost of these, is joined; bytes without a token are passed over. The result is the scratch's and lives until its next use. Time is n log n.
func (m *model) merge(s *scratch, piece []byte) []uint32 {
	s.ids, s.offers = s.ids[:0], s.offers[:0]
	for _, b := range piece {
		if id := m.single[b]; id != none {
			s.ids = append(s.ids, id)
		}
	}
	for i := 1; i < len(s.ids); i++ {
		s.offers = append(s.offers, m.pairs.join(s.ids[i-1], s.ids[i]))
	}
	if len(piece) <= scanBytes {
		return m.scan(s)
	}
	return m.heap(s)
}

// scan merges a short piece: offers[i] is what joining ids[i] with ids[i+1] gives.
func (m *model) scan(s *scratch) []uint32 {
	ids, offers := s.ids, s.offers
	for len(offers) > 0 {
		best, at := noOffer, 0
		for i, o := range offers {
			if o < best {
				best, at = o, i
			}
		}
		if best == noOffer {
			break
		}
		ids[at] = uint32(best)
		ids = append(ids[:at+1], ids[at+2:]...)
		offers = append(offers[:at], offers[at+1:]...)
		if at > 0 {
			offers[at-1] = m.pairs.join(ids[at-1], ids[at])
		}
		if at < len(offers) {
			offers[at] = m.pairs.join(ids[at], ids[at+1])
		}
	}
	return ids
}

// heap merges a long piece. The heap holds rank << 32 | offset of all offers there ever were; those that no longer stand
// are passed over.
func (m *model) heap(s *scratch) []uint32 {
	n := len(s.ids)
	s.offers = append(s.offers, noOffer)
	s.links, s.queue = s.links[:0], s.queue[:0]
	for i := range n {
		s.links = append(s.links, links{int32(i - 1), int32(i + 1)})
		s.push(i)
	}
	for len(s.queue) > 0 {
		top := s.pop()
		at := int(uint32(top))
		if o := s.offers[at]; o == noOffer || o>>32 != top>>32 {
			continue
		}
		gone := int(s.links[at].right)
		next := int(s.links[gone].right)
		s.ids[at] = uint32(s.offers[at])
		s.offers[gone], s.offers[at] = noOffer, noOffer
		s.ids[gone] = none
		s.links[at].right = int32(next)
		if next < n {
			s.links[next].left = int32(at)
			s.offers[at] = m.pairs.join(s.ids[at], s.ids[next])
			s.push(at)
		}
		if before := int(s.links[at].left); before >= 0 {
			s.offers[before] = m.pairs.join(s.ids[before], s.ids[at])
			s.push(before)
		}
	}
	out := s.ids[:0]
	for at := 0; at < n; at = int(s.links[at].right) {
		out = append(out, s.ids[at])
	}
	return out
}

// push enters the offer at an offset, if there is one.
func (s *scratch) push(at int) {
	o := s.offers[at]
	if o == noOffer {
		return
	}
	q := append(s.queue, o>>32<<32|uint64(at))
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if q[up] <= q[i] {
			break
		}
		q[up], q[i] = q[i], q[up]
		i = up
	}
	s.queue = q
}

// pop takes the lowest out.
func (s *scratch) pop() uint64 {
	q := s.queue
	top := q[0]
	last := len(q) - 1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		low := 2*i + 1
		if low >= len(q) {
			break
		}
		if low+1 < len(q) && q[low+1] < q[low] {
			low++
		}
		if q[i] <= q[low] {
			break
		}
		q[i], q[low] = q[low], q[i]
		i = low
	}
	s.queue = q
	return top
}
