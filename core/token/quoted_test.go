package token

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestQuotedLength: eight bytes at a time are what they are one by one, and bytes that are
// no UTF-8 are what encoding/json makes of them.
func TestQuotedLength(t *testing.T) {
	sizes := map[byte]int{'"': 2, '\\': 2, '\n': 2, '\r': 2, '\t': 2}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]byte("\x00\x01\x1f \t\n\r\"\\!#[]az\x7f\x80\x8a\xa2\xdc\xff"))
		text := string(rapid.SliceOf(rapid.OneOf(some, rapid.Byte())).Draw(t, "text"))
		want := 0
		for i, r := range text {
			switch n := sizes[text[i]]; {
			case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
				want += len(`\ufffd`) // a byte that is no UTF-8
			case n > 0:
				want += n
			case text[i] < ' ':
				want += len(`\u00XX`)
			default:
				want += utf8.RuneLen(r)
			}
		}
		if got := quoted(text); got != want {
			t.Fatalf("%q: want %d bytes, got %d", text, want, got)
		}
	})
}
