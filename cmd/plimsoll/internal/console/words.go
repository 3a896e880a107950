package console

import (
	"io"
	"strings"
)

// A Word is one that a report uses in a sense of its own.
type Word struct{ Name, Means string }

// A Glossary says what words mean that were printed, to a person before a screen, once at the
// end. Elsewhere the help and the documents do.
type Glossary struct {
	Words []Word
	said  map[string]bool
}

// Note takes in what is printed.
func (g *Glossary) Note(text string) {
	if g.said == nil {
		g.said = map[string]bool{}
	}
	for _, w := range g.Words {
		first, _, _ := strings.Cut(w.Name, ",")
		g.said[w.Name] = g.said[w.Name] || strings.Contains(text, first)
	}
}

// Print says what the words mean that were printed. The error is that of out.
func (g *Glossary) Print(out io.Writer) error {
	if ScreenWidth(out) == 0 {
		return nil
	}
	w := NewWriter(Width(out))
	for _, one := range g.Words {
		if g.said[one.Name] {
			w.Para(w.Style.Dim, one.Name+": "+one.Means)
		}
	}
	if w.Len() == 0 {
		return nil
	}
	return Print(out, "\n"+w.String())
}
