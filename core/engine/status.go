package engine

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// usedMark is what stands in a text for how full the context is.
const usedMark = "{used}"

// tells reports whether r keeps a note on how full the context is in every request. Its
// document has it in a part of the prompt that is written anew for each call and never
// cached (R002-13, R002-23), which law 5 excepts.
func (m *Machine) tells(r policy.Rule) bool {
	return r.Do == policy.DoNote && r.At == policy.AtPrepare && strings.Contains(m.text(r.Args.Template), usedMark)
}

// standing returns the edits by which notes of r stand in the view.
func (m *Machine) standing(r policy.Rule) []edit.Edit {
	var out []edit.Edit
	for _, e := range m.view.Edits() {
		if e.Op == edit.Insert && e.Rule == r.Name {
			out = append(out, e)
		}
	}
	return out
}

// status appends the note of r where none stands. One that tells how full the context is
// is kept true by restate; any other one is made once, until there is room again or it has
// left the view.
func (m *Machine) status(r policy.Rule) {
	stands := m.standing(r)
	if len(stands) > 0 && (m.tells(r) || m.noted[r.Name]) {
		return
	}
	m.noted[r.Name] = true
	m.adopt(edit.Plan{Edits: []edit.Edit{m.insertion(m.statusNote(r, stands), r.Name, "the context is filling up")}}, r.Name)
}

// statusNote returns the note of r as it is true once it stands where stands are now.
func (m *Machine) statusNote(r policy.Rule, stands []edit.Edit) llm.Message {
	rest, limit := m.value(policy.MeasureView, nil), max(m.targets[0].Window.Limit(), 1)
	if m.tells(r) {
		for _, e := range stands {
			rest -= m.gauge.Message(e.Notes[0])
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
func (m *Machine) restate() {
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
func (m *Machine) restateOne(r policy.Rule, stands []edit.Edit) {
	last := stands[len(stands)-1]
	now := m.statusNote(r, stands)
	var p edit.Plan
	switch {
	case !m.holds(r.When, nil):
		p.Edits = m.taken(stands, "there is room again")
	case last.Notes[0].Text() == now.Text():
		p.Edits = m.taken(stands[:len(stands)-1], "a newer one stands")
	default:
		p.Edits = append(m.taken(stands, "its figure has changed"), m.insertion(now, r.Name, "the context is filling up"))
	}
	if !p.Empty() {
		m.adopt(p, r.Name)
	}
}

// taken returns the edits that take notes back. What a note stood before was made with it
// in sight, so the span of such an edit begins there (law 6); it ends where the conversation
// does now, so that a fork before that still has the note.
func (m *Machine) taken(notes []edit.Edit, why string) []edit.Edit {
	var out []edit.Edit
	for _, e := range notes {
		out = append(out, edit.Edit{
			Op: edit.Undo, Kind: edit.KindNote, Span: edit.Span{From: e.Span.From, To: llm.MessageID(len(m.messages)) + 1},
			Supersedes: []edit.ID{e.ID}, Before: m.gauge.Message(e.Notes[0]), Why: why, Rule: e.Rule,
		})
	}
	return out
}

// insertion returns the edit that puts a note at the end.
func (m *Machine) insertion(n llm.Message, rule, why string) edit.Edit {
	end := llm.MessageID(len(m.messages)) + 1
	return edit.Edit{
		Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: end, To: end}, Notes: []llm.Message{n},
		After: m.gauge.Message(n), Why: why, Rule: rule,
	}
}

// sentAnew reports whether nothing but the figures of notes has changed since the request
// that was sent last, so that it is the same one.
func (m *Machine) sentAnew() bool {
	if m.newestEdit() < m.sent.edit {
		return false
	}
	for _, e := range slices.Backward(m.journal) {
		if e.ID <= m.sent.edit {
			break
		}
		if e.Kind != edit.KindNote || !m.tells(m.ruleNamed(e.Rule)) {
			return false
		}
	}
	return true
}
