package edit_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A world is a session without an engine: the transcript, the edits and what
// they stored, and the view that was brought along one step at a time.
type world struct {
	messages []llm.Message
	turns    turn.Index
	journal  []edit.Edit // all edits, superseded ones too
	view     edit.View
	blobs    map[llm.Ref][]byte
}

func newWorld(messages ...llm.Message) *world {
	w := &world{blobs: map[llm.Ref][]byte{}}
	for _, m := range messages {
		w.say(m)
	}
	return w
}

// say appends a message to the transcript and the view.
func (w *world) say(m llm.Message) {
	m.ID = w.next()
	_ = w.turns.Append(m) // tests of orphans want them in
	w.messages = append(w.messages, m)
	w.view.Append(m)
}

// next returns the id of the message that comes next.
func (w *world) next() llm.MessageID { return llm.MessageID(len(w.messages)) + 1 }

// scene shows w to a transform, which may touch everything.
func (w *world) scene(template string) edit.Scene {
	return edit.Scene{
		Messages: w.messages, View: w.view, Turns: &w.turns, Size: size, Measure: measure,
		Keep: w.next(), Template: template, Rule: "rule", Low: 7,
	}
}

// adopt makes a plan's edits, as the engine would: numbered, checked, one by one.
func (w *world) adopt(p edit.Plan) error {
	for _, b := range p.Blobs {
		w.blobs[b.Ref] = b.Data
	}
	for _, e := range p.Edits {
		e.ID = edit.ID(len(w.journal)) + 1
		if err := edit.Check(e, w.messages, &w.turns); err != nil {
			return err
		}
		view, err := w.view.Apply(e, w.messages)
		if err != nil {
			return err
		}
		w.view, w.journal = view, append(w.journal, e)
	}
	return nil
}

// holding returns the edits that no later one supersedes.
func (w *world) holding() []edit.Edit {
	var out []edit.Edit
	for i, e := range w.journal {
		gone := slices.ContainsFunc(w.journal[i+1:], func(later edit.Edit) bool { return slices.Contains(later.Supersedes, e.ID) })
		if !gone {
			out = append(out, e)
		}
	}
	return out
}

// size is the estimator of these tests: one token is one byte that the model sees.
func size(p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return len(p.Text)
	case llm.Thinking:
		return len(p.Text)
	case llm.ToolCall:
		return len(p.Name) + len(p.Args)
	case llm.ToolResult:
		n := 0
		for _, c := range p.Content {
			n += size(c)
		}
		return n
	case llm.Stub:
		return len(p.Text)
	case llm.Media:
		return 100
	case llm.Opaque:
		return len(p.Data)
	}
	return 0
}

func measure(m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += size(p)
	}
	return n
}

// total is the size of a view's messages.
func total(v edit.View) int {
	n := 0
	for _, it := range v.Items {
		n += measure(it.Message)
	}
	return n
}

// shot returns a copy of a view that shares nothing with it but bytes.
func shot(v edit.View) edit.View {
	items := slices.Clone(v.Items)
	for i := range items {
		parts := slices.Clone(items[i].Message.Parts)
		for n, p := range parts {
			if r, ok := p.(llm.ToolResult); ok {
				r.Content = slices.Clone(r.Content)
				parts[n] = r
			}
		}
		items[i].Message.Parts = parts
		items[i].Edits = slices.Clone(items[i].Edits)
	}
	return edit.View{Items: items, Sections: slices.Clone(v.Sections)}
}

// nothingLost is law 2: what any view has shown is in this one or can be read back.
func (w *world) nothingLost() error {
	s, err := w.shelf()
	if err != nil {
		return err
	}
	shown := map[llm.MessageID]llm.Message{}
	notes := map[string]bool{}
	for _, it := range w.view.Items {
		shown[it.Message.ID] = it.Message
		if it.IsNote() {
			notes[it.Message.Text()] = true
		}
	}
	for _, n := range s.notes {
		notes[n] = true
	}
	for _, m := range w.messages {
		now, there := shown[m.ID]
		for n := range m.Parts {
			if there && reflect.DeepEqual(now.Parts[n], m.Parts[n]) {
				continue
			}
			if err := s.recovers(m, n); err != nil {
				return err
			}
		}
	}
	for _, e := range w.journal {
		for _, n := range e.Notes {
			if e.Op == edit.Insert && !notes[n.Text()] {
				return fmt.Errorf("law 2: the note %q of edit %d is neither in the view nor stored", n.Text(), e.ID)
			}
		}
	}
	return nil
}

// noOrphan is law 3: an answered call is shown with its result or not at all.
func (w *world) noOrphan() error {
	shown := map[llm.MessageID]bool{}
	for _, it := range w.view.Items {
		shown[it.Message.ID] = true
	}
	for pos, m := range w.messages {
		for n, p := range m.Parts {
			c, ok := p.(llm.ToolCall)
			if !ok {
				continue
			}
			r, answered := w.turns.ResultFor(pos, n)
			if answered && shown[m.ID] != shown[llm.MessageID(r.Position)+1] {
				return fmt.Errorf("law 3: call %q in message %d: shown %v, its result: %v", r.CallID, m.ID, shown[m.ID], !shown[m.ID])
			}
			if !answered && !c.Hosted && !shown[m.ID] {
				return fmt.Errorf("law 3: the open call %q in message %d left the view", c.CallID, m.ID)
			}
		}
	}
	return nil
}

// untouched is law 4: what no edit names is the very thing that came.
func (w *world) untouched() error {
	edited := map[place]edit.ID{}
	for _, e := range w.view.Edits() {
		if e.Op == edit.Replace {
			edited[place{e.Span.From, e.Part}] = e.ID
		}
	}
	for _, it := range w.view.Items {
		if it.IsNote() {
			continue
		}
		m := w.messages[it.Message.ID-1]
		if len(it.Edits) == 0 && !reflect.DeepEqual(it.Message, m) {
			return fmt.Errorf("law 4: message %d was changed by no edit", m.ID)
		}
		for n, p := range it.Message.Parts {
			id, ok := edited[place{m.ID, n}]
			switch {
			case ok && !slices.Contains(it.Edits, id):
				return fmt.Errorf("message %d: edit %d is not named", m.ID, id)
			case ok && p.Bytes() != nil:
				return fmt.Errorf("law 4: part %d of message %d was edited and still has the bytes it came with", n, m.ID)
			case !ok && !reflect.DeepEqual(p, m.Parts[n]):
				return fmt.Errorf("law 4: part %d of message %d was changed by no edit", n, m.ID)
			}
		}
	}
	return nil
}

// folds is law 4: the view brought along is the view made from scratch.
func (w *world) folds() error {
	v, err := edit.Fold(w.messages, w.holding())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(shot(v), shot(w.view)) || !reflect.DeepEqual(v.Edits(), w.view.Edits()) && len(v.Edits())+len(w.view.Edits()) > 0 {
		return fmt.Errorf("law 4: folded\n%s\nbrought along\n%s", render(w, v), render(w, w.view))
	}
	return nil
}

// supersedes checks that an edit which no longer shows is one that no longer holds.
func (w *world) supersedes() error {
	parts := map[place]edit.ID{}
	for _, e := range w.view.Edits() {
		at := place{e.Span.From, e.Part}
		if e.Op == edit.Replace && parts[at] > 0 {
			return fmt.Errorf("edits %d and %d both replace part %d of message %d", parts[at], e.ID, e.Part, e.Span.From)
		}
		if e.Op == edit.Replace {
			parts[at] = e.ID
		}
		for _, a := range w.view.Edits() {
			inside := a.Span.Covers(e.Span)
			if e.Op == edit.Insert {
				inside = a.Span.From < e.Span.From && e.Span.From < a.Span.To
			}
			if a.Op == edit.Archive && a.ID != e.ID && inside {
				return fmt.Errorf("edit %d holds inside the archive of edit %d", e.ID, a.ID)
			}
		}
	}
	return nil
}

// laws checks all that must hold at any moment.
func (w *world) laws() error {
	for _, law := range []func() error{w.folds, w.untouched, w.noOrphan, w.nothingLost, w.supersedes} {
		if err := law(); err != nil {
			return err
		}
	}
	return nil
}

// outputOf returns the spot of the output of a call.
func outputOf(s edit.Scene, callID string) (edit.Spot, bool) {
	for _, sp := range slices.Backward(s.Outputs()) {
		if sp.Result.CallID == callID {
			return sp, true
		}
	}
	return edit.Spot{}, false
}

// shownLines is the index of all text outputs that the scene's view shows in
// full, but for one.
func shownLines(s edit.Scene, n int, but edit.Spot) *edit.Lines {
	x := edit.NewLines(n)
	for _, sp := range s.Outputs() {
		if sp.Item == but.Item && sp.Part == but.Part || edit.FormOf(sp.Result) != edit.Whole || len(sp.Result.Content) != 1 {
			continue
		}
		if t, ok := sp.Result.Content[0].(llm.Text); ok {
			x.Add(sp.ID, sp.Part, t.Text)
		}
	}
	return x
}

// join is strings.Join with a newline after each.
func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
