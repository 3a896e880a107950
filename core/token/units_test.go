package token_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPieces(t *testing.T) {
	tests := []struct {
		text  string
		units int
	}{
		{"", 0},
		{"word", 4},
		{"longer", 4},
		{"longest", 8},
		{"Word", 4},
		{"HTTPServer", 8}, // HTTPS, erver
		{"readFile", 8},
		{"ABCDEFG", 8},
		{"A", 4},
		{"12", 5},
		{"1234", 10},
		{"=", 4},
		{"===", 4},
		{"====", 8},
		{"\n", 3},
		{"\n\n", 6},
		{" ", 0},
		{"    ", 2},
		{"a b", 8},
		{"\t\tx", 6},
		{"日本", 8},
		{"ｆ", 4},
		{"é", 5},
		{"😀", 5},
		{"\xff\xfe", 10},
		{"if x == 10 {\n\treturn\n}", 4 + 4 + 4 + 5 + 4 + 3 + 4 + 3 + 4},
	}
	c := counter(t, "pieces")
	for _, tt := range tests {
		if got, want := c.Text(tt.text), (tt.units+3)/4; got != want {
			t.Errorf("pieces of %q = %d, want (%d + 3)/4 = %d", tt.text, got, tt.units, want)
		}
	}
}

var piece = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\n|[ \t\r\v\f]+|[\x00-\x08\x0e-\x1f!-/:-@\[-\x60{-\x7f]+|[^\x00-\x7f]`)

// dumbPieces is the definition of the package comment, written with an
// expression.
func dumbPieces(s string) int {
	units, rest := 0, strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "!"), "\uFFFD")
	if !utf8.ValidString(s) {
		rest = ""
		for _, r := range strings.ReplaceAll(s, "\x00", "!") { // each invalid byte is one U+FFFD
			rest += string(r)
		}
	}
	for _, p := range piece.FindAllString(rest, -1) {
		n := utf8.RuneCountInString(p)
		switch {
		case p == "\n":
			units += 3
		case strings.Trim(p, " \t\r\v\f") == "":
			if n > 1 {
				units += 2
			}
		case p[0] >= '0' && p[0] <= '9':
			units += 5 * ((n + 2) / 3)
		case p[0] >= 'a' && p[0] <= 'z', p[0] >= 'A' && p[0] <= 'Z':
			units += 4 * ((n + 5) / 6)
		case p[0] < utf8.RuneSelf:
			units += 4 * ((n + 2) / 3)
		case eastern.MatchString(p):
			units += 4
		default:
			units += 5
		}
	}
	return (units + 3) / 4
}

var eastern = regexp.MustCompile(`^[\x{1100}-\x{11FF}\x{2E80}-\x{9FFF}\x{A960}-\x{A97F}\x{AC00}-\x{D7FF}\x{F900}-\x{FAFF}\x{FF00}-\x{FFEF}\x{1B000}-\x{1B16F}\x{20000}-\x{3FFFF}]$`)

func TestPiecesEqualTheirDefinition(t *testing.T) {
	c := counter(t, "pieces")
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		if got, want := c.Text(s), dumbPieces(s); got != want {
			t.Fatalf("pieces of %q = %d, want %d", s, got, want)
		}
	})
}

func TestCharactersAreUTF16Units(t *testing.T) {
	c := counter(t, "chars/4")
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		if got, want := c.Text(s), (len(utf16.Encode([]rune(s)))+3)/4; got != want {
			t.Fatalf("chars/4 of %q = %d, want %d", s, got, want)
		}
	})
}

func TestTextDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("if err := run(ctx, \"日本\", 12345); err != nil {\n\treturn err\n}\n", 50)
	for _, id := range []string{"pieces", "chars/4", "bytes/4", "runes*2/5", "anthropic"} {
		c := counter(t, id)
		if n := testing.AllocsPerRun(20, func() { _ = c.Text(s) }); n != 0 {
			t.Errorf("%s allocates %v times, want 0", id, n)
		}
	}
}

func BenchmarkText(b *testing.B) {
	texts := map[string]string{
		"go":    strings.Repeat("if err := readFile(ctx, name, 4096); err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n", 500),
		"prose": strings.Repeat("The load line shows how deep a ship may lie in the water before it is unsafe, in summer and in winter.\n", 500),
		"cjk":   strings.Repeat("満載喫水線は船が安全に積める限度を示す。", 500),
	}
	for _, id := range []string{"pieces", "chars/4"} {
		c := counter(b, id)
		for name, s := range texts {
			b.Run(id+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					c.Text(s)
				}
			})
		}
	}
}
