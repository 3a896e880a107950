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
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return string(lit)
	}
	if !utf8.Valid(lit) {
		lit = validUTF8(lit)
	}
	var out strings.Builder
	out.Grow(len(lit))
	for len(lit) > 0 {
		k := run(lit)
		out.Write(lit[:k])
		if lit = lit[k:]; len(lit) > 0 {
			lit = lit[unescape(&out, lit):]
		}
	}
	return out.String()
}

// run returns the number of bytes before the first backslash in b. Program text has an
// escape every dozen bytes, which is too short for a library call to pay.
func run(b []byte) int {
	const short = 16
	for i := range min(short, len(b)) {
		if b[i] == '\\' {
			return i
		}
	}
	if len(b) <= short {
		return len(b)
	}
	if k := bytes.IndexByte(b[short:], '\\'); k >= 0 {
		return short + k
	}
	return len(b)
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

// unescape writes what the escape at the start of b stands for and returns its length.
func unescape(out *strings.Builder, b []byte) int {
	if len(b) < 2 {
		return len(b) // cannot be in a checked text
	}
	c := b[1]
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r, n := escapedRune(b)
		out.WriteRune(r)
		return n
	}
	out.WriteByte(c)
	return 2
}

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
