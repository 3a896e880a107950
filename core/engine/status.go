package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// status appends the note of r where none stands. One that tells how full the context is
// is kept true by restate, wherever it stands; any other one is made once, until there is room again or it has
// left the view.
func (m *ruler) status(r policy.Rule) {
	stands := m.standing(r)
	if len(stands) > 0 && (m.tells(r) || m.noted[r.Name]) {
		return
	}
	n := m.statusNote(r, stands)
	if m.crowds(n, nil) {
		m.event(EventNoProgress, r.Name, "%s: there is no room for its note", r.Name)
		return
	}
	m.noted[r.Name] = true
	m.adopt(edit.Plan{Edits: []edit.Edit{placed(m.insertion(n, r.Name, filling), r)}}, r.Name)
}

// filling is why the note on how full the context is stands there.
const filling = "the context is filling up"

// placed returns the edit that shows a note where r wants it.
func placed(e edit.Edit, r policy.Rule) edit.Edit {
	if r.Args.Show == policy.ShowSection {
		e.Sections = []llm.Section{{Name: prompt.Status.String(), Kind: llm.SectionNotes, Text: e.Notes[0].Text()}}
		e.Notes = nil
	}
	return e
}

// noteOf returns the note of an edit that shows one, wherever that stands.
func noteOf(e edit.Edit) llm.Message {
	if len(e.Notes) == 0 {
		return edit.NoteOf(llm.Text{Text: e.Sections[0].Text})
	}
	return e.Notes[0]
}

// crowds reports whether a request that fits would no longer do so with a note in place of
// others: nothing is taken out so that the model can be told that there is little room.
func (m *ruler) crowds(n llm.Message, others []edit.Edit) bool {
	to := m.choose()
	if !m.fits(to) {
		return false
	}
	count, w := m.count[to], m.resolved[to].Window
	more := token.SizeOf(count.Counter(), n)
	tokens := count.Message(n)
	for _, e := range others {
		more = more.Sub(token.SizeOf(count.Counter(), noteOf(e)))
		tokens -= count.Message(noteOf(e))
	}
	bytes, _ := count.Wire()
	bytes += more.Bytes + more.More
	return count.Count().Bound+tokens > w.Limit() || w.MaxBytes > 0 && bytes > w.MaxBytes
}

// statusNote returns the note of r as it is true once it stands where stands are now.
func (m *ruler) statusNote(r policy.Rule, stands []edit.Edit) llm.Message {
	rest, limit := m.value(policy.MeasureView, nil), max(m.resolved[0].Window.Limit(), 1)
	if m.tells(r) {
		for _, e := range stands {
			rest -= m.gauge.Message(noteOf(e))
		}
	}
	size, n := 0, llm.Message{}
	for range 2 { // the note is a part of what it tells about
		n = edit.NoteOf(llm.Text{Text: edit.Fill(m.text(r.Args.Template), edit.Values{Used: min((rest+size)*100/limit, 100)})})
		size = m.gauge.Message(n)
	}
	return n
}

// restate makes the notes on how full the context is true for the request that is about
// to leave: one with another figure comes anew at the end, and where there is room again
// it goes.
func (m *ruler) restate() {
	if m.final == ReasonContext {
		return // what the policy ended it does not touch
	}
	for _, r := range m.policy.Rules {
		if !m.tells(r) {
			continue
		}
		if stands := m.standing(r); len(stands) > 0 {
			m.restateOne(r, stands)
		}
	}
}

// restateOne is restate of the notes of one rule.
func (m *ruler) restateOne(r policy.Rule, stands []edit.Edit) {
	last := stands[len(stands)-1]
	now := m.statusNote(r, stands)
	var p edit.Plan
	switch {
	case !m.holds(r.When, nil):
		p.Edits = m.taken(stands, "there is room again")
	case noteOf(last).Text() == now.Text():
		p.Edits = m.taken(stands[:len(stands)-1], "a newer one stands")
	case m.crowds(now, stands):
		p.Edits = m.taken(stands, "there is no room for its new figure")
	default:
		p.Edits = append(m.taken(stands, "its figure has changed"), placed(m.insertion(now, r.Name, filling), r))
	}
	if !p.Empty() {
		m.adopt(p, r.Name)
	}
}

// taken returns the edits that take notes back. What a note stood before was made with it
// in sight, so the span of such an edit begins there (law 6); it ends where the conversation
// does now, so that a fork before that still has the note.
func (m *ruler) taken(notes []edit.Edit, why string) []edit.Edit {
	var out []edit.Edit
	for _, e := range notes {
		out = append(out, edit.Edit{
			Op: edit.Undo, Kind: edit.KindNote, Span: edit.Span{From: e.Span.From, To: llm.MessageID(len(m.messages)) + 1},
			Supersedes: []edit.ID{e.ID}, Before: m.gauge.Message(noteOf(e)), Why: why, Rule: e.Rule,
		})
	}
	return out
}
