package tokenizers

import "math/bits"

const (
	cacheBits   = 14      // 16,384 pieces, 512 KiB
	maxKeyBytes = 23      // longest piece that the cache holds
	keepItems   = 1 << 17 // buffers of more items go back to the garbage collector
)

// scratch is the working memory of one call. It is pooled by its Tokenizer: what it holds speeds later calls up and never
// changes a result.
type scratch struct {
	count bool // count in n, else append to out
	n     int
	out   []uint32

	runes []rune
	piece []byte

	ids    []uint32 // merge
	offers []offer  // merge
	links  []links  // merge by heap
	queue  []uint64 // merge by heap

	cache []cached
}

// cached is the count of one short piece. The key holds the whole piece, so that two pieces are never mixed up.
type cached struct {
	key   pieceKey
	count int
}

// pieceKey is a piece of at most maxKeyBytes bytes, filled up with zeros, its length in the last byte. The zero key is no
// piece.
type pieceKey [3]uint64

func keyOf(piece []byte) pieceKey {
	var k pieceKey
	for i, b := range piece {
		k[i>>3] |= uint64(b) << (8 * (i & 7))
	}
	k[2] |= uint64(len(piece)) << 56
	return k
}

// cached returns the place of a key.
func (s *scratch) cached(k pieceKey) *cached {
	if s.cache == nil {
		s.cache = make([]cached, 1<<cacheBits)
	}
	const mixer = 0x9E3779B97F4A7C15 // 2^64 / golden ratio (Knuth, TAOCP 3, 6.4)
	high, low := bits.Mul64(k[0]^bits.RotateLeft64(k[1]*mixer, 29)^bits.RotateLeft64(k[2]*mixer, 47), mixer)
	return &s.cache[(high^low)>>(64-cacheBits)]
}

// token takes one token.
func (s *scratch) token(id uint32) {
	if s.count {
		s.n++
		return
	}
	s.out = append(s.out, id)
}

func (t *Tokenizer) scratch() *scratch {
	if s, ok := t.scratches.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (t *Tokenizer) release(s *scratch) {
	if cap(s.runes) > keepItems {
		s.runes = nil
	}
	if cap(s.piece) > keepItems {
		s.piece = nil
	}
	if cap(s.ids) > keepItems {
		s.ids, s.offers, s.links, s.queue = nil, nil, nil, nil
	}
	t.scratches.Put(s)
}
