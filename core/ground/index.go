package ground

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Place is a part of a message.
type Place struct {
	Message llm.MessageID
	Part    int
}

// An Index knows which parts of a transcript say a span, and when a call last referred to
// each of them. The zero Index is empty and ready. It is not safe for concurrent use. What
// it keeps beside the texts, which it shares but for those of calls, is 4 bytes for each
// different word of a part, 16 for each different word of all and 8 for each message.
type Index struct {
	messages int
	step     int // calls of the model so far
	model    bool
	from     int            // of parts: those of the newest Step begin here
	parts    []source       // in the order of their places
	begin    []int          // where the parts of each message begin in parts, in the order of the messages
	ids      llm.MessageID  // of the first message; those after it follow, else -1
	where    extents        // of words in parts
	words    []uint32       // of the texts that came last: many short ones share their memory
	paths    map[string]int // the newest Step that named each path
	edited   map[string]int // the newest Step that edited each path
}

// A source is one part.
type source struct {
	Text
	place Place
	step  int  // in which it came
	used  int  // the newest Step that referred to it; 0: none
	out   bool // the output of a tool
}

// Add takes in the next message of the transcript. The calls in it refer to what was said
// before the Step that they belong to: what stands beside a call is no source for it.
// It takes time linear in the message, and for each span in it in the parts that have all
// its words.
func (x *Index) Add(m llm.Message) {
	if x.paths == nil {
		x.paths, x.edited = map[string]int{}, map[string]int{}
	}
	if x.messages == 0 {
		x.ids = m.ID
	} else if x.ids >= 0 && m.ID != x.ids+llm.MessageID(x.messages) {
		x.ids = -1
	}
	x.messages++
	x.begin = append(x.begin, len(x.parts))
	if m.Role == llm.RoleAssistant && !x.model {
		x.step++
		x.from = len(x.parts)
	}
	x.model = m.Role == llm.RoleAssistant
	for n, p := range m.Parts {
		if c, ok := p.(llm.ToolCall); ok {
			x.refer(c)
		}
		_, out := p.(llm.ToolResult)
		x.add(source{Text: x.text(p), place: Place{m.ID, n}, step: x.step, out: out})
	}
}

// wordsTogether is how many words of short texts share one piece of memory.
const wordsTogether = 4096

// text returns what a part says.
func (x *Index) text(p llm.Part) Text {
	text := said(p)
	if cap(x.words)-len(x.words) < len(text)/2+1 { // a word takes two bytes, with what is between two of them
		if len(text) > wordsTogether {
			return TextOfString(text)
		}
		x.words = make([]uint32, 0, wordsTogether)
	}
	from := len(x.words)
	x.words = wordsOf(x.words, text)
	return Text{text: text, words: slices.Clip(x.words[from:])}
}

func (x *Index) add(s source) {
	i := len(x.parts)
	x.parts = append(x.parts, s)
	x.where.add(s.Text, i)
}

// Grow makes room for so many messages more.
func (x *Index) Grow(messages int) {
	x.where.grow(messages) // each has a word that no other has, as a rule
	x.parts, x.begin = slices.Grow(x.parts, messages), slices.Grow(x.begin, messages)
}

// at returns which of the parts stands at a place.
func (x *Index) at(p Place) (int, bool) {
	if n := int(p.Message - x.ids); x.ids >= 0 && n >= 0 && n < len(x.begin) {
		if i := x.begin[n] + p.Part; p.Part >= 0 && i < len(x.parts) && x.parts[i].place == p {
			return i, true
		}
	}
	return slices.BinarySearchFunc(x.parts, p, func(s source, p Place) int {
		return cmp.Or(cmp.Compare(s.place.Message, p.Message), cmp.Compare(s.place.Part, p.Part))
	})
}

// refer notes that a call refers to the newest part that says each of its spans, and, where
// that is no output, to the newest output that does: the model repeats what it has read.
func (x *Index) refer(c llm.ToolCall) {
	spans := Spans(c)
	edits := slices.ContainsFunc(spans, func(s Span) bool { return s.Kind == Line })
	for _, s := range spans {
		if s.Kind == Path {
			x.paths[s.Text] = x.step
			if edits {
				x.edited[s.Text] = x.step
			}
		}
		i := x.last(s)
		if i < 0 {
			continue
		}
		x.parts[i].used = x.step
		for first, _, _ := x.bounds(s); i >= first; i-- {
			if x.parts[i].out && x.parts[i].Says(s) {
				x.parts[i].used = x.step
				break
			}
		}
	}
}

// bounds returns the parts outside of which none has all words of s.
func (x *Index) bounds(s Span) (first, last int, ok bool) { return x.where.bounds(s, x.from-1) }

func (x *Index) last(s Span) int {
	first, last, ok := x.bounds(s)
	for i := last; ok && i >= first; i-- {
		if x.parts[i].Says(s) {
			return i
		}
	}
	return -1
}

// Last returns the newest part before the newest Step that says s.
func (x *Index) Last(s Span) (Place, bool) {
	if i := x.last(s); i >= 0 {
		return x.parts[i].place, true
	}
	return Place{}, false
}

// Sources returns the parts that say s, up to the newest one at last.
func (x *Index) Sources(s Span, last Place) []Place {
	first, _, _ := x.bounds(s)
	var out []Place
	end, _ := x.at(last)
	for i := first; i <= end; i++ {
		if x.parts[i].Says(s) {
			out = append(out, x.parts[i].place)
		}
	}
	return out
}

// Used returns the newest Step in which a part came or a call referred to it, as its number
// from 1; 0 if it came before the first.
func (x *Index) Used(p Place) int {
	if i, ok := x.at(p); ok {
		return max(x.parts[i].used, x.parts[i].step)
	}
	return 0
}

// Named returns the newest Step whose calls named a path; 0 if none did.
func (x *Index) Named(path string) int { return x.paths[path] }

// Edited returns the newest Step with a call that named a path and quoted lines, as edits do;
// 0 if there is none.
func (x *Index) Edited(path string) int { return x.edited[path] }

// Text returns what a part says.
func (x *Index) Text(p Place) Text {
	if i, ok := x.at(p); ok {
		return x.parts[i].Text
	}
	return Text{}
}

// StepOf returns the number of the Step in which a message came; 0: before the first.
func (x *Index) StepOf(id llm.MessageID) int {
	if i, ok := x.at(Place{Message: id}); ok {
		return x.parts[i].step
	}
	return 0
}

// Len returns how many messages were added.
func (x *Index) Len() int { return x.messages }

// Step returns the number of the newest Step: how often the model has spoken.
func (x *Index) Step() int { return x.step }
