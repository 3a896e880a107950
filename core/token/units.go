package token

import "unicode/utf8"

// utf16Units returns how many UTF-16 units s has. A byte that is not UTF-8
// counts as one.
func utf16Units(s string) int {
	n := len(s)
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n += 1 - size
		if r > 0xFFFF {
			n++
		}
		i += size
	}
	return n
}

// class is what the piece count takes a byte for.
type class uint8

const (
	sign class = iota
	lower
	upper
	digit
	blank
	newline
	wide // the first byte of a character that is not ASCII, or not UTF-8
)

// classes is the class of each byte.
var classes = [256]class{
	'a': lower, 'b': lower, 'c': lower, 'd': lower, 'e': lower, 'f': lower, 'g': lower, 'h': lower, 'i': lower,
	'j': lower, 'k': lower, 'l': lower, 'm': lower, 'n': lower, 'o': lower, 'p': lower, 'q': lower, 'r': lower,
	's': lower, 't': lower, 'u': lower, 'v': lower, 'w': lower, 'x': lower, 'y': lower, 'z': lower,
	'A': upper, 'B': upper, 'C': upper, 'D': upper, 'E': upper, 'F': upper, 'G': upper, 'H': upper, 'I': upper,
	'J': upper, 'K': upper, 'L': upper, 'M': upper, 'N': upper, 'O': upper, 'P': upper, 'Q': upper, 'R': upper,
	'S': upper, 'T': upper, 'U': upper, 'V': upper, 'W': upper, 'X': upper, 'Y': upper, 'Z': upper,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	' ': blank, '\t': blank, '\r': blank, '\v': blank, '\f': blank, '\n': newline,
}

// pieceUnits returns the word pieces of s in quarter tokens, as the package
// comment defines them.
func pieceUnits(s string) int {
	units := 0
	for i := 0; i < len(s); {
		switch classOf(s[i]) {
		case lower:
			n := run(s, i, lower)
			units += 4 * started(n, 6)
			i += n
		case upper:
			n := letters(s, i)
			units += 4 * started(n, 6)
			i += n
		case digit:
			n := run(s, i, digit)
			units += 5 * started(n, 3)
			i += n
		case sign:
			n := run(s, i, sign)
			units += 4 * started(n, 3)
			i += n
		case newline:
			units += 3
			i++
		case blank:
			n := run(s, i, blank)
			if n > 1 {
				units += 2
			}
			i += n
		case wide:
			r, size := utf8.DecodeRuneInString(s[i:])
			units += wideUnits(r)
			i += size
		}
	}
	return units
}

func classOf(b byte) class {
	if b >= utf8.RuneSelf {
		return wide
	}
	return classes[b]
}

// run returns how many bytes of class c follow one another at i.
func run(s string, i int, c class) int {
	j := i + 1
	for j < len(s) && classOf(s[j]) == c {
		j++
	}
	return j - i
}

// letters returns the length of the letter piece that an upper-case letter at i
// begins: with lower-case letters after it, or with more upper-case ones.
func letters(s string, i int) int {
	if i+1 < len(s) && classOf(s[i+1]) == lower {
		return 1 + run(s, i+1, lower)
	}
	return run(s, i, upper)
}

// wideUnits returns the quarter tokens of a character that is not ASCII.
func wideUnits(r rune) int {
	for _, b := range eastern {
		if r < b.first {
			break
		}
		if r <= b.last {
			return 4
		}
	}
	return 5
}

type block struct{ first, last rune }

// eastern are the Unicode blocks of CJK, kana, hangul and full-width characters
// (Unicode Standard, Blocks.txt), in ascending order.
var eastern = [...]block{
	{0x1100, 0x11FF},   // hangul jamo
	{0x2E80, 0x9FFF},   // CJK radicals and signs, kana, bopomofo, CJK ideographs
	{0xA960, 0xA97F},   // hangul jamo extended A
	{0xAC00, 0xD7FF},   // hangul syllables, jamo extended B
	{0xF900, 0xFAFF},   // CJK compatibility ideographs
	{0xFF00, 0xFFEF},   // half-width and full-width forms
	{0x1B000, 0x1B16F}, // kana supplements
	{0x20000, 0x3FFFF}, // CJK ideographs, extensions
}

// started returns how many groups of size are begun by n.
func started(n, size int) int { return (n + size - 1) / size }
