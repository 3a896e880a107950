package bpe

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pieces cuts a text from its start to its end.
func pieces(s Splitter, text string) []string {
	var out []string
	b := []byte(text)
	for i := 0; i < len(b); {
		end := s.Cut(b, i)
		out = append(out, text[i:end])
		i = end
	}
	return out
}

func splitterFor(t *testing.T, pattern string) Splitter {
	t.Helper()
	s, ok := SplitterFor(pattern)
	if !ok {
		t.Fatalf("no splitter for %s", pattern)
	}
	return s
}

func TestSplitterPieces(t *testing.T) {
	tests := []struct {
		text        string
		llama, qwen []string
	}{
		{"I'm 1234 x", []string{"I", "'m", " ", "123", "4", " x"}, []string{"I", "'m", " ", "1", "2", "3", "4", " x"}},
		{"a \n  ", []string{"a", " \n", "  "}, []string{"a", " \n", "  "}}, // cl100k_base: " \n  "
		{"a  ", []string{"a", "  "}, []string{"a", "  "}},
		{"\n a", []string{"\n", " a"}, []string{"\n", " a"}},
		{" \u3000b", []string{" ", "\u3000b"}, []string{" ", "\u3000b"}},
		{"(x) 漢字!\n\n", []string{"(x", ")", " 漢字", "!\n\n"}, []string{"(x", ")", " 漢字", "!\n\n"}},
		{"x٣٤", []string{"x", "٣٤"}, []string{"x", "٣", "٤"}},
	}
	for _, tt := range tests {
		if got := pieces(splitterFor(t, textLlama3), tt.text); !slices.Equal(got, tt.llama) {
			t.Errorf("llama3: pieces of %q = %q, want %q", tt.text, got, tt.llama)
		}
		if got := pieces(splitterFor(t, textQwen), tt.text); !slices.Equal(got, tt.qwen) {
			t.Errorf("qwen: pieces of %q = %q, want %q", tt.text, got, tt.qwen)
		}
	}
	if _, ok := SplitterFor(`\s+`); ok {
		t.Error(`there is a splitter for \s+, want none`)
	}
}

// Every splitter cuts as its pattern does, alternative by alternative.
func TestSplittersEqualTheirPatterns(t *testing.T) {
	enc, err := O200kBase()
	if err != nil {
		t.Fatal(err)
	}
	old := func(digits string) *twin {
		out := &twin{}
		for _, s := range []string{
			`(?i:'s|'t|'re|'ve|'m|'ll|'d)`, `[^\r\n\pL\pN]?\pL+`, digits, ` ?[^` + white + `\pL\pN]+[\r\n]*`, `[` + white + `]*[\r\n]+`,
		} {
			out.alternatives = append(out.alternatives, regexp.MustCompile(`^(?:`+s+`)`))
		}
		return out
	}
	twins := map[string]*twin{textO200k: newTwin(enc), textLlama3: old(`\pN{1,3}`), textQwen: old(`\pN`)}
	part := rapid.OneOf(rapid.StringMatching(`[a-zA-Z]{1,12}|[0-9]{1,5}|[ \t\r\n]{1,4}|'[a-zA-Z]{1,2}|[!-/]{1,3}`),
		rapid.SampledFrom([]string{"漢字", "é", "\u0301", "٣", "\u3000", "\u0085", "ǅ", "ſ", "😀", "ʰ", " 'S", "'ſ"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, p := range rapid.SliceOfN(part, 0, 12).Draw(t, "parts") {
			text += p
		}
		text = valid(text)
		for pattern, twin := range twins {
			if !twin.knows(text) {
				continue
			}
			s, _ := SplitterFor(pattern)
			var want []string
			for rest := text; rest != ""; {
				n := twin.piece(rest)
				want, rest = append(want, rest[:n]), rest[n:]
			}
			if got := pieces(s, text); !slices.Equal(got, want) {
				t.Fatalf("pieces of %q = %q, want %q", text, got, want)
			}
		}
	})
}
