package main

import (
	"io"
	"strings"
)

// A word is one that a report uses in a sense of its own.
type word struct{ name, means string }

// inspectWords and replayWords are those of the two reports, in the order in which they are met.
func inspectWords() []word {
	return []word{
		{"hidden", "what the client sends and does not write into its file, as its system prompt and tools"},
		{"carried", "the tokens of an output, once for each prompt that it was in (steps)"},
		{"lapsed", "the provider had dropped a prompt from its cache that nobody asked for in time"},
	}
}

func replayWords() []word {
	return []word{
		{"over", "calls above the limit"},
		{"of raw", "compared with what the client itself sent"},
		{"breaks", "calls that lost what the provider's cache had"},
		{"visible", "% of what later calls referred to that a request still said"},
		{"by step", "the same as a mean over steps"},
		{"complete", "% of steps of which all is visible"},
		{"by ref, archived", "not visible, but to be read again"},
		{"look-ups", "outputs to be read again, for 100 calls"},
	}
}

// A glossary says what words mean that were printed, to a person before a screen, once at the
// end. Elsewhere the help and the documents do.
type glossary struct {
	words []word
	said  map[string]bool
}

// note takes in what is printed.
func (g *glossary) note(text string) {
	if g.said == nil {
		g.said = map[string]bool{}
	}
	for _, w := range g.words {
		first, _, _ := strings.Cut(w.name, ",")
		g.said[w.name] = g.said[w.name] || strings.Contains(text, first)
	}
}

// print says what the words mean that were printed.
func (g *glossary) print(out io.Writer) error {
	if screenWidth(out) == 0 {
		return nil
	}
	w := &writer{width: widthOf(out), st: newStyles()}
	for _, one := range g.words {
		if g.said[one.name] {
			w.para(w.st.dim, one.name+": "+one.means)
		}
	}
	if w.b.Len() == 0 {
		return nil
	}
	return printStyled(out, "\n"+w.b.String())
}
