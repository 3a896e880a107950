package client

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

const (
	shortestKey = 6  // a shorter one would be found in words
	shortestRun = 12 // characters of a key that tell too much of it
	// shortestCoded is how many characters of base64 depend on nothing but so many of a key,
	// wherever it begins in what was encoded.
	shortestCoded = (shortestRun*8 - 6) / 6
)

// A mask is the one place that takes secrets out of texts. It finds keys, long pieces of
// them, also in another case and in base64, keys of which somebody has masked the middle,
// and words that look like keys.
type mask struct {
	keys  []string // in lower case
	runs  map[string]bool
	coded map[string]bool // pieces of base64
}

// newMask returns a mask of keys; empty and short ones are left out.
func newMask(keys ...string) mask {
	m := mask{runs: map[string]bool{}, coded: map[string]bool{}}
	for _, key := range keys {
		if len(key) < shortestKey {
			continue
		}
		low := strings.ToLower(key)
		m.keys = append(m.keys, low)
		pieces(m.runs, low, shortestRun)
		for before := range 3 {
			// What stands before the key in the encoded text shifts it by 0, 1 or 2 bytes; the
			// first and the last characters depend on what is beside it.
			text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + key))
			first, last := (before*8+5)/6, (before+len(key))*8/6
			pieces(m.coded, text[first:last], shortestCoded)
		}
	}
	return m
}

// pieces adds all pieces of text of n characters.
func pieces(to map[string]bool, text string, n int) {
	for i := range len(text) - n + 1 {
		to[text[i:i+n]] = true
	}
}

var (
	// keyWord finds words that look like keys or tokens.
	keyWord = regexp.MustCompile(`\b(?:sk-|AIza|ya29\.|gh[pos]_|eyJ|xox[bp]-)[\w.~+/=*•…-]{3,}|(?i:\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{12,})`)
	// gapped finds words of which something in the middle is left out.
	gapped = regexp.MustCompile(`([\w.~+/=-]*?)(?:\*{2,}|•+|…+|\.{3,}|[xX]{4,})([\w~+/=-]*)`)
)

// text returns s with [secret] in the place of each secret.
func (m mask) text(s string) string {
	return m.gaps(m.whole(keyWord.ReplaceAllString(s, hidden)))
}

// literal finds the strings of a JSON text.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// body returns b with [secret] in the place of each secret. In JSON a string is read without
// its escapes, in which a secret could hide, and written anew where it has one.
func (m mask) body(b []byte) []byte {
	if !json.Valid(b) {
		return []byte(m.text(string(b)))
	}
	return literal.ReplaceAllFunc(b, func(lit []byte) []byte {
		var text string
		if json.Unmarshal(lit, &text) != nil {
			return lit
		}
		masked := m.text(text)
		if masked == text {
			return lit
		}
		out, err := json.Marshal(masked)
		if err != nil {
			return []byte(`"` + hidden + `"`)
		}
		return out
	})
}

// whole hides keys and long pieces of them.
func (m mask) whole(s string) string {
	secret := make([]bool, len(s))
	low := lower(s)
	for _, key := range m.keys {
		for at := 0; ; {
			i := strings.Index(low[at:], key)
			if i < 0 {
				break
			}
			cover(secret[at+i:], len(key))
			at += i + len(key)
		}
	}
	for i := range len(s) {
		if i+shortestRun <= len(s) && m.runs[low[i:i+shortestRun]] {
			cover(secret[i:], shortestRun)
		}
		if i+shortestCoded <= len(s) && m.coded[standard(s[i:i+shortestCoded])] {
			cover(secret[i:], shortestCoded)
		}
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !secret[i]:
			b.WriteByte(s[i])
		case i == 0 || !secret[i-1]:
			b.WriteString(hidden)
		}
	}
	return b.String()
}

func cover(secret []bool, n int) {
	for i := range n {
		secret[i] = true
	}
}

// gaps hides what begins or ends as a key does and leaves out its middle.
func (m mask) gaps(s string) string {
	if len(m.keys) == 0 {
		return s
	}
	return gapped.ReplaceAllStringFunc(s, func(word string) string {
		sides := gapped.FindStringSubmatch(lower(word))
		for _, key := range m.keys {
			begins, ends := sides[1] != "" && strings.HasPrefix(key, sides[1]), sides[2] != "" && strings.HasSuffix(key, sides[2])
			if begins && len(sides[1]) >= 3 || ends && len(sides[2]) >= 3 {
				return hidden
			}
		}
		return word
	})
}

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
