package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts of facts, in bytes.
const (
	maxLine    = 300
	maxPath    = 500
	maxSubject = 200
	maxResult  = 120
)

const ellipsis = "…"

// oneLine returns a text with every run of white space as one blank, shortened to
// at most n bytes.
func oneLine(text string, n int) string {
	// What is cut off anyway need not be split into words.
	if text = strings.TrimSpace(text); len(text) > 4*n {
		text = clip(text, 4*n) + ellipsis
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return clip(text, n-len(ellipsis)) + ellipsis
}

// firstLine returns the first line that is not blank, marked if more follow.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if !blank(rest) {
		line += " " + ellipsis
	}
	return line
}

// clip returns the longest prefix of at most n bytes that ends between two runes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// clipStart returns the longest suffix of at most n bytes that starts between two
// runes.
func clipStart(text string, n int) string {
	if len(text) <= n {
		return text
	}
	from := len(text) - max(n, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// fold returns a text as it is compared: lower case, white space as one blank.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// squeeze returns a name in lower case with letters and digits only.
func squeeze(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// lowerASCII lowers A-Z only, so that positions stay the same.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return string(lower)
}
