package bpe

import "sync"

const (
	cacheBits   = 15                 // 32,768 pieces, 1 MiB
	maxKeyBytes = 23                 // longest piece that the cache holds
	minKeyBytes = 6                  // shortest one: merging less is as fast
	keepBytes   = 1 << 20            // scratch buffers above this go back to the garbage collector
	mixer       = 0x9E3779B97F4A7C15 // 2^64 / golden ratio: multiplicative hashing (Knuth, TAOCP 3, 6.4)
)

// scratch is the working memory of one call. It is pooled by its Encoding: contents speed later calls up and never
// change a result.
type scratch struct {
	cache  [1 << (cacheBits - 1)][2]cached
	stack  []uint32          // the tokens so far
	bad    []uint64          // search: bit set of positions where no token can start
	ids    [scanBytes]uint32 // scan: by offset, the token that starts there
	offers [scanBytes]uint32 // scan: by offset, the join of that token with the next
	text   []byte            // input made valid
}

// cached is the count of one short piece. The key holds the whole piece, so that two pieces are never mixed up.
type cached struct {
	key   pieceKey
	count int
}

// pieceKey is a piece of at most maxKeyBytes bytes, filled up with zeros, with its length in the highest byte. The zero key
// is no piece.
type pieceKey [3]uint64

func keyAt(b []byte, i, end int) pieceKey {
	n := end - i
	key := pieceKey{wordAt(b, i, min(8, n))}
	if n > 8 {
		key[1] = wordAt(b, i+8, min(8, n-8))
	}
	if n > 16 {
		key[2] = wordAt(b, i+16, n-16)
	}
	key[2] |= uint64(n) << 56
	return key
}

func (k pieceKey) slot() uint64 {
	h := k[0] * mixer
	h = (h ^ h>>32 ^ k[1]) * mixer
	h = (h ^ h>>32 ^ k[2]) * mixer
	return h >> (65 - cacheBits)
}

func newPool() *sync.Pool {
	return &sync.Pool{New: func() any { return new(scratch) }}
}

func (e *Encoding) scratch() *scratch {
	if s, ok := e.pool.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (e *Encoding) release(s *scratch) {
	if cap(s.text) > keepBytes {
		s.text = nil
	}
	if cap(s.stack) > keepBytes/4 {
		s.stack = nil
	}
	if cap(s.bad) > keepBytes/8 {
		s.bad = nil
	}
	e.pool.Put(s)
}
