package bpe

import (
	"encoding/binary"
	"math/bits"
)

// vocabulary is the tokens of an encoding and the tables to find them. Ids are ranks: a lower id merges first. All hash
// tables are open addressing with linear probing, at most four fifths full, and never change once built. Tokens enter them
// in the order of their ids, so that the common ones are found first. What a count reads is kept apart from the rest and
// small: the time goes into cache misses.
type vocabulary struct {
	bytes    []byte      // all tokens, one after another
	spans    []uint32    // by id: offset in bytes << 8 | length
	parts    []pair      // by id: the two tokens of the token's last merge
	short    []uint64    // tokens of 1..7 bytes: shortKey
	shortIDs []uint32    // their ids, slot by slot
	mid      []midKey    // tokens of 8..15 bytes
	midIDs   []uint32    // their ids, slot by slot
	long     []uint64    // longer ones: upper half of the hash << 32 | id + 1
	pairs    []uint64    // left << 36 | right << 18 | id of the merged token
	single   [256]uint32 // by byte: the token of that byte, an id below 256
	double   []uint32    // by two bytes, the first one high: the token of these bytes, or none
	deep     []uint64    // first eight bytes of the tokens that have as many, complemented; 0 is a free slot
	deepNode []uint32    // their nodes, slot by slot
	edges    []uint64    // node << 28 | byte << 20 | node of the longer prefix, from eight bytes on
	prior    []uint32    // by id: the longest token that is a proper prefix, or none

	maybeShort, maybeMid, maybeDeep, maybePair filter
}

// filter is a bit set over hashes: it says "no" for most keys that a table does not hold, without reading the table.
type filter []uint64

func (f filter) add(hash uint64) { f[hash>>6&uint64(len(f)-1)] |= 1 << (hash & 63) }

func (f filter) has(hash uint64) bool { return f[hash>>6&uint64(len(f)-1)]>>(hash&63)&1 != 0 }

// pair is the two tokens that a token's last merge joined, {none, none} for a single byte.
type pair struct{ left, right uint32 }

// midKey is a token or piece of 8..15 bytes: the first eight bytes, the others with the length in the highest byte. Zero
// is a free slot.
type midKey struct{ head, tail uint64 }

func midKeyAt(b []byte, i, n int) midKey {
	return midKey{wordAt(b, i, 8), shortKey(wordAt(b, i+8, n-8), n)}
}

// shortKey is a token or piece of 1..7 bytes with the length in the highest byte. Zero is a free slot.
func shortKey(word uint64, length int) uint64 { return word | uint64(length)<<56 }

const (
	idBits   = 18
	nodeBits = 20
	none     = ^uint32(0)
)

func (v *vocabulary) size() int { return len(v.spans) }

// token returns the bytes of a token, which the caller must not change.
func (v *vocabulary) token(id uint32) []byte {
	span := v.spans[id]
	return v.bytes[span>>8 : span>>8+span&0xFF]
}

// length returns the number of bytes of a token.
func (v *vocabulary) length(id uint32) int { return int(v.spans[id] & 0xFF) }

// find returns the id of the token with the bytes b[i:end], or none. It may read the text that follows.
func (v *vocabulary) find(b []byte, i, end int) uint32 {
	switch n := end - i; {
	case n <= 7:
		if at := v.findShort(shortKey(wordAt(b, i, n), n)); at >= 0 {
			return v.shortIDs[at]
		}
	case n <= 15:
		if at := v.findMid(midKeyAt(b, i, n)); at >= 0 {
			return v.midIDs[at]
		}
	default:
		return v.findLong(b[i:end])
	}
	return none
}

// has reports whether find finds a token, without reading its id.
func (v *vocabulary) has(b []byte, i, end int) bool {
	switch n := end - i; {
	case n <= 7:
		return v.findShort(shortKey(wordAt(b, i, n), n)) >= 0
	case n <= 15:
		return v.findMid(midKeyAt(b, i, n)) >= 0
	default:
		return v.findLong(b[i:end]) != none
	}
}

// findShort returns the slot of the key, or -1.
func (v *vocabulary) findShort(key uint64) int {
	mask := len(v.short) - 1
	hash := hash64(key)
	if !v.maybeShort.has(hash) {
		return -1
	}
	at := int(hash) & mask
	for v.short[at] != key {
		if v.short[at] == 0 {
			return -1
		}
		at = (at + 1) & mask
	}
	return at
}

// findMid returns the slot of the key, or -1.
func (v *vocabulary) findMid(key midKey) int {
	mask := len(v.mid) - 1
	hash := key.hash()
	if !v.maybeMid.has(hash) {
		return -1
	}
	at := int(hash) & mask
	for v.mid[at] != key {
		if v.mid[at].tail == 0 {
			return -1
		}
		at = (at + 1) & mask
	}
	return at
}

func (v *vocabulary) findLong(piece []byte) uint32 {
	if len(piece) > 0xFF {
		return none
	}
	mask := uint64(len(v.long) - 1)
	hash := hashLong(piece)
	for at := hash; ; at++ {
		slot := v.long[at&mask]
		if slot == 0 {
			return none
		}
		if id := uint32(slot) - 1; slot>>32 == hash>>32 && string(v.token(id)) == string(piece) {
			return id
		}
	}
}

// join returns the token that merging left and right gives, or none.
func (v *vocabulary) join(left, right uint32) uint32 {
	key := uint64(left)<<idBits | uint64(right)
	hash := hash64(key)
	if !v.maybePair.has(hash) {
		return none
	}
	mask := uint64(len(v.pairs) - 1)
	for at := hash; ; at++ {
		slot := v.pairs[at&mask]
		if slot == 0 {
			return none
		}
		if slot>>idBits == key {
			return uint32(slot & (1<<idBits - 1))
		}
	}
}

// child returns the node of the prefix that is one byte longer. The nodes are a tree of all prefixes of eight bytes and more
// that a token has; a token's node is its id, other nodes have numbers from the count of tokens up.
func (v *vocabulary) child(node uint32, c byte) (uint32, bool) {
	key := uint64(node)<<8 | uint64(c)
	mask := uint64(len(v.edges) - 1)
	for at := hash64(key); ; at++ {
		slot := v.edges[at&mask]
		if slot>>nodeBits == key {
			return uint32(slot & (1<<nodeBits - 1)), true
		}
		if slot == 0 {
			return none, false
		}
	}
}

// longest returns the longest token that b[i:] starts with; i < len(b).
func (v *vocabulary) longest(b []byte, i int) uint32 {
	n := min(7, len(b)-i)
	if len(b)-i >= 8 {
		if id := v.longestDeep(b, i); id != none {
			return id
		}
	}
	for word := wordAt(b, i, n); n > 1; n-- {
		word &= 1<<(8*n) - 1
		key := shortKey(word, n)
		if at := v.findShort(key); at >= 0 {
			return v.shortIDs[at]
		}
	}
	return v.single[b[i]]
}

// longestDeep is longest for tokens of eight bytes and more; none if there is no such token.
func (v *vocabulary) longestDeep(b []byte, i int) uint32 {
	key := ^wordAt(b, i, 8)
	hash := hash64(key)
	if !v.maybeDeep.has(hash) {
		return none
	}
	mask := len(v.deep) - 1
	at := int(hash) & mask
	for v.deep[at] != key {
		if v.deep[at] == 0 {
			return none
		}
		at = (at + 1) & mask
	}
	best := none
	node := v.deepNode[at]
	for n := i + 8; ; n++ {
		if int(node) < len(v.spans) {
			best = node
		}
		if n == len(b) {
			return best
		}
		next, ok := v.child(node, b[n])
		if !ok {
			return best
		}
		node = next
	}
}

// wordAt reads n <= 8 bytes from b[i] on, little endian, filled up with zeros.
func wordAt(b []byte, i, n int) uint64 {
	if len(b)-i >= 8 {
		return binary.LittleEndian.Uint64(b[i:]) & (1<<(8*n) - 1)
	}
	var w uint64
	for k := n - 1; k >= 0; k-- {
		w = w<<8 | uint64(b[i+k])
	}
	return w
}

// hash64 mixes a word; the low bits choose the slot.
func hash64(w uint64) uint64 {
	high, low := bits.Mul64(w, mixer)
	return high ^ low
}

func (k midKey) hash() uint64 { return hash64(k.head ^ bits.RotateLeft64(k.tail*mixer, 29)) }

func hashLong(b []byte) uint64 {
	h := uint64(len(b))
	for i := 0; i < len(b); i += 8 {
		h = hash64(h ^ wordAt(b, i, min(8, len(b)-i)))
	}
	return h * mixer
}
