package edit

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Ahead is what archives are written from, as it was when [Scene.Ahead] made it. They can be
// written from it where nobody waits, while the conversation goes on: nothing that it holds
// is changed by that. The zero Ahead is of no archive.
type Ahead struct {
	spans    []Span
	messages []llm.Message // all up to the end of the last span
	edits    []Edit
	own      func(tool string) bool
}

// A Written is an archive that was written beforehand, with what it was written from.
type Written struct {
	Span  Span
	Blob  Blob
	from  []llm.Message // those of Span
	edits []Edit        // that held in it
	own   map[string]bool
}

// Ahead returns what the archives of spans, in ascending order, are written from. Scene.Own may
// be called anywhere, and says the same each time.
func (s Scene) Ahead(spans []Span) Ahead {
	if len(spans) == 0 {
		return Ahead{}
	}
	end := int(spans[len(spans)-1].To) - 1
	return Ahead{spans: spans, messages: s.Messages[:end:end], edits: s.View.edits, own: s.Own}
}

// Write writes the archives. It reads all messages, and may be called anywhere.
func (a Ahead) Write() []Written {
	if len(a.spans) == 0 {
		return nil
	}
	var turns turn.Index
	for _, m := range a.messages {
		_ = turns.Append(m) // orphans were refused when they came
	}
	s := Scene{Messages: a.messages, View: View{edits: a.edits}, Turns: &turns, Own: a.own}.placed()
	out := make([]Written, len(a.spans))
	for i, span := range a.spans {
		data := s.body(span, 0, nil)
		out[i] = Written{
			Span: span, Blob: Blob{llm.RefOf(data), data},
			from: a.messages[span.From-1 : span.To-1], edits: s.inside(span), own: s.owners(span),
		}
	}
	return out
}

// inside returns the edits that an archive of span takes in, in the order of their IDs.
func (s Scene) inside(span Span) []Edit {
	var out []Edit
	for _, e := range s.View.edits {
		if insideOf(e, span) {
			out = append(out, e)
		}
	}
	return out
}

// owners returns the tools whose results stand in span, each with what Own says of it.
func (s Scene) owners(span Span) map[string]bool {
	if s.Own == nil {
		return nil
	}
	out := map[string]bool{}
	for id := span.From; id < span.To; id++ {
		for n := range s.Messages[id-1].Parts {
			if c, ok := s.Turns.CallFor(int(id)-1, n); ok {
				out[c.Name] = s.Own(c.Name)
			}
		}
	}
	return out
}

// blob returns the archive of span: one that was written beforehand, if it would be the same, else
// one that is written into buf where that has room for about so many bytes.
func (s Scene) blob(span Span, room int, buf []byte) Blob {
	for _, w := range s.Written {
		if w.Span == span && s.holds(w) {
			return w.Blob
		}
	}
	data := s.body(span, room, buf)
	return Blob{llm.RefOf(data), data}
}

// holds reports whether what an archive was written from is still what is there.
func (s Scene) holds(w Written) bool {
	for name, own := range w.own {
		if s.Own == nil || s.Own(name) != own {
			return false
		}
	}
	return slices.EqualFunc(w.from, s.Messages[w.Span.From-1:w.Span.To-1], sameMessage) && slices.EqualFunc(w.edits, s.inside(w.Span), sameEdit)
}

// sameMessage reports whether two are one message. Messages are not changed, so that those that
// share their parts have the same.
func sameMessage(a, b llm.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Origin == b.Origin && shared(a.Parts, b.Parts) && shared(a.Envelope.Raw, b.Envelope.Raw)
}

// shared reports whether two lists are one.
func shared[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// sameEdit reports whether two edits are one, as far as an archive tells of it.
func sameEdit(a, b Edit) bool {
	return a.ID == b.ID && a.Op == b.Op && a.Span == b.Span && a.Part == b.Part && slices.Equal(a.Refs, b.Refs) &&
		slices.EqualFunc(a.Notes, b.Notes, func(a, b llm.Message) bool { return a.Text() == b.Text() })
}
