package client

import (
	"html"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A view is a text with escapes taken off, which knows where each byte came from.
type view struct {
	text string
	at   []int // where in the source each byte begins, and the end; nil if text is the source
}

// open takes one coat of escapes off: of JSON and other string literals, of URLs and of
// HTML, which come mixed. It reports whether there was any.
func (v view) open() (view, bool) {
	if !strings.ContainsAny(v.text, `\%&`) {
		return v, false
	}
	text, at := make([]byte, 0, len(v.text)), make([]int, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		plain, n := unescaped(v.text[i:])
		for k := range len(plain) {
			text, at = append(text, plain[k]), append(at, v.from(i))
		}
		i += n
	}
	opened := view{string(text), append(at, v.from(len(v.text)))}
	return opened, len(text) < len(v.text)
}

func (v view) from(i int) int {
	if v.at == nil {
		return i
	}
	return v.at[i]
}

// coats yields v, and it again with one coat of escapes off after the other.
func (v view) coats() iter.Seq[view] {
	return func(yield func(view) bool) {
		for more, n := true, 0; more && n <= mostCoats; n++ {
			if !yield(v) {
				return
			}
			v, more = v.open()
		}
	}
}

// mark marks in the source what is found in v.
func (v view) mark(marks, found []bool) {
	for i, is := range found {
		switch {
		case is && v.at == nil:
			marks[i] = true
		case is:
			cover(marks[v.at[i]:v.at[i+1]])
		}
	}
}

// decoded yields what v says where it is read as base64, in either alphabet, or as hexadecimal
// digits, from wherever a key may begin in it. Only where nothing is long enough to hold a
// piece of a key, it yields nothing.
func (v view) decoded() iter.Seq[view] {
	return func(yield func(view) bool) {
		if !hasLongWord(v.text) {
			return
		}
		for skip := range 4 {
			if !yield(v.digits(6, skip, base64Digit)) {
				return
			}
		}
		for skip := range 2 {
			if !yield(v.digits(4, skip, hexDigit)) {
				return
			}
		}
	}
}

// hasLongWord reports whether s has a word of digits that may hold shortestKey bytes.
func hasLongWord(s string) bool {
	const least = shortestKey * 8 / 6
	n := 0
	for i := range len(s) {
		if n++; base64Digit(s[i]) < 0 {
			n = 0
		}
		if n == least {
			return true
		}
	}
	return false
}

// digits returns the bytes of v's text where it is read as digits of so many bits each; the
// first digits of each run of them are left out. White space breaks no run, as lines do not:
// what else stands between two runs is a byte 0.
func (v view) digits(bits, skip int, digit func(byte) int) view {
	text, at := make([]byte, 0, len(v.text)), make([]int, 0, len(v.text)+1)
	sum, have, begin, left := 0, 0, 0, skip
	for i := range len(v.text) {
		d := digit(v.text[i])
		switch {
		case d >= 0 && left > 0:
			left--
		case d >= 0:
			if have == 0 {
				begin = i
			}
			sum, have = sum<<bits|d, have+bits
			if have >= 8 {
				have -= 8
				text, at = append(text, byte(sum>>have)), append(at, v.from(begin)) //nolint:gosec // the rest is cut off
				sum, begin = sum&(1<<have-1), i
			}
		case !isSpace(rune(v.text[i])):
			sum, have, left = 0, 0, skip
			if len(text) > 0 && text[len(text)-1] != 0 {
				text, at = append(text, 0), append(at, v.from(i))
			}
		}
	}
	return view{string(text), append(at, v.from(len(v.text)))}
}

// base64Digit returns the value of a digit of either alphabet; -1 if c is none.
func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}

// hexDigit returns the value of a hexadecimal digit; -1 if c is none.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|' ' >= 'a' && c|' ' <= 'f':
		return int(c|' '-'a') + 10
	}
	return -1
}

// unescaped returns what the first character of s stands for, and how many bytes it takes.
func unescaped(s string) (plain string, n int) {
	switch {
	case s[0] == '%':
		if c, ok := hexAt(s, 1, 2); ok {
			return string([]byte{byte(c)}), 3
		}
	case s[0] == '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';'); end > 0 {
			if plain = html.UnescapeString(s[:end+1]); len(plain) <= end {
				return plain, end + 1
			}
		}
	case s[0] == '\\' && len(s) > 1:
		return unslashed(s)
	}
	return s[:1], 1
}

// unslashed is unescaped for what begins with a backslash and has more.
func unslashed(s string) (plain string, n int) {
	digits := 0
	switch s[1] {
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'x':
		digits = 2
	}
	if c, ok := hexAt(s, 2, digits); ok {
		return string(c), 2 + digits
	}
	switch c := s[1]; {
	case strings.IndexByte("bfnrt", c) >= 0: // white space, whichever
		return " ", 2
	case c == '%' || c == '&': // which begin escapes of their own
	case c > ' ' && c < utf8.RuneSelf && !isWord(c):
		return s[1:2], 2
	}
	return s[:1], 1
}

// hexAt returns the number that s has in n hexadecimal digits at a place.
func hexAt(s string, at, n int) (rune, bool) {
	if n == 0 || len(s) < at+n {
		return 0, false
	}
	c, err := strconv.ParseUint(s[at:at+n], 16, 31)
	return rune(c), err == nil
}

// gram is so short a piece of a text that it fits a number.
type gram [4]byte

// runs are pieces of one length that are looked for all at once.
type runs struct {
	n      int
	pieces map[string]bool
	grams  map[gram]bool // all that stand in a piece
}

func newRuns(n int) runs { return runs{n, map[string]bool{}, map[gram]bool{}} }

// add adds all pieces of a text.
func (r runs) add(text string) {
	for i := range len(text) - r.n + 1 {
		r.pieces[text[i:i+r.n]] = true
	}
	for i := range len(text) - len(gram{}) + 1 {
		r.grams[gram([]byte(text[i:i+len(gram{})]))] = true
	}
}

// mark marks all pieces in a text. Where the end of what could be one is in none, all that
// hold that end are passed over.
func (r runs) mark(text string, marks []bool) {
	const size = len(gram{})
	for i, done := 0, 0; i+r.n <= len(text); {
		end := i + r.n
		if !r.grams[gram{text[end-4], text[end-3], text[end-2], text[end-1]}] {
			i = end - size + 1
			continue
		}
		if r.pieces[text[i:end]] {
			cover(marks[max(i, done):end])
			done = end
		}
		i++
	}
}

// places yields where a part stands in s, one behind the end of the other.
func places(s, part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at += len(part) {
			i := strings.Index(s[at:], part)
			if i < 0 || !yield(at+i) {
				return
			}
			at += i
		}
	}
}

// after returns how many bytes of s pass before a character that is not of a kind.
func after(s string, kind func(rune) bool) int {
	for i, c := range s {
		if !kind(c) {
			return i
		}
	}
	return len(s)
}

// within reports whether the place is in the middle of a word.
func within(s string, at int) bool { return at > 0 && isWord(s[at-1]) }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'z'
}

func isSpace(c rune) bool { return c < utf8.RuneSelf && unicode.IsSpace(c) }

func isWordChar(c rune) bool {
	return c < utf8.RuneSelf && (isWord(byte(c)) || strings.ContainsRune(".~+/=-", c))
}

func isKeyChar(c rune) bool { return isWordChar(c) || c == '*' || c == '•' || c == '…' }

// lower returns s with the letters of ASCII in lower case: as long as s is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
