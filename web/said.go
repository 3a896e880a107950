package web

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/inspect"
)

// said is what was said, for the script to show: the texts once each, since segments carry
// messages over from the one before. It is opened when somebody asks for it.
type said struct {
	Texts  []string    `json:"texts"`
	Groups []saidGroup `json:"groups"`

	index map[string]int // of Texts
}

// A saidGroup is the conversation of a group.
type saidGroup struct {
	Messages []saidMessage `json:"m"`
	Gone     []int         `json:"gone"` // positions in the group before, from 0
	New      []int         `json:"new"`  // positions in this one
}

// A saidMessage is one message.
type saidMessage struct {
	Number int      `json:"i"`
	Origin string   `json:"o"`
	Line   int      `json:"l"`
	Step   int      `json:"s"`
	Tokens int      `json:"t"`
	Parts  [][4]int `json:"p"` // indexes in Texts of the kind, the name and the text; 1 if a tool failed
}

// add adds the conversation of a group; t is nil if there is none.
func (s *said) add(t *inspect.Talk) {
	g := saidGroup{Messages: []saidMessage{}, Gone: []int{}, New: []int{}}
	if t == nil {
		s.Groups = append(s.Groups, g)
		return
	}
	for _, m := range t.Said {
		out := saidMessage{Number: m.Message, Origin: clean(m.Origin), Line: m.Line, Step: m.Step, Tokens: m.Tokens, Parts: [][4]int{}}
		for _, p := range m.Parts {
			failed := 0
			if p.Error {
				failed = 1
			}
			out.Parts = append(out.Parts, [4]int{s.text(clean(p.Kind)), s.text(clean(p.Name)), s.text(readable(p.Text)), failed})
		}
		g.Messages = append(g.Messages, out)
	}
	for _, n := range t.Gone {
		g.Gone = append(g.Gone, n-1)
	}
	for _, n := range t.New {
		g.New = append(g.New, n-1)
	}
	s.Groups = append(s.Groups, g)
}

func (s *said) text(text string) int {
	i, ok := s.index[text]
	if !ok {
		i = len(s.Texts)
		s.index[text] = i
		s.Texts = append(s.Texts, text)
	}
	return i
}

// readable makes a whole text fit to be read: its lines stay, what would hide or reorder
// characters is named by its code point.
func readable(s string) string {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
	}
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
		case r == utf8.RuneError:
			b.WriteRune(unicode.ReplacementChar)
		case hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
