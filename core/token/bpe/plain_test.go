package bpe

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCutGivesWhatNextGives holds the eight-bytes-at-once splitter against the one that goes character by character, on
// runs of the characters that the patterns treat apart.
func TestCutGivesWhatNextGives(t *testing.T) {
	runes := rapid.RuneFrom([]rune("aBzZ09 \t\n\r/'!{\x00\x7Fs\u0085é\u0301中\u2028😀"))
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			text.WriteString(strings.Repeat(string(runes.Draw(t, "rune")), rapid.IntRange(1, 10).Draw(t, "length")))
		}
		b := []byte(text.String())
		for _, p := range []pattern{patternCl100k, patternO200k} {
			for i := range b {
				if b[i]&0xC0 == 0x80 { // inside a character
					continue
				}
				if got, want := p.cut(b, i), p.next(b, i); got != want {
					t.Fatalf("pattern %d: cut(%q, %d) = %d, want %d", p, b, i, got, want)
				}
			}
		}
	})
}
