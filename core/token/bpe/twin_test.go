package bpe

import "math"

// The twins: the same result by other, simpler means. naiveMerge is byte-pair merging as defined, quadratic; heapMerge is
// the same with a heap, for long pieces.

// naiveMerge joins the leftmost pair with the lowest rank until none is left.
func naiveMerge(ranks map[string]uint32, piece []byte) []uint32 {
	starts := make([]int, 0, len(piece)+1)
	for i := range len(piece) + 1 {
		starts = append(starts, i)
	}
	for len(starts) > 2 {
		best, at := uint32(math.MaxUint32), -1
		for i := 0; i+2 < len(starts); i++ {
			if rank, ok := ranks[string(piece[starts[i]:starts[i+2]])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			break
		}
		starts = append(starts[:at+1], starts[at+2:]...)
	}
	ids := make([]uint32, 0, len(starts))
	for i := 0; i+1 < len(starts); i++ {
		ids = append(ids, ranks[string(piece[starts[i]:starts[i+1]])])
	}
	return ids
}
