package bpe

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestPlainGivesWhatNextGives draws texts from the characters that the patterns treat apart.
func TestPlainGivesWhatNextGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("aBzZ09 \t\n\r/'!{\x00\x7Fs\u0085é\u0301中\u2028😀")), 8, 20, -1).Draw(t, "text"))
		for _, p := range []pattern{patternCl100k, patternO200k} {
			length := p.plain(binary.LittleEndian.Uint64(text))
			if want := p.next(text, 0); length != 0 && length != want {
				t.Fatalf("pattern %d: plain(%q) = %d, want %d", p, text, length, want)
			}
		}
	})
}
