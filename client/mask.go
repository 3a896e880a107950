package client

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	shortestKey = 6  // a shorter one would be found in words
	shortestRun = 12 // characters of a key that tell too much of it
	// shortestCoded is how many characters of base64 depend on nothing but so many of a key,
	// wherever it begins in what was encoded.
	shortestCoded = (shortestRun*8 - 6) / 6
	// mostCoats is how often escapes are taken off: an error is repeated within an error
	// within a proxy's.
	mostCoats = 6
)

// A mask is the one place that takes secrets out of texts. It finds keys, long pieces of
// them, also in another case, in base64 and in hexadecimal digits, keys of which somebody
// has masked the middle, and words that look like keys; each also where it is escaped,
// whatever the text is: a body that was cut is no JSON, and its strings have escapes still.
type mask struct {
	keys  []string // in lower case
	runs  runs
	coded runs // pieces of base64
	hexed runs // pieces in hexadecimal digits
}

// newMask returns a mask of keys; empty and short ones are left out.
func newMask(keys ...string) mask {
	m := mask{runs: newRuns(shortestRun), coded: newRuns(shortestCoded), hexed: newRuns(2 * shortestRun)}
	for _, key := range keys {
		// A key that looks escaped loses that along with the escapes of the text around it.
		for v, more := (view{text: key}), true; more && len(v.text) >= shortestKey; v, more = v.open() {
			m.add(v.text)
		}
	}
	return m
}

func (m *mask) add(key string) {
	low := lower(key)
	m.keys = append(m.keys, low)
	m.runs.add(low)
	for _, cased := range []string{key, low, strings.ToUpper(key)} {
		m.hexed.add(hex.EncodeToString([]byte(cased)))
		for before := range 3 {
			// What stands before the key in the encoded text shifts it by 0, 1 or 2 bytes; the
			// first and the last characters depend on what is beside it.
			text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + cased))
			first, last := (before*8+5)/6, (before+len(cased))*8/6
			m.coded.add(text[first:last])
		}
	}
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
	marks := m.find(s)
	v, more := view{text: s}.open()
	for range mostCoats {
		if !more {
			break
		}
		for i, found := range m.find(v.text) {
			if found {
				cover(marks[v.at[i]:v.at[i+1]])
			}
		}
		v, more = v.open()
	}
	return marks
}

// find tells which bytes of s belong to a secret that is not escaped. It looks at each byte
// a few times at most, whatever s is.
func (m mask) find(s string) []bool {
	marks := make([]bool, len(s))
	low := lower(s)
	for _, key := range m.keys {
		for at := range places(low, key) {
			cover(marks[at : at+len(key)])
		}
	}
	m.runs.mark(low, marks)
	m.coded.mark(standard(s), marks)
	m.hexed.mark(low, marks)
	words(s, low, marks)
	m.gaps(s, low, marks)
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
