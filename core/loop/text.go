package loop

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

const ellipsis = "…"

// clip returns the first n characters of a text. A byte that is not UTF-8 is one.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// clipBytes returns the longest beginning of at most n bytes that ends between two
// characters.
func clipBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// oneLine returns a text with every run of white space as one blank, of at most n
// characters.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(clipBytes(text, 8*n)), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return clip(text, n-1) + ellipsis
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// maxBytesPerToken is more than any usual text has: what is longer than a budget allows
// at this rate need not be counted whole to know that it is over.
const maxBytesPerToken = 16

// fit returns a text, or as much of its beginning as measures at most max tokens, with a
// mark where it was cut. "" if nothing fits.
func fit(text string, most int, c token.Counter) string {
	if most <= 0 {
		return ""
	}
	short := clipBytes(text, maxBytesPerToken*most)
	if len(short) == len(text) && c.Text(text) <= most {
		return text
	}
	low, best := 0, ""
	for high := len(short); low < high; {
		n := (low + high + 1) / 2
		if cut := strings.TrimRight(clipBytes(short, n), " \n") + ellipsis; c.Text(cut) <= most {
			low, best = n, cut
		} else {
			high = n - 1
		}
	}
	return best
}

// countWords counts words as people do: what stands between white space.
func countWords(text string) int { return len(strings.Fields(text)) }

// clipWords returns a text with at most n words. What follows the last one is cut off.
func clipWords(text string, n int) string {
	in := false
	for at, r := range text {
		space := unicode.IsSpace(r)
		if !space && !in {
			if n == 0 {
				return strings.TrimSpace(text[:at])
			}
			n--
		}
		in = !space
	}
	return text
}

// fold returns a text as it is compared: lower case, white space as one blank.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// plain returns a text as valid UTF-8, without what moves and colours in a terminal. A
// line that was written over is two.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7F }) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == 0x1B:
			i += escape(text[i:])
			continue
		case c == '\r':
			b.WriteByte('\n')
		case c >= ' ' && c != 0x7F || c == '\n' || c == '\t':
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}

// escape returns the length of the terminal's control sequence at the start of a text
// (ECMA-48): ESC [ … letter, ESC ] … BEL, or two bytes.
func escape(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= 0x40 && text[i] <= 0x7E {
				return i + 1
			}
			if text[i] < 0x20 {
				return i
			}
		}
		return len(text)
	case ']':
		for i := 2; i < len(text) && text[i] != '\n'; i++ {
			if text[i] == 0x07 {
				return i + 1
			}
			if text[i] == 0x1B {
				return min(i+2, len(text))
			}
		}
	}
	if text[1] >= utf8.RuneSelf {
		return 1
	}
	return 2
}
