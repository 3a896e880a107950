package client

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	shortestKey = 6  // a shorter one would be found in words
	shortestRun = 12 // characters of a key that tell too much of it
	// mostCoats is how often escapes are taken off: an error is repeated within an error
	// within a proxy's.
	mostCoats = 6
)

// A mask is the one place that takes secrets out of texts. It finds keys, long pieces of
// them, also in any other case, in base64 and in hexadecimal digits, keys of which somebody
// has masked the middle, and words that look like keys; each also where it is escaped,
// whatever the text is: a body that was cut is no JSON, and its strings have escapes still.
type mask struct {
	keys []string // in lower case
	runs runs
}

// newMask returns a mask of keys; empty and short ones are left out.
func newMask(keys ...string) mask {
	m := mask{runs: newRuns(shortestRun)}
	for _, key := range keys {
		// A key that looks escaped loses that along with the escapes of the text around it.
		for v, more := (view{text: key}), true; more && len(v.text) >= shortestKey; v, more = v.open() {
			low := lower(v.text)
			m.keys = append(m.keys, low)
			m.runs.add(low)
		}
	}
	return m
}

// text returns s with [secret] in the place of each secret.
func (m mask) text(s string) string { return hide(s, m.marks(s)) }

// body returns b with [secret] in the place of each secret. What was JSON is JSON still.
func (m mask) body(b []byte) []byte {
	s := string(b)
	marks := m.marks(s)
	if json.Valid(b) {
		inStrings(s, marks)
	}
	return []byte(hide(s, marks))
}

// inStrings leaves only those marks of a JSON text that are within its strings, and of
// whole escapes.
func inStrings(s string, marks []bool) {
	inside := false
	for i := 0; i < len(s); {
		n := 1
		switch {
		case s[i] == '"':
			inside = !inside
			marks[i] = false
		case !inside:
			marks[i] = false
		case s[i] == '\\':
			n = 2
			if s[i+1] == 'u' {
				n = 6
			}
			if escape := marks[i : i+n]; slices.Contains(escape, true) {
				cover(escape)
			}
		}
		i += n
	}
}

// hide returns s with [secret] in the place of what is marked.
func hide(s string, marks []bool) string {
	if !slices.Contains(marks, true) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !marks[i]:
			b.WriteByte(s[i])
		case i == 0 || !marks[i-1]:
			b.WriteString(hidden)
		}
	}
	return b.String()
}

// marks tells which bytes of s belong to a secret.
func (m mask) marks(s string) []bool {
	marks := make([]bool, len(s))
	for v := range (view{text: s}).coats() {
		v.mark(marks, m.find(v.text))
		for inner := range v.decoded() {
			for plain := range inner.coats() {
				plain.mark(marks, m.own(lower(plain.text)))
			}
		}
	}
	return marks
}

// find tells which bytes of s belong to a secret that is written as it is. It looks at each
// byte a few times at most, whatever s is.
func (m mask) find(s string) []bool {
	low := lower(s)
	marks := m.own(low)
	words(s, low, marks)
	m.gaps(s, low, marks)
	return marks
}

// own tells which bytes of a text in lower case belong to a key, or to a long piece of one.
func (m mask) own(low string) []bool {
	marks := make([]bool, len(low))
	for _, key := range m.keys {
		for at := range places(low, key) {
			cover(marks[at : at+len(key)])
		}
	}
	m.runs.mark(low, marks)
	return marks
}

// keyStarts are what words begin with that look like keys or tokens.
var keyStarts = []string{"sk-", "AIza", "ya29.", "ghp_", "gho_", "ghs_", "eyJ", "xoxb-", "xoxp-"}

// words marks words that look like keys or tokens.
func words(s, low string, marks []bool) {
	for _, start := range keyStarts {
		done := 0
		for at := range places(s, start) {
			if at < done || within(s, at) {
				continue
			}
			word := at + len(start)
			done = word + after(s[word:], isKeyChar)
			if utf8.RuneCountInString(s[word:done]) >= 3 {
				cover(marks[at:done])
			}
		}
	}
	for _, scheme := range []string{"bearer", "basic"} {
		for at := range places(low, scheme) {
			word := at + len(scheme)
			space := after(s[word:], isSpace)
			if space == 0 || within(s, at) {
				continue
			}
			word += space
			if n := after(s[word:], isWordChar); n >= shortestRun {
				cover(marks[at : word+n])
			}
		}
	}
}

// gaps marks what begins or ends as a key does and leaves out its middle.
func (m mask) gaps(s, low string, marks []bool) {
	for i, done := 0, 0; i < len(s); {
		n, gap := gapAt(s[i:])
		if !gap {
			i += n
			continue
		}
		first, last := i, i+n
		for first > done && isWordChar(rune(s[first-1])) {
			first--
		}
		last += after(s[last:], func(c rune) bool { return c != '.' && isWordChar(c) })
		if m.beside(low[first:i], low[i+n:last]) {
			cover(marks[first:last])
		}
		i, done = last, last
	}
}

// gapAt returns the length of what s begins with, and whether it stands for something that
// is left out.
func gapAt(s string) (n int, gap bool) {
	c, size := utf8.DecodeRuneInString(s)
	var least int
	switch c {
	case '•', '…':
		least = size
	case '*':
		least = 2
	case '.':
		least = 3
	case 'x', 'X':
		least = 4
	default:
		return size, false
	}
	n = after(s, func(other rune) bool { return other == c || c|' ' == 'x' && other|' ' == 'x' })
	return n, n >= least
}

// beside reports whether a key has these sides.
func (m mask) beside(begin, end string) bool {
	return slices.ContainsFunc(m.keys, func(key string) bool {
		return len(begin) >= 3 && strings.HasPrefix(key, begin) || len(end) >= 3 && strings.HasSuffix(key, end)
	})
}

func cover(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}
