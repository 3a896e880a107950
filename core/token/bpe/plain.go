package bpe

import (
	"encoding/binary"
	"math/bits"
)

// Most pieces of most texts are short and ASCII. plain finds the end of such a piece from eight bytes of text in one word,
// letters and digits all at once: a range of characters is a mask with the high bit set in the bytes that lie in it. plain
// answers only when those bytes settle the matter, and then gives what next gives.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// inRange marks the bytes of w that are ASCII and lie in [low, high].
func inRange(w uint64, low, high byte) uint64 {
	sevens := w &^ highs
	atLeast := sevens + ones*uint64(0x80-low)
	above := sevens + ones*uint64(0x7F-high)
	return (atLeast ^ above) &^ w & highs
}

// run returns the number of marked bytes before the first unmarked one, 8 if all are marked.
func run(marks uint64) int { return bits.TrailingZeros64(^marks&highs) >> 3 }

// cut returns the end of the piece that starts at b[i]; i < len(b), b valid UTF-8. The result is above i.
func (p pattern) cut(b []byte, i int) int {
	if len(b)-i < 8 {
		return p.next(b, i)
	}
	switch n := p.plain(binary.LittleEndian.Uint64(b[i:])); n {
	case 0:
		return p.next(b, i)
	case 8:
		return p.longWord(b, i)
	default:
		return i + n
	}
}

// longWord is cut for a word whose first eight bytes are plain and go on in small letters, in the cl100k pattern in any.
func (p pattern) longWord(b []byte, i int) int {
	for at := i + 8; len(b)-at >= 8; at += 8 {
		word := binary.LittleEndian.Uint64(b[at:])
		if p == patternCl100k {
			word |= ones * 0x20
		}
		if n := run(inRange(word, 'a', 'z')); n < 8 {
			if follow := b[at+n]; follow >= 0x80 || follow == '\'' && p == patternO200k {
				break
			}
			return at + n
		}
	}
	return p.next(b, i)
}

// plain returns the length of the piece that starts with the eight bytes of w (the first byte lowest), at most 7; 8 if the
// piece is a word that goes on after them; 0 if the eight bytes do not settle it.
func (p pattern) plain(w uint64) int {
	class := ascii[byte(w)]
	switch {
	case class&classLetter != 0:
		return p.plainWord(w, 0, class)
	case class == classNumber:
		return p.settled(w, plainDigits(w))
	case class == classNewline:
		return plainBlank(w)
	case class == 0:
		return 0
	}
	second := ascii[byte(w>>8)]
	switch {
	case p == patternCl100k && byte(w) == '\'':
		return 0
	case second&classLetter != 0:
		return p.plainWord(w, 1, second)
	case class == classOther:
		return p.settled(w, p.plainSymbol(w))
	case second&classOther != 0 && byte(w) == ' ':
		return p.settled(w, 1+p.plainSymbol(w>>8))
	default:
		return plainBlank(w)
	}
}

// settled returns the end of a piece unless what follows it may belong to it.
func (p pattern) settled(w uint64, end int) int {
	if end > 7 {
		return 0
	}
	if follow := byte(w >> (8 * end)); follow >= 0x80 || follow == '\'' && p == patternO200k {
		return 0
	}
	return end
}

// plainWord is plain for a word whose first letter is byte start and has that class.
func (p pattern) plainWord(w uint64, start int, class uint8) int {
	rest := w >> (8*start + 8) // zeros follow, which are no letters
	n := 0
	switch {
	case p == patternCl100k:
		n = run(inRange(rest|ones*0x20, 'a', 'z'))
	case class == classUpper && ascii[byte(rest)] == classUpper:
		return 0
	default:
		n = run(inRange(rest, 'a', 'z'))
	}
	if end := start + 1 + n; end < 8 {
		return p.settled(w, end)
	}
	return 8
}

// plainDigits returns the length of the group of digits at the start of w.
func plainDigits(w uint64) int { return min(3, run(inRange(w, '0', '9'))) }

// plainSymbol returns the length of the run of symbols at the start of w with the newlines (and slashes) after it.
func (p pattern) plainSymbol(w uint64) int {
	end := 1
	for end < 8 && ascii[byte(w>>(8*end))] == classOther {
		end++
	}
	for end < 8 && p.trails(byte(w>>(8*end))) {
		end++
	}
	return end
}

// plainBlank returns the length of the piece of white space at the start of w, 0 if it does not know.
func plainBlank(w uint64) int {
	end, newline := 0, 0
	for end < 8 && ascii[byte(w>>(8*end))]&classBlank != 0 {
		end++
		if ascii[byte(w>>(8*end-8))] == classNewline {
			newline = end
		}
	}
	switch {
	case end == 8 || byte(w>>(8*end)) >= 0x80:
		return 0
	case newline > 0:
		return newline
	default:
		return max(1, end-1)
	}
}
