package main

import (
	"bytes"
	"fmt"
	"unicode"
)

// The classes that the split patterns distinguish, one bit each; core/token/bpe/class.go has the same values.
const (
	classUpper   = 1 << iota // Lu, Lt
	classLower               // Ll
	classCommon              // Lm, Lo: in both letter sets of the o200k pattern
	classMark                // M
	classNumber              // N
	classSpace               // White_Space but \r and \n
	classNewline             // \r, \n
	classOther               // all else, unassigned code points included
)

const blockSize = 256

// baseVersion is the Unicode version of the Go tables that classTable starts from.
const baseVersion = "15.0.0"

// span is a range of code points with the class they have in Unicode 16.0.
type span struct {
	first, last rune
	class       byte
}

// newer lists every range whose class in Unicode 16.0 (the tables inside tiktoken 0.14) differs from Go's Unicode 15.0
// tables: characters assigned in 15.1 and 16.0. It was found by comparing all code points with tiktoken;
// testdata/gen_vectors.py compares them again.
func newer() []span {
	return []span{
		{0x0897, 0x0897, classMark},
		{0x1C89, 0x1C89, classUpper},
		{0x1C8A, 0x1C8A, classLower},
		{0xA7CB, 0xA7CC, classUpper},
		{0xA7CD, 0xA7CD, classLower},
		{0xA7DA, 0xA7DA, classUpper},
		{0xA7DB, 0xA7DB, classLower},
		{0xA7DC, 0xA7DC, classUpper},
		{0x105C0, 0x105F3, classCommon},
		{0x10D40, 0x10D49, classNumber},
		{0x10D4A, 0x10D4F, classCommon},
		{0x10D50, 0x10D65, classUpper},
		{0x10D69, 0x10D6D, classMark},
		{0x10D6F, 0x10D6F, classCommon},
		{0x10D70, 0x10D85, classLower},
		{0x10EC2, 0x10EC4, classCommon},
		{0x10EFC, 0x10EFC, classMark},
		{0x11380, 0x11389, classCommon},
		{0x1138B, 0x1138B, classCommon},
		{0x1138E, 0x1138E, classCommon},
		{0x11390, 0x113B5, classCommon},
		{0x113B7, 0x113B7, classCommon},
		{0x113B8, 0x113C0, classMark},
		{0x113C2, 0x113C2, classMark},
		{0x113C5, 0x113C5, classMark},
		{0x113C7, 0x113CA, classMark},
		{0x113CC, 0x113D0, classMark},
		{0x113D1, 0x113D1, classCommon},
		{0x113D2, 0x113D2, classMark},
		{0x113D3, 0x113D3, classCommon},
		{0x113E1, 0x113E2, classMark},
		{0x116D0, 0x116E3, classNumber},
		{0x11BC0, 0x11BE0, classCommon},
		{0x11BF0, 0x11BF9, classNumber},
		{0x11F5A, 0x11F5A, classMark},
		{0x13460, 0x143FA, classCommon},
		{0x16100, 0x1611D, classCommon},
		{0x1611E, 0x1612F, classMark},
		{0x16130, 0x16139, classNumber},
		{0x16D40, 0x16D6C, classCommon},
		{0x16D70, 0x16D79, classNumber},
		{0x18CFF, 0x18CFF, classCommon},
		{0x1CCF0, 0x1CCF9, classNumber},
		{0x1E5D0, 0x1E5ED, classCommon},
		{0x1E5EE, 0x1E5EF, classMark},
		{0x1E5F0, 0x1E5F0, classCommon},
		{0x1E5F1, 0x1E5FA, classNumber},
		{0x2EBF0, 0x2EE5D, classCommon},
	}
}

// classTable returns the two-stage table: one byte for every block of 256 code points, naming its row, then the rows of
// 256 classes. It refuses to run on other tables than the ones newer() was compared with.
func classTable() ([]byte, error) {
	if unicode.Version != baseVersion {
		return nil, fmt.Errorf("genvocab: classes: Unicode tables of this Go, want %s, got %s", baseVersion, unicode.Version)
	}
	flat := make([]byte, unicode.MaxRune+1)
	for r := range flat {
		flat[r] = classOf(rune(r))
	}
	for _, s := range newer() {
		for r := s.first; r <= s.last; r++ {
			flat[r] = s.class
		}
	}
	var index, rows []byte
	for at := 0; at < len(flat); at += blockSize {
		block := flat[at : at+blockSize]
		row := findRow(rows, block)
		if row == len(rows)/blockSize {
			rows = append(rows, block...)
		}
		if row > 0xFF {
			return nil, fmt.Errorf("genvocab: classes: rows, want at most 256, got more")
		}
		index = append(index, byte(row))
	}
	return append(index, rows...), nil
}

// findRow returns the number of the row equal to block, or the number of rows.
func findRow(rows, block []byte) int {
	n := len(rows) / blockSize
	for row := range n {
		if bytes.Equal(rows[row*blockSize:(row+1)*blockSize], block) {
			return row
		}
	}
	return n
}

func classOf(r rune) byte {
	switch {
	case r == '\r' || r == '\n':
		return classNewline
	case unicode.Is(unicode.White_Space, r):
		return classSpace
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return classUpper
	case unicode.Is(unicode.Ll, r):
		return classLower
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return classCommon
	case unicode.Is(unicode.M, r):
		return classMark
	case unicode.Is(unicode.N, r):
		return classNumber
	default:
		return classOther
	}
}
