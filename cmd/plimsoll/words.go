package main

import (
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// shortTime returns d without the units that it has none of: 10m, not 10m0s.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, zero := range []struct{ from, to string }{{"m0s", "m"}, {"h0m", "h"}} {
		if strings.HasSuffix(text, zero.from) {
			text = strings.TrimSuffix(text, zero.from) + zero.to
		}
	}
	return text
}

// wrapped joins words with commas into lines of at most 80 columns, each with something
// in front.
func wrapped(before string, words []string) string {
	const columns = 80
	lines := []string{before}
	for i, word := range words {
		if i < len(words)-1 {
			word += ", "
		}
		last := &lines[len(lines)-1]
		if *last != before && len(*last)+len(strings.TrimSpace(word)) > columns {
			*last = strings.TrimRight(*last, " ")
			lines = append(lines, before+word)
			continue
		}
		*last += word
	}
	return strings.Join(lines, "\n")
}

// tokens writes a number of tokens with its noun.
func tokens(n int) string {
	if n == 1 {
		return "1 token"
	}
	return edit.Thousands(n) + " tokens"
}
