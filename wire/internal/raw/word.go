package raw

import (
	"encoding/binary"
	"math/bits"
)

// Strings are read in blocks of 64 bytes, eight words of eight bytes each, without a
// branch on what they hold: a block becomes a mask with one bit for each of its bytes
// that is looked for (the idea of D. Lemire and G. Langdale, "Parsing gigabytes of JSON
// per second", with words for vectors). Program text has an escape every dozen bytes;
// stopping at each would cost a mispredicted branch each.
const (
	block = 64 // bytes

	ones  = 0x0101010101010101
	lows  = 0x7f7f7f7f7f7f7f7f
	upper = 0xe0e0e0e0e0e0e0e0 // the bits that a control character has not
	// gather moves the high bits of the eight bytes of a word into its highest byte.
	gather = 0x0002040810204081
)

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// zeros has the high bit of each byte of w that is 0, and no other bit (H. S. Warren,
// Hacker's Delight, section 6-1).
func zeros(w uint64) uint64 { return ^((w&lows + lows) | w | lows) }

// special has the high bit of each byte of w that is a quote, a backslash or a control
// character.
func special(w uint64) uint64 {
	return zeros(w^ones*'"') | zeros(w^ones*'\\') | zeros(w&upper)
}

// escapes has the high bit of each byte of w that is a backslash.
func escapes(w uint64) uint64 { return zeros(w ^ ones*'\\') }

// quick returns where the string whose text begins at i ends, if that is within a word
// or two and nothing is escaped; else 0. Most strings are names and other short words.
func quick(b []byte, i int) int {
	const word = 8
	if i+2*word > len(b) {
		return 0
	}
	mask := special(load(b, i))
	if mask == 0 {
		i += word
		mask = special(load(b, i))
	}
	if mask == 0 {
		return 0
	}
	if i += first(mask) / 8; b[i] == '"' {
		return i + 1
	}
	return 0
}

// pack returns the high bits of the bytes of w in its lowest eight bits.
func pack(w uint64) uint64 { return w * gather >> 56 }

// specials returns the mask of the special bytes of the block at i.
func specials(b []byte, i int) uint64 {
	p := b[i : i+block : i+block]
	return pack(special(load(p, 0))) | pack(special(load(p, 8)))<<8 | pack(special(load(p, 16)))<<16 | pack(special(load(p, 24)))<<24 |
		pack(special(load(p, 32)))<<32 | pack(special(load(p, 40)))<<40 | pack(special(load(p, 48)))<<48 | pack(special(load(p, 56)))<<56
}

// backslashes returns the mask of the backslashes of the block at i.
func backslashes(b []byte, i int) uint64 {
	p := b[i : i+block : i+block]
	return pack(escapes(load(p, 0))) | pack(escapes(load(p, 8)))<<8 | pack(escapes(load(p, 16)))<<16 | pack(escapes(load(p, 24)))<<24 |
		pack(escapes(load(p, 32)))<<32 | pack(escapes(load(p, 40)))<<40 | pack(escapes(load(p, 48)))<<48 | pack(escapes(load(p, 56)))<<56
}

// first returns the place of the lowest bit of a mask, which is not 0.
func first(mask uint64) int { return bits.TrailingZeros64(mask) }

// without returns mask without the bits up to k.
func without(mask uint64, k int) uint64 { return mask &^ (2<<k - 1) }
