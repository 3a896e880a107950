package raw

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of the string literal lit. Halves of surrogate pairs
// and bytes that are not UTF-8 become U+FFFD, as in encoding/json. It returns ""
// for a value that is no string.
func Unquote(lit []byte) string {
	if len(lit) < 2 || lit[0] != '"' {
		return ""
	}
	lit = lit[1 : len(lit)-1]
	if !utf8.Valid(lit) {
		lit = validUTF8(lit)
	}
	escaped := bytes.IndexByte(lit, '\\')
	if escaped < 0 {
		return string(lit)
	}
	if len(lit) < 2*block { // not worth the buffer
		var out strings.Builder
		out.Grow(len(lit))
		unescapeTail(&out, lit)
		return out.String()
	}
	return unescapeAll(lit, escaped)
}

// unescapeAll returns the text of lit, whose first escape is at from. It goes through a
// small buffer, because the runs between escapes are too short for a copy each: a whole
// block is copied for each, and what is too much is written over.
func unescapeAll(lit []byte, from int) string {
	const full = 8 * block
	var out strings.Builder
	out.Grow(len(lit))
	out.Write(lit[:from])
	var buf [full + 3*block]byte
	n, i := 0, from
	for i+2*block <= len(lit) {
		at, end := i, i+block
		for mask := backslashes(lit, i); mask != 0; {
			k := first(mask)
			*(*[block]byte)(buf[n:]) = *(*[block]byte)(lit[at:])
			n += i + k - at
			at = i + k
			size := 2
			if c := plain[lit[at+1]]; c != 0 {
				buf[n] = c
				n++
			} else {
				var text []byte
				text, size = unescape(buf[:n], lit[at:])
				n = len(text)
			}
			at += size
			mask = without(mask, k+size-1)
		}
		if at < end {
			*(*[block]byte)(buf[n:]) = *(*[block]byte)(lit[at:])
			n += end - at
			at = end
		}
		if i = at; n >= full {
			out.Write(buf[:n])
			n = 0
		}
	}
	out.Write(buf[:n])
	unescapeTail(&out, lit[i:])
	return out.String()
}

// unescapeTail writes the text of lit.
func unescapeTail(out *strings.Builder, lit []byte) {
	var buf [utf8.UTFMax]byte
	for len(lit) > 0 {
		k := bytes.IndexByte(lit, '\\')
		if k < 0 {
			out.Write(lit)
			return
		}
		out.Write(lit[:k])
		text, n := unescape(buf[:0], lit[k:])
		out.Write(text)
		lit = lit[k+n:]
	}
}

// validUTF8 returns b with U+FFFD for each byte that is not UTF-8.
func validUTF8(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

// unescape appends to dst what the escape at the start of b stands for, at most four
// bytes, and returns the escape's length too.
func unescape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, len(b) // cannot be in a checked text
	}
	if b[1] == 'u' {
		r, n := escapedRune(b)
		return utf8.AppendRune(dst, r), n
	}
	if c := plain[b[1]]; c != 0 {
		return append(dst, c), 2
	}
	return append(dst, b[1]), 2 // cannot be in a checked text
}

// plain is what a backslash and a byte stand for; 0 for those that are no escape by
// themselves.
var plain = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// escapedRune reads \uXXXX, or a pair of them that is one rune.
func escapedRune(b []byte) (rune, int) {
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		return r, min(6, len(b))
	}
	if len(b) >= 12 {
		if both := utf16.DecodeRune(r, hex4(b[6:])); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, min(6, len(b))
}

// hex4 returns the number in \uXXXX, or U+FFFD if b does not begin so.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// Quote returns s as a string literal. See [AppendQuote].
func Quote(s string) []byte { return AppendQuote(make([]byte, 0, len(s)+len(s)/16+2), s) }

// AppendQuote appends s as a string literal: only quotes, backslashes and control
// characters are escaped; bytes that are not UTF-8 become \ufffd. The same text
// always gives the same bytes.
func AppendQuote(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[done:i]...), `\ufffd`...)
				done = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[done:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		done = i
	}
	return append(append(dst, s[done:]...), '"')
}

// IsNonZero reports whether b is a number other than 0, as the codes of errors are.
func IsNonZero(b []byte) bool { return KindOf(b) == "number" && string(b) != "0" }

// Int returns the whole number that the value b stands for, also written with a
// point or an exponent. false if it is none or does not fit.
func Int(b []byte) (int, bool) {
	if KindOf(b) != "number" {
		return 0, false
	}
	if n, err := strconv.Atoi(string(b)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	const exact = 1 << 53
	if err != nil || f > exact || f < -exact || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
