package inspect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostPreview is how many characters of a text a preview shows.
const mostPreview = 120

// firstLine returns the first line of s with something on it, as preview does.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			return preview(line)
		}
	}
	return ""
}

// preview returns the beginning of s as one line of at most 120 characters. What
// a terminal would obey, and what hides or reorders letters, is shown as an escape.
func preview(s string) string {
	var b strings.Builder
	n, gap := 0, false
	for n < mostPreview && len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		wrong := r == utf8.RuneError && size == 1
		octet := s[0]
		s = s[size:]
		if unicode.IsSpace(r) {
			gap = n > 0
			continue
		}
		word := string(r)
		switch {
		case wrong:
			word = fmt.Sprintf(`\x%02x`, octet)
		case unsafe(r):
			word = fmt.Sprintf(`\u%04x`, r)
		}
		if gap {
			word = " " + word
		}
		gap = false
		b.WriteString(word)
		n += utf8.RuneCountInString(word)
	}
	out := b.String()
	if strings.TrimSpace(s) == "" && n <= mostPreview {
		return out
	}
	runes := []rune(out)
	return string(runes[:min(len(runes), mostPreview-1)]) + "…"
}

// unsafe reports whether a character is not one to be seen. The joiners that emoji
// and some scripts need are let through.
func unsafe(r rune) bool {
	const nonJoiner, joiner = '\u200C', '\u200D'
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}
