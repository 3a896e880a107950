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

// standard returns base64 in the standard alphabet.
func standard(s string) string {
	if !strings.ContainsAny(s, "-_") {
		return s
	}
	return strings.NewReplacer("-", "+", "_", "/").Replace(s)
}
