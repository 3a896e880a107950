package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Source is what a summary is about: what it may name. The zero Source says nothing.
type Source struct{ texts []ground.Text }

// SourceOf returns what messages say, and further texts.
func SourceOf(msgs []llm.Message, more ...string) Source {
	var s Source
	for _, m := range msgs {
		for _, p := range m.Parts {
			s.add(ground.TextOf(p))
		}
	}
	for _, text := range more {
		s.add(ground.TextOfString(text))
	}
	return s
}

// With returns s and one more text.
func (s Source) With(text string) Source {
	s.texts = slices.Clip(s.texts)
	s.add(ground.TextOfString(text))
	return s
}

func (s *Source) add(t ground.Text) {
	if t.Len() > 0 {
		s.texts = append(s.texts, t)
	}
}

// Unknown returns the paths and Refs of a text that the source does not have, each once. A
// path is known, too, if each of its elements is: a file may be named from any
// folder. A path that is marked as proposed need not be there; a Ref has to.
func (s Source) Unknown(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		for _, name := range namesIn(line) {
			if !s.has(name) && (isRef(name) || !proposed(line, name)) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// namesIn returns the paths and Refs in a line.
func namesIn(line string) []string {
	var out []string
	for _, n := range ground.Names(line) {
		if n.Kind == ground.Path {
			out = append(out, n.Text)
		}
	}
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if isRef(word) {
			out = append(out, word)
		}
	}
	return out
}

func isRef(word string) bool {
	_, err := llm.ParseRef(word)
	return err == nil
}

// has reports whether the source says a name, or all elements of a path.
func (s Source) has(name string) bool {
	if s.says(name) {
		return true
	}
	elements := strings.Split(strings.Trim(name, "./~"), "/")
	if len(elements) < 2 {
		return false
	}
	for _, e := range elements {
		if e != "" && !s.says(e) {
			return false
		}
	}
	return true
}

func (s Source) says(name string) bool {
	span := ground.SpanOf(ground.Path, name)
	for _, t := range s.texts {
		if t.Says(span) {
			return true
		}
	}
	return false
}

// proposals mark, behind a name in the same line, one that does not exist yet.
var proposals = []string{"(proposed)", "(planned)", "(new)", "(to be created)", "(to create)"}

func proposed(line, name string) bool {
	_, after, _ := strings.Cut(line, name)
	after = lowerASCII(after)
	for _, p := range proposals {
		if strings.Contains(after, p) {
			return true
		}
	}
	return false
}

// refusals begin a text that declines to answer, in lower case.
var refusals = []string{
	"i'm sorry", "i’m sorry", "i am sorry", "sorry, ", "i cannot ", "i can't ", "i can’t ", "i am unable", "i'm unable", "i’m unable",
	"i am not able", "i'm not able", "i won't ", "i will not ", "as an ai", "unfortunately, i can",
}

// longestRefusal is the size in bytes above which a text says more than that it declines.
const longestRefusal = 600

// refuses reports whether a text without tags declines to answer.
func refuses(text string) bool {
	text = lowerASCII(strings.TrimSpace(text))
	if len(text) > longestRefusal {
		return false
	}
	for _, r := range refusals {
		if strings.HasPrefix(text, r) {
			return true
		}
	}
	return false
}

// mostNamed is how many unknown names a fault lists.
const mostNamed = 3

// Judge takes a model's answer apart, and says why it cannot stand for its source; empty: it
// can, as far as its text tells. An answer without tags is a summary as it stands. The form of
// [Write] excuses nothing: a model can copy it.
func Judge(text string, stop llm.Stop, s Source) (a Answer, fault string) {
	a = Parse(text)
	switch {
	case stop == llm.StopRefusal:
		return a, "the model refused to answer"
	case stop == llm.StopLength || stop == llm.StopWindow:
		return a, "the answer was cut off at its longest"
	case a.Open != "":
		return a, a.Open + " is never closed: the answer was cut off"
	case a.Summary+a.Retain == "":
		return a, "the answer is empty"
	case refuses(a.Summary):
		return a, "the answer refuses to summarise"
	}
	unknown := s.Unknown(a.Retain + "\n" + a.Summary)
	if len(unknown) == 0 {
		return a, ""
	}
	more := ""
	if n := len(unknown) - mostNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
		unknown = unknown[:mostNamed]
	}
	return a, fmt.Sprintf("it names what the conversation does not have: %s%s", strings.Join(unknown, ", "), more)
}

// ByCode reports whether a summary is in the form of [Write].
func ByCode(text string) bool { return strings.HasPrefix(text, signature+"\n") }
