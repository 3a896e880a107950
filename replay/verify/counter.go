package verify

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// A Counter counts the tokens of texts. It remembers what it has counted. It is safe
// for concurrent use.
type Counter struct {
	count func(string) (int, error)

	mu   sync.Mutex
	done map[[32]byte]int
}

// NewCounter returns a counter: "o200k" or "cl100k", by the tokenizer of
// tiktoken-go, "pieces", the estimate that needs no vocabulary, or "chars/4", a quarter of
// the UTF-16 units, rounded up.
func NewCounter(name string) (*Counter, error) {
	c := &Counter{done: map[[32]byte]int{}}
	switch name {
	case "pieces":
		c.count = func(s string) (int, error) { return pieces(s), nil }
		return c, nil
	case "chars/4":
		c.count = func(s string) (int, error) { return (units(s) + 3) / 4, nil }
		return c, nil
	case "o200k", "cl100k":
		codec, err := tokenizer.Get(tokenizer.Encoding(name + "_base"))
		if err != nil {
			return nil, fmt.Errorf("verify: counter %q: %w", name, err)
		}
		c.count = codec.Count
		return c, nil
	}
	return nil, fmt.Errorf("verify: counter %q, want o200k, cl100k, pieces or chars/4", name)
}

// Text returns the tokens of s.
func (c *Counter) Text(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	key := sha256.Sum256([]byte(s))
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.done[key]; ok {
		return n, nil
	}
	n, err := c.count(s)
	if err != nil {
		return 0, fmt.Errorf("verify: count: %w", err)
	}
	c.done[key] = n
	return n, nil
}

// What a piece of text costs, in quarters of a token (the estimate that package token
// calls "pieces": measured for word pieces, without a vocabulary).
const (
	letters     = 4 // for every 6 letters of a word that were begun
	digits      = 5 // for every 3 digits that were begun
	punctuation = 4 // for every 3 characters of punctuation that were begun
	newline     = 3
	blanks      = 2 // for two or more blanks in a row; a single one costs nothing
	wide        = 4 // a Chinese, Japanese, Korean or full-width character
	foreign     = 5 // any other character beyond ASCII, and any byte that is no UTF-8
)

// pieces returns the tokens of s, estimated.
func pieces(s string) int {
	units := 0
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case isLetter(c):
			n = word(s[i:])
			units += letters * ((n + 5) / 6)
		case isDigit(c):
			n = runOf(s[i:], isDigit)
			units += digits * ((n + 2) / 3)
		case c == '\n':
			units += newline
		case isBlank(c):
			if n = runOf(s[i:], isBlank); n > 1 {
				units += blanks
			}
		case c < utf8.RuneSelf:
			n = runOf(s[i:], isPunctuation)
			units += punctuation * ((n + 2) / 3)
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			units += foreign
			if isWide(r) {
				units += wide - foreign
			}
		}
		i += n
	}
	return (units + 3) / 4
}

// units returns the UTF-16 units of s.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// word returns the length of the word that s begins with: an upper-case letter and
// lower-case ones, or lower-case ones, or upper-case ones.
func word(s string) int {
	upper := runOf(s, isUpper)
	if upper > 1 {
		return upper
	}
	return upper + runOf(s[upper:], isLower)
}

func runOf(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' }

// isPunctuation reports whether c is another ASCII character, control characters included.
func isPunctuation(c byte) bool {
	return c < utf8.RuneSelf && c != '\n' && !isLetter(c) && !isDigit(c) && !isBlank(c)
}

// isWide reports whether r is a Chinese, Japanese or Korean character, or the
// full-width form of another one.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		0x3000 <= r && r <= 0x303F || 0xFF00 <= r && r <= 0xFFEF
}
