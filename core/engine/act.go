package engine

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// act does what rule r asks for before a call.
func (m *Machine) act(r policy.Rule) {
	s := m.scene(r)
	switch r.Do {
	case policy.DoTrim:
		m.try(s.Trim(m.excess(r)), r.Name)
	case policy.DoClear:
		m.try(s.Clear(edit.ClearArgs{Permille: r.Args.Permille, Bytes: r.Args.Bytes, Errors: r.Args.Errors}), r.Name)
	case policy.DoTruncate:
		s.Keep = min(s.Keep, m.keep(policy.Tail{Unit: "messages", N: max(r.Args.Min, 1)}))
		m.try(s.DropUntil(m.excess(r), edit.KindTruncate, "oldest first"), r.Name)
	case policy.DoDropTurns:
		m.dropTurns(r, s)
	case policy.DoDemote:
		m.demote(r)
	case policy.DoSummarise:
		m.ask(r, s)
	case policy.DoNote:
		m.status(r)
	case policy.DoFinal:
		m.force(ReasonContext, r)
	}
}

// excess returns by how much a rule's measure is above where the rule takes it.
func (m *Machine) excess(r policy.Rule) int {
	if r.When.Measure == "" {
		return 1
	}
	to := m.threshold(r.When)
	if r.Args.To > 0 {
		to = to * r.Args.To / 1000
	}
	return max(m.value(r.When.Measure, nil)-to, 0)
}

// try adopts a plan that saves enough; else it says so, and the next rule acts.
func (m *Machine) try(p edit.Plan, rule string) bool {
	before := 0
	for _, e := range p.Edits {
		before += e.Before
	}
	if p.Empty() || !edit.Gain(m.policy.MinimumGain).Enough(before, before-p.Gain()) {
		m.event(EventNoProgress, rule, "%s: %d edits would save %d tokens, not enough", rule, len(p.Edits), p.Gain())
		return false
	}
	return m.adopt(p, rule)
}

// adopt makes the edits of a plan: numbers them, checks each against the laws,
// and puts them, what they store and their records into the next Ready.
func (m *Machine) adopt(p edit.Plan, rule string) bool {
	if m.noStore && !m.durable(p) {
		m.event(EventNoProgress, rule, "%s: what it takes out cannot be stored now", rule)
		return false
	}
	old, view, edits := m.view, m.view, make([]edit.Edit, 0, len(p.Edits))
	for i, e := range p.Edits {
		e.ID = m.lastEdit + edit.ID(i) + 1
		err := edit.Check(e, m.messages, &m.turns)
		if err == nil {
			view, err = view.Apply(e, m.messages)
		}
		if err != nil { // a transform planned against the laws: nothing of the plan is done
			m.event(EventNoProgress, rule, "%s: refused: %v", rule, err)
			return false
		}
		edits = append(edits, e)
	}
	m.view = view
	for _, e := range edits {
		m.commit(e)
	}
	for _, b := range p.Blobs {
		if !m.stored[b.Ref] {
			m.stored[b.Ref] = true
			m.out.Blobs = append(m.out.Blobs, b)
		}
	}
	m.remeasureEdited(old, edits)
	return true
}

// commit puts one edit into the journal.
func (m *Machine) commit(e edit.Edit) {
	m.lastEdit = e.ID
	m.journal = append(m.journal, e)
	m.stats.Edits[e.Kind]++
	m.record(journal.Record{Kind: journal.KindEdit, Edit: e})
	m.out.Edits = append(m.out.Edits, e)
	if m.shown == nil {
		return
	}
	for id := e.Span.From; id < e.Span.To && e.Op != edit.Insert; id++ {
		for n := range m.messages[id-1].Parts {
			m.shown.Forget(id, n)
		}
	}
}

// durable reports whether everything a plan stores is in the store already.
func (m *Machine) durable(p edit.Plan) bool {
	for _, b := range p.Blobs {
		if !m.stored[b.Ref] {
			return false
		}
	}
	return true
}

// dropTurns archives a share of the oldest Turns (R003-9: about half). Where
// there is only one, everything before the newest message of a person goes.
func (m *Machine) dropTurns(r policy.Rule, s edit.Scene) {
	turns := m.turns.Turns()
	if len(turns) < 2 {
		m.dropSingle(r, s)
		return
	}
	first := 0 // Turns that are archived already are not counted again
	for first < len(turns)-1 && m.archivedTo() > turns[first].Start {
		first++
	}
	k := first + max((len(turns)-first)*r.Args.Permille/1000, 1)
	if k >= len(turns) {
		m.dropSingle(r, s)
		return
	}
	to := llm.MessageID(turns[k].Start) + 1
	s.Keep = max(s.Keep, to)
	m.try(m.emergency(s, edit.Span{From: 1, To: to}), r.Name)
}

// dropSingle keeps, of a single Turn, its Human message and what the model has
// not answered yet.
func (m *Machine) dropSingle(r policy.Rule, s edit.Scene) {
	to := m.tail()
	s.Keep = to
	pinned := s.Pinned
	human := m.human(-1)
	s.Pinned = func(msg llm.Message) bool { return msg.ID == human || pinned(msg) }
	m.try(m.emergency(s, edit.Span{From: 1, To: to}), r.Name)
}

// emergency archives a span; its note goes where the policy keeps summaries.
func (m *Machine) emergency(s edit.Scene, span edit.Span) edit.Plan {
	p := s.Drop(span, edit.KindDrop, "oldest Turns")
	if m.policy.SummarySlot != policy.SlotSection {
		return p
	}
	for i, e := range p.Edits {
		if len(e.Notes) == 1 {
			p.Edits[i].Sections = append(p.Edits[i].Sections, llm.Section{Name: "summary", Kind: llm.SectionSummary, Text: e.Notes[0].Text()})
			p.Edits[i].Notes = nil
			p.Edits[i].After = m.gauge.text(e.Notes[0].Text())
		}
	}
	return p
}

// archivedTo returns the end of the archive that begins with message 1, as a position.
func (m *Machine) archivedTo() int {
	end := 0
	for _, e := range m.view.Edits() {
		if e.Op == edit.Archive && int(e.Span.From)-1 <= end {
			end = max(end, int(e.Span.To)-1)
		}
	}
	return end
}

// demote makes one batch down to the low-water mark. Where what it may not touch
// lies above the mark, the batch still counts if it ends below the rule's own
// threshold (law 7).
func (m *Machine) demote(r policy.Rule) {
	low := m.share(m.policy.LowWater)
	trigger := m.threshold(r.When)
	done := false
	for range 4 {
		need := m.value(policy.MeasureView, nil) - low
		if need <= 0 {
			break
		}
		s := m.scene(r)
		s.Low = low
		s.Template = m.text(policy.TemplateCap)
		p := s.Demote(need, edit.DemoteArgs{
			Preview: r.Args.Permille, Stub: m.text(policy.TemplateTrim), Archive: m.text(policy.TemplateDrop),
			Kind: edit.KindStub, KindDrop: edit.KindDrop,
		})
		p, used := m.withSummary(p)
		if !m.try(p, r.Name) {
			break
		}
		done = true
		if used {
			m.summary = nil
		}
	}
	if done && m.value(policy.MeasureView, nil) > trigger {
		m.event(EventNoProgress, r.Name, "the batch ended above its threshold of %d tokens", trigger)
	}
}

// withSummary puts a summary that was prepared in time beside the first archive
// of a batch, and reports whether there were both.
func (m *Machine) withSummary(p edit.Plan) (edit.Plan, bool) {
	if m.summary == nil {
		return p, false
	}
	for i, e := range p.Edits {
		if e.Op != edit.Archive || len(e.Notes) != 1 {
			continue
		}
		_, body := summary.Parse(m.summary.text)
		head := edit.Fill(m.text(policy.TemplateSummary), edit.Values{N: int(m.summary.span.To - 1), Ref: e.Refs[0]})
		note := summaryNote(strings.TrimPrefix(head+"\n"+body, "\n"))
		p.Edits[i].Notes = []llm.Message{e.Notes[0], note}
		p.Edits[i].After += m.gauge.message(note)
		return p, true
	}
	return p, false
}

// status appends the note on how full the context is, once, until there is room again.
func (m *Machine) status(r policy.Rule) {
	if m.noted {
		return
	}
	m.noted = true
	limit := max(m.targets[0].Window.Limit(), 1)
	text := edit.Fill(m.text(r.Args.Template), edit.Values{Used: min(m.value(policy.MeasureView, nil)*100/limit, 100)})
	m.note(text, r.Name, "the context is filling up")
}

// note appends a note for the model; it stays where it is (law 5).
func (m *Machine) note(text, rule, why string) {
	n := edit.NoteOf(llm.Text{Text: text})
	end := llm.MessageID(len(m.messages)) + 1
	m.adopt(edit.Plan{Edits: []edit.Edit{{
		Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: end, To: end}, Notes: []llm.Message{n},
		After: m.gauge.message(n), Why: why, Rule: rule,
	}}}, rule)
}

// force makes this the final Step (R000-14): the reason is set once, the guard
// commits what it has, the tools are restricted and the model is told.
func (m *Machine) force(reason Reason, r policy.Rule) {
	if m.final != ReasonNone {
		return
	}
	m.final = reason
	m.guard.Enforce()
	m.event(EventFinal, r.Name, "final Step forced: %s", reason)
	used := m.guard.Percent(m.targets[0].Window.Capacity)
	m.note(edit.Fill(m.text(r.Args.Template), edit.Values{Used: used}), r.Name, fmt.Sprintf("final Step: %s", reason))
}

// offered returns the tools of this request: all, or in a forced final Step the
// policy's final tool, if the host has it.
func (m *Machine) offered() []llm.Tool {
	if m.final == ReasonNone {
		return m.tools
	}
	for _, t := range m.tools {
		if t.Name == m.policy.FinalTool {
			return []llm.Tool{t}
		}
	}
	return nil
}

// allSections returns the system prompt with what edits added to it.
func (m *Machine) allSections() []llm.Section {
	if len(m.view.Sections) == 0 {
		return m.sections
	}
	return append(m.sections[:len(m.sections):len(m.sections)], m.view.Sections...)
}
