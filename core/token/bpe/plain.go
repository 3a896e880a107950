package bpe

import "math/bits"

// Most pieces of most texts are short and ASCII. plain finds the end of such a piece from eight bytes of text at once,
// without a loop: every class is a word with the high bit set in the bytes that belong to it. plain answers only when
// those bytes settle the matter, and then gives what next gives.

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

// plain returns the length of the piece that starts with the eight bytes of w (the first byte lowest), or 0 if they do
// not settle it. A result is at most 7.
func (p pattern) plain(w uint64) int {
	class := ascii[byte(w)]
	switch {
	case class&classLetter != 0:
		return p.settled(w, p.plainWord(w, class))
	case class == classNumber:
		return p.settled(w, plainDigits(w))
	case class == classNewline || class == 0:
		return plainBlank(w, class)
	}
	second := ascii[byte(w>>8)]
	switch {
	case p == patternCl100k && byte(w) == '\'':
		return 0
	case second&classLetter != 0:
		return p.settled(w, 1+p.plainWord(w>>8, second))
	case class == classOther:
		return p.settled(w, p.plainSymbol(w))
	case second&classOther != 0 && byte(w) == ' ':
		return p.settled(w, 1+p.plainSymbol(w>>8))
	default:
		return plainBlank(w, class)
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

// plainWord returns the length of the word at the start of w, whose first letter has that class; 8 if it does not know.
func (p pattern) plainWord(w uint64, class uint8) int {
	rest := w >> 8
	if p == patternCl100k {
		return 1 + run(inRange(rest|ones*0x20, 'a', 'z'))
	}
	n := run(inRange(rest, 'a', 'z'))
	if n == 0 && class == classUpper && ascii[byte(rest)] == classUpper {
		return 8
	}
	return 1 + n
}

// plainDigits returns the length of the group of digits at the start of w.
func plainDigits(w uint64) int { return min(3, run(inRange(w, '0', '9'))) }

// plainSymbol returns the length of the run of symbols at the start of w with the newlines (and slashes) after it.
func (p pattern) plainSymbol(w uint64) int {
	end := 1
	for ascii[byte(w>>(8*end))] == classOther {
		end++
	}
	for c := byte(w >> (8 * end)); c == '\n' || c == '\r' || c == '/' && p == patternO200k; c = byte(w >> (8 * end)) {
		end++
	}
	return end
}

func plainBlank(w uint64, class uint8) int { return 0 }
