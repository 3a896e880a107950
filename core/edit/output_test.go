package edit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestStoredEnds is R001-5 for an output that the host has stored: what is shown are whole
// characters of its beginning and its end, wherever the host stopped reading.
func TestStoredEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		head, tail := rapid.IntRange(0, len(text)).Draw(t, "head"), rapid.IntRange(0, len(text)).Draw(t, "tail")
		ends := edit.Ends{Ref: llm.RefOf([]byte(text)), Head: text[:head], Tail: text[len(text)-tail:]}
		short := ends.Short(rapid.IntRange(0, 100).Draw(t, "of the head"), rapid.IntRange(0, 100).Draw(t, "of the tail"))
		w := oneOutput("x")
		w.messages[1].Parts[0] = llm.ToolResult{CallID: "c1", Content: []llm.Part{
			llm.Stub{Ref: ends.Ref, Text: "[stored]", Size: len(text), Lines: edit.CountLines(text), Tokens: len(text)},
		}}
		s := w.scene("|{ref}")
		s.Ends = ends
		sp, ok := outputOf(s, "c1")
		if !ok {
			t.Fatal("no output")
		}
		most := rapid.IntRange(1, 120).Draw(t, "bytes")
		p := s.Cap(sp, edit.CapArgs{Bytes: most, LineLength: rapid.IntRange(0, 20).Draw(t, "line")})
		kept := ""
		if !p.Empty() {
			kept, _, _ = strings.Cut(shownBy(p), "|")
		}
		if len(kept) > most || p.Bare != (!p.Empty() && kept == "") || p.Empty() && len(text) > most {
			t.Fatalf("capped %v at %d bytes of %q: %q, nothing shown %v", !p.Empty(), most, text, kept, p.Bare)
		}
		for _, shown := range []string{short, kept} {
			if !utf8.ValidString(shown) && utf8.ValidString(text) {
				t.Fatalf("%q is shown of %q", shown, text)
			}
		}
	})
}
