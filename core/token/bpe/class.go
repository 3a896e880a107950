package bpe

import _ "embed"

// The character classes that the split patterns distinguish, one bit each; internal/genvocab writes the same values.
const (
	classUpper   uint8 = 1 << iota // Lu, Lt
	classLower                     // Ll
	classCommon                    // Lm, Lo: in both letter sets of the o200k pattern
	classMark                      // M
	classNumber                    // N
	classSpace                     // White_Space but \r and \n
	classNewline                   // \r, \n
	classOther                     // all else, unassigned code points included

	classLetter = classUpper | classLower | classCommon // \p{L}
	classBlank  = classSpace | classNewline             // \s
	classSymbol = classMark | classOther                // [^\s\p{L}\p{N}]
	classHead   = classUpper | classCommon | classMark  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	classTail   = classLower | classCommon | classMark  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
)

// Layout of classes: a row number for every block of 256 code points, then the rows.
const (
	blockBits = 8
	blockMask = 1<<blockBits - 1
	blocks    = 0x110000 >> blockBits
)

// classes is the two-stage table of Unicode 16.0 classes, written by internal/genvocab.
//
//go:embed vocab/classes.bin
var classes string

// ascii is the classes of ASCII, by byte; 0 for all other bytes.
var ascii = [256]uint8{
	classOther, classOther, classOther, classOther, classOther, classOther, classOther, classOther,
	classOther, classSpace, classNewline, classSpace, classSpace, classNewline, classOther, classOther,
	classOther, classOther, classOther, classOther, classOther, classOther, classOther, classOther,
	classOther, classOther, classOther, classOther, classOther, classOther, classOther, classOther,
	classSpace, classOther, classOther, classOther, classOther, classOther, classOther, classOther,
	classOther, classOther, classOther, classOther, classOther, classOther, classOther, classOther,
	classNumber, classNumber, classNumber, classNumber, classNumber, classNumber, classNumber, classNumber,
	classNumber, classNumber, classOther, classOther, classOther, classOther, classOther, classOther,
	classOther, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper,
	classUpper, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper,
	classUpper, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper, classUpper,
	classUpper, classUpper, classUpper, classOther, classOther, classOther, classOther, classOther,
	classOther, classLower, classLower, classLower, classLower, classLower, classLower, classLower,
	classLower, classLower, classLower, classLower, classLower, classLower, classLower, classLower,
	classLower, classLower, classLower, classLower, classLower, classLower, classLower, classLower,
	classLower, classLower, classLower, classOther, classOther, classOther, classOther, classOther,
}

// classAt returns the class and the width in bytes of the character at b[i]. b must be valid UTF-8.
func classAt(b []byte, i int) (class uint8, width int) {
	if c := b[i]; c < 0x80 {
		return ascii[c], 1
	}
	return wideClassAt(b, i)
}

// wideClassAt is classAt for characters above ASCII.
func wideClassAt(b []byte, i int) (class uint8, width int) {
	c := rune(b[i])
	switch {
	case c < 0xE0:
		return classOf(c&0x1F<<6 | tail(b[i+1])), 2
	case c < 0xF0:
		return classOf(c&0x0F<<12 | tail(b[i+1])<<6 | tail(b[i+2])), 3
	default:
		return classOf(c&0x07<<18 | tail(b[i+1])<<12 | tail(b[i+2])<<6 | tail(b[i+3])), 4
	}
}

// tail returns the six bits that a continuation byte carries.
func tail(c byte) rune { return rune(c & 0x3F) }

// classOf looks a code point up.
func classOf(r rune) uint8 {
	row := int(classes[r>>blockBits])
	return classes[blocks+row<<blockBits+int(r&blockMask)]
}
