package console

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// Wrap breaks a text between words.
func Wrap(text string, width int) []string {
	lines := strings.Split(lipgloss.Wrap(text, max(width, 1), " "), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return lines
}

// Clip returns the beginning of a text that comes from outside, safe and at most so
// many columns wide.
func Clip(s string, columns int) string {
	s, columns = Safe(s), max(columns, 10)
	if lipgloss.Width(s) <= columns {
		return s
	}
	var b strings.Builder
	for used, rest := 0, []rune(s); len(rest) > 0; rest = rest[1:] {
		used += lipgloss.Width(string(rest[0]))
		if used >= columns {
			break
		}
		b.WriteRune(rest[0])
	}
	return b.String() + "…"
}

// AtMost returns the first of a list, and how many there are beyond.
func AtMost(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}

// Shorten returns the end of a long text, of at most so many characters.
func Shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return "…" + string(r[len(r)-most+1:])
}

// First returns the first of a list, at most so many.
func First[T any](list []T, most int) []T { return list[:min(len(list), most)] }
