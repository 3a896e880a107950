package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// maxRune is the bytes of a character at most.
const maxRune = utf8.UTFMax

// A span is so much from an offset.
type span struct{ offset, limit int64 }

// shown returns bytes as text that a model can be sent.
func shown(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// quote shows what a model wrote, within bounds.
func quote(s string) string {
	const most = 100
	if text := firstRunes([]byte(s), most); len(text) < len(s) {
		return fmt.Sprintf("%q…", text)
	}
	return fmt.Sprintf("%q", s)
}

// commas writes a number with separators of thousands.
func commas(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// withoutBreak takes the line break from the end of a line.
func withoutBreak(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// firstRunes returns the first n characters of b. A byte that is no UTF-8 is one.
func firstRunes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return b[:i]
}

// lastRunes returns the last n characters of b.
func lastRunes(b []byte, n int) []byte {
	i := len(b)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRune(b[:i])
		i -= size
	}
	return b[i:]
}

// tornTail returns how many bytes at the end of b begin a character that is not whole.
func tornTail(b []byte) int {
	for n := 1; n < maxRune && n <= len(b); n++ {
		if c := b[len(b)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}

// runeBegin returns the beginning of the character that i lies in, or i itself where
// it lies between two.
func runeBegin(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	for n := 1; n < maxRune && n <= i; n++ {
		if !utf8.RuneStart(b[i-n]) {
			continue
		}
		if _, size := utf8.DecodeRune(b[i-n:]); size > n {
			return i - n
		}
		return i
	}
	return i
}

// saturated adds numbers that are not negative.
func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// readFull reads all of b from a place of a content.
func readFull(c Content, b []byte, at int64) error {
	n, err := c.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("builtin: read at %d: content, want %d bytes, got %d: %w", at, len(b), n, ErrDamaged)
	}
	return err
}
