package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An editor makes edits. Each is checked against the laws, booked and recorded.
type editor struct {
	economist
	shown  *edit.Lines     // lines of outputs that are shown in full; nil: no rule asks for them
	unable map[string]bool // rules and targets of which it was said that their provider cannot
}

// enough reports whether a plan saves what the policy demands (law 7).
func (m *editor) enough(p edit.Plan) bool {
	before := 0
	for _, e := range p.Edits {
		before += e.Before
	}
	return !p.Empty() && edit.Gain(m.policy.MinimumGain).Enough(before, before-p.Gain())
}

// try adopts a plan that saves enough, and that pays where its rule waits for that. Where it
// does not save enough it says so; in either case the next rule acts.
func (m *editor) try(p edit.Plan, rule string) bool {
	if !m.enough(p) {
		m.event(EventNoProgress, rule, "%s: %d edits would save %d tokens, not enough", rule, len(p.Edits), p.Gain())
		return false
	}
	made := m.pays(p) && m.adopt(p, rule)
	m.reckoned = nil
	return made
}

// adopt makes the edits of a plan: numbers them, checks each against the laws,
// and puts them, what they store and their records into the next Ready.
func (m *editor) adopt(p edit.Plan, rule string) bool {
	if m.request.noStore && !m.durable(p) {
		m.event(EventNoProgress, rule, "%s: what it takes out cannot be stored now", rule)
		return false
	}
	edits := slices.Clone(p.Edits)
	for i := range edits {
		edits[i].ID = m.lastEdit + edit.ID(i) + 1
	}
	old := m.view
	view, err := m.applied(edits)
	if err != nil { // a transform planned against the laws: nothing of the plan is done
		m.event(EventNoProgress, rule, "%s: refused: %v", rule, err)
		return false
	}
	m.view = view
	for _, e := range edits {
		m.commit(e)
	}
	m.rethink()
	for _, b := range p.Blobs {
		m.put(b)
	}
	m.remeasureEdited(old, edits)
	return true
}

// put puts a content into the next Ready, unless it is stored already.
func (m *editor) put(b edit.Blob) {
	if m.stored[b.Ref] {
		return
	}
	m.stored[b.Ref] = true
	if !slices.ContainsFunc(m.out.Blobs, func(o edit.Blob) bool { return o.Ref == b.Ref }) {
		m.out.Blobs = append(m.out.Blobs, b)
	}
}

// applied returns the view after edits, each of which is checked against the laws.
func (m *editor) applied(edits []edit.Edit) (edit.View, error) {
	for _, e := range edits {
		if err := edit.Check(e, m.messages, &m.turns); err != nil {
			return edit.View{}, err
		}
	}
	if edits[0].Op == edit.Undo { // what was superseded may hold again
		return edit.Fold(m.messages, edit.Holding(slices.Concat(m.journal, edits)))
	}
	if len(edits) == 1 {
		return m.view.Apply(edits[0], m.messages)
	}
	return edit.Fold(m.messages, edit.Holding(slices.Concat(m.view.Edits(), edits)))
}

// commit puts one edit into the journal.
func (m *editor) commit(e edit.Edit) {
	m.lastEdit = e.ID
	m.journal = append(m.journal, e)
	m.stats.Edits[e.Kind]++
	m.record(journal.Record{Kind: journal.KindEdit, Edit: e, Worth: m.reckoned})
	m.reckoned = nil
	m.out.Edits = append(m.out.Edits, e)
	if m.shown == nil {
		return
	}
	switch e.Op {
	case edit.Insert, edit.Undo: // a note leaves no lines; what a person takes back is looked at anew
	case edit.Replace: // what stands beside it in its message is shown as before
		m.shown.Forget(e.Span.From, e.Part)
	default:
		for id := e.Span.From; id < e.Span.To; id++ {
			for n := range m.messages[id-1].Parts {
				m.shown.Forget(id, n)
			}
		}
	}
}

// indexLines remembers the lines of all outputs shown in full, if a rule asks for it.
func (m *editor) indexLines() {
	m.shown = nil
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoDedup {
			m.shown = edit.NewLines(r.Args.Lines)
		}
	}
	if m.shown == nil {
		return
	}
	for _, it := range m.view.Items {
		for n, p := range it.Message.Parts {
			if r, ok := p.(llm.ToolResult); ok && !it.IsNote() {
				m.show(it.Message.ID, n, r)
			}
		}
	}
}

// show remembers the lines of an output that is shown in full.
func (m *editor) show(id llm.MessageID, part int, r llm.ToolResult) {
	if _, edited := edit.StubOf(r); !edited {
		m.shown.Add(id, part, r.Text())
	}
}

// remember notes the lines of an output that is shown in full.
func (m *editor) remember(id llm.MessageID, part int) {
	if m.shown == nil {
		return
	}
	if sp, ok := m.scene(policy.Rule{}).At(id, part); ok {
		m.show(id, part, sp.Result)
	}
}

// insertion returns the edit that puts a note at the end.
func (m *editor) insertion(n llm.Message, rule, why string) edit.Edit {
	end := llm.MessageID(len(m.messages)) + 1
	return edit.Edit{
		Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: end, To: end}, Notes: []llm.Message{n},
		After: m.gauge.Message(n), Why: why, Rule: rule,
	}
}

// note appends a note for the model; it stays where it is (law 5).
func (m *editor) note(text, rule, why string) {
	m.adopt(edit.Plan{Edits: []edit.Edit{m.insertion(edit.NoteOf(llm.Text{Text: text}), rule, why)}}, rule)
}

// refold makes the view anew from the transcript and the journal.
func (m *editor) refold() {
	view, err := edit.Fold(m.messages, edit.Holding(m.journal))
	if err != nil { // the journal was valid when it was made
		m.event(EventNoProgress, "", "%v", err)
		return
	}
	old := m.view
	m.view = view
	reloaded := m.reload()
	change := meter.Compare(old, view)
	m.all(func(t *meter.Meter) {
		t.Edited(change)
		t.SetFront(m.allSections(), m.asLoaded(m.offered()))
	})
	if reloaded {
		m.shares = nil
		m.guard.SetSchema(m.schema())
	}
	m.indexLines()
	m.rethink()
}
