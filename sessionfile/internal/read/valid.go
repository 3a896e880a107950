package read

import (
	"encoding/binary"
	"math/bits"
)

// Answers of the functions of this file in place of a position.
const (
	invalid = -1 // not JSON
	tooDeep = -2 // nested deeper than MaxDepth
)

// check reads one JSON value with white space around it. It returns the length
// of b, or invalid, or tooDeep. What it accepts is what encoding/json accepts,
// bytes inside strings that are not UTF-8 included. Half of all time would be
// spent here with a validator that looks at single bytes; this one looks at eight.
func check(b []byte) int {
	i := checkValue(b, skipSpace(b, 0), 0)
	if i < 0 {
		return i
	}
	if i = skipSpace(b, i); i < len(b) {
		return invalid
	}
	return i
}

// IsJSON reports whether b is one JSON value of bearable depth.
func IsJSON(b []byte) bool { return check(b) >= 0 }

// checkValue returns the position behind the value that starts at i.
func checkValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return invalid
	}
	switch c := b[i]; {
	case c == '"':
		return checkString(b, i)
	case c == '{', c == '[':
		if depth == MaxDepth {
			return tooDeep
		}
		return checkComposite(b, i, depth+1)
	case c == '-', isDigit(c):
		return checkNumber(b, i)
	case c == 't':
		return checkWord(b, i, "true")
	case c == 'f':
		return checkWord(b, i, "false")
	case c == 'n':
		return checkWord(b, i, "null")
	}
	return invalid
}

// checkComposite reads the object or array that starts at i.
func checkComposite(b []byte, i, depth int) int {
	object := b[i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		if object {
			if i >= len(b) || b[i] != '"' {
				return invalid
			}
			if i = checkString(b, i); i < 0 {
				return i
			}
			if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
				return invalid
			}
			i = skipSpace(b, i+1)
		}
		if i = checkValue(b, i, depth); i < 0 {
			return i
		}
		if i = skipSpace(b, i); i >= len(b) {
			return invalid
		}
		if b[i] == end {
			return i + 1
		}
		if b[i] != ',' {
			return invalid
		}
		i = skipSpace(b, i+1)
	}
}

// checkString reads the string that starts at i.
func checkString(b []byte, i int) int {
	for i++; i < len(b); {
		if i+8 <= len(b) {
			word := special(binary.LittleEndian.Uint64(b[i:]))
			if word == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(word) / 8
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return invalid
		case c != '\\':
			i++
			continue
		}
		if i+1 >= len(b) {
			return invalid
		}
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if i+6 > len(b) || !isHex(b[i+2]) || !isHex(b[i+3]) || !isHex(b[i+4]) || !isHex(b[i+5]) {
				return invalid
			}
			i += 6
		default:
			return invalid
		}
	}
	return invalid
}

// special marks the first byte of word, in the order of the text, that is a quote,
// a backslash or a control character: the lowest set bit lies in it. Marks above
// that one mean nothing.
func special(word uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, escape := word^ones*'"', word^ones*'\\'
	return ((word-ones*' ')&^word | (quote-ones)&^quote | (escape-ones)&^escape) & tops
}

// checkNumber reads the number that starts at i.
func checkNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b) || !isDigit(b[i]):
		return invalid
	case b[i] == '0':
		i++
	default:
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		if i++; i >= len(b) || !isDigit(b[i]) {
			return invalid
		}
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i >= len(b) || !isDigit(b[i]) {
			return invalid
		}
		i = skipDigits(b, i)
	}
	return i
}

func checkWord(b []byte, i int, word string) int {
	if i+len(word) > len(b) || string(b[i:i+len(word)]) != word {
		return invalid
	}
	return i + len(word)
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
