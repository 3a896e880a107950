package replay

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A look is one request, to be searched. Most spans are in a message that is shown as it
// came, which is asked first; the texts are gathered when one is not.
type look struct {
	g        *grounder
	send     *engine.Send
	edits    []edit.Edit
	gathered bool
	texts    []shownText
	refs     []ground.Text // what the engine wrote, which names Refs
}

type shownText struct {
	ground.Text
	ours bool
}

func (g *grounder) look(send *engine.Send, edits []edit.Edit) *look {
	if g.there == nil {
		g.there = make([]int, len(g.grounds.texts)+1)
	}
	clear(g.there)
	for i, it := range send.Items {
		if n := int(it.Message.ID); !it.IsNote() && n < len(g.there) {
			g.there[n] = i + 1
		}
	}
	return &look{g: g, send: send, edits: edits}
}

// whole reports whether a message is shown as it came.
func (l *look) whole(id llm.MessageID) bool {
	i := l.g.there[id]
	return i > 0 && len(l.send.Items[i-1].Edits) == 0
}

// gather makes the texts of the request.
func (l *look) gather() {
	if l.gathered {
		return
	}
	l.gathered = true
	for _, it := range l.send.Items {
		if id := it.Message.ID; !it.IsNote() && int(id) < len(l.g.there) && l.whole(id) {
			l.add(l.g.grounds.texts[id-1], false)
			continue
		}
		texts := l.g.textsOf(it)
		l.add(texts, it.IsNote())
		l.refs = append(l.refs, texts...)
	}
	for _, s := range l.send.Sections {
		if s.Text != "" {
			t := l.g.section(s.Text)
			l.add([]ground.Text{t}, s.Kind == llm.SectionSummary)
			l.refs = append(l.refs, t)
		}
	}
}

func (l *look) add(texts []ground.Text, ours bool) {
	for _, t := range texts {
		l.texts = append(l.texts, shownText{t, ours})
	}
}

// textsOf returns what an item that an edit made or touched says, read once for each form
// in which it is shown.
func (g *grounder) textsOf(it edit.Item) []ground.Text {
	key := editedItem{it.Message.ID, it.Before, digestOf(it.Edits)}
	texts, ok := g.shown[key]
	if !ok {
		for _, p := range it.Message.Parts {
			texts = append(texts, ground.TextOf(p))
		}
		g.shown[key] = texts
	}
	return texts
}

// section returns what a section says, which is mostly the same at each Step.
func (g *grounder) section(text string) ground.Text {
	t, ok := g.sections[text]
	if !ok {
		t = ground.TextOfString(text)
		g.sections[text] = t
	}
	return t
}

// A hit says where a span was found.
type hit struct {
	found
	noted bool   // only in what the engine wrote
	by    Change // what took it out, if it is not visible
}

// find says where a span was found.
func (l *look) find(n need) hit {
	if l.whole(n.last.Message) {
		return hit{found: visible}
	}
	l.gather()
	noted := false
	for _, t := range slices.Backward(l.texts) {
		if (!noted || !t.ours) && t.Says(n.Span) {
			if !t.ours {
				return hit{found: visible}
			}
			noted = true
		}
	}
	if noted {
		return hit{found: visible, noted: true}
	}
	best := l.reach(n.last)
	for _, at := range l.g.index.Sources(n.Span, n.last) {
		if h := l.reach(at); h.found > best.found {
			best = h
		}
	}
	return best
}

// reach says how a part that is not shown as it came can be read: by the newest edit that
// has its Ref in the request.
func (l *look) reach(at ground.Place) hit {
	out := hit{}
	if r, ok := l.g.refs[at]; ok && l.names(r) {
		for _, e := range l.edits {
			if slices.Contains(e.Refs, r) {
				out = hit{found: reachable}
			}
		}
	}
	for _, e := range l.edits {
		if !e.Span.Contains(at.Message) || e.Op == edit.Replace && e.Part != at.Part || e.Op != edit.Replace && e.Op != edit.Archive {
			continue
		}
		f := lost
		if slices.ContainsFunc(e.Refs, l.names) {
			if f = archived; l.g.there[at.Message] > 0 {
				f = reachable
			}
		}
		if f >= out.found {
			out = hit{found: f, by: Change{Rule: e.Rule, Kind: string(e.Kind), Why: e.Why, Count: 1, Before: e.Before, After: e.After}}
		}
	}
	return out
}

// names reports whether the request names a Ref.
func (l *look) names(r llm.Ref) bool {
	s := ground.SpanOf(ground.Hash, string(r))
	return slices.ContainsFunc(l.refs, func(t ground.Text) bool { return t.Says(s) })
}
