package ground

import "github.com/plimsoll-dev/plimsoll/core/llm"

// A Place is a part of a message.
type Place struct {
	Message llm.MessageID
	Part    int
}

// An Index knows which parts of a transcript say a span, and when a call last referred to
// each of them. The zero Index is empty and ready. It is not safe for concurrent use. What
// it keeps beside the texts, which it shares, is 4 bytes for each different word of a part
// and 12 for each different word of all.
type Index struct {
	step  int // calls of the model so far
	model bool
	from  int // of parts: those of the newest Step begin here
	parts []source
	where map[uint32]extent // by word
	at    map[Place]int
}

// A source is one part.
type source struct {
	Text
	place Place
	used  int // the newest Step that referred to it; 0: none
}

// An extent is the first and the last part that has a word.
type extent struct{ first, last int32 }

// Add takes in the next message of the transcript. The calls in it refer to what was said
// before the Step that they belong to: what stands beside a call is no source for it.
// It takes time linear in the message, and for each span in it in the parts that have all
// its words.
func (x *Index) Add(m llm.Message) {
	if x.where == nil {
		x.where, x.at = map[uint32]extent{}, map[Place]int{}
	}
	if m.Role == llm.RoleAssistant && !x.model {
		x.step++
		x.from = len(x.parts)
	}
	x.model = m.Role == llm.RoleAssistant
	for n, p := range m.Parts {
		if c, ok := p.(llm.ToolCall); ok {
			x.refer(c)
		}
		x.add(Place{m.ID, n}, TextOf(p))
	}
}

func (x *Index) add(at Place, t Text) {
	i := len(x.parts)
	x.at[at] = i
	x.parts = append(x.parts, source{Text: t, place: at})
	for _, w := range t.words {
		e, ok := x.where[w]
		if !ok {
			e.first = int32(i) //nolint:gosec // parts of a conversation
		}
		e.last = int32(i) //nolint:gosec // as above
		x.where[w] = e
	}
}

// refer notes that a call refers to the newest part that says each of its spans.
func (x *Index) refer(c llm.ToolCall) {
	for _, s := range Spans(c) {
		if i := x.last(s); i >= 0 {
			x.parts[i].used = x.step
		}
	}
}

// bounds returns the parts outside of which none has all words of s.
func (x *Index) bounds(s Span) (first, last int, ok bool) {
	last = x.from - 1
	for _, w := range s.words {
		e, ok := x.where[w]
		if !ok {
			return 0, 0, false
		}
		first, last = max(first, int(e.first)), min(last, int(e.last))
	}
	return first, last, first <= last
}

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
	for i := first; i <= x.at[last]; i++ {
		if x.parts[i].Says(s) {
			out = append(out, x.parts[i].place)
		}
	}
	return out
}

// Used returns the newest Step whose calls referred to a part, as its number from 1; 0 if
// none did.
func (x *Index) Used(p Place) int {
	if i, ok := x.at[p]; ok {
		return x.parts[i].used
	}
	return 0
}

// Step returns the number of the newest Step: how often the model has spoken.
func (x *Index) Step() int { return x.step }
