package engine

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// act does what rule r asks for before a call.
func (m *Machine) act(r policy.Rule) {
	s := m.scene(r)
	switch r.Do {
	case policy.DoTrim:
		m.until(r, func(need int) edit.Plan { return m.scene(r).Trim(need) })
	case policy.DoClear:
		m.try(s.Clear(edit.ClearArgs{Permille: r.Args.Permille, Bytes: r.Args.Bytes, Errors: r.Args.Errors}), r.Name)
	case policy.DoTruncate:
		m.until(r, func(need int) edit.Plan { return m.truncated(r, need) })
	case policy.DoDropTurns:
		m.dropTurns(r)
	case policy.DoDemote:
		m.demote(r)
	case policy.DoSummarise:
		m.ask(r, s)
	case policy.DoNote:
		m.status(r)
	case policy.DoFinal:
		m.force(ReasonContext, r.Name, m.text(r.Args.Template))
	}
}

// excess returns by how much a rule's measure is above where the rule takes it.
func (m *Machine) excess(r policy.Rule) int {
	if r.When.Measure == "" {
		return 1
	}
	to := m.threshold(r.When)
	switch {
	case r.Args.To > 0:
		to = m.down(r)
	case r.When.Op == ">=":
		to-- // at the threshold the condition still holds
	}
	return max(m.value(r.When.Measure, nil)-to, 0)
}

// tries is how often a plan is made anew where it saved less than it should: the
// count takes a removed token for less than one, and notes stand in the place of
// what was removed.
const tries = 6

// until adopts plans that save what a rule's measure is in excess by, as long as
// it is and they save enough.
func (m *Machine) until(r policy.Rule, plan func(need int) edit.Plan) {
	for i := range tries {
		need := m.excess(r)
		if need == 0 {
			return
		}
		if p := plan(need); i > 0 && !m.enough(p) || !m.try(p, r.Name) {
			return
		}
	}
}

// truncated plans to archive the oldest messages.
func (m *Machine) truncated(r policy.Rule, need int) edit.Plan {
	s := m.scene(r)
	s.Keep = min(s.Keep, m.keep(policy.Tail{Unit: policy.TailMessages, N: max(r.Args.Min, 1)}))
	if r.When.Measure == policy.MeasureMessages {
		need = m.messagesWorth(need)
	}
	return s.DropUntil(need, edit.KindTruncate, "oldest first")
}

// messagesWorth returns what the oldest n messages of the history take, in tokens.
func (m *Machine) messagesWorth(n int) int {
	tokens := 0
	for _, it := range m.view.Items {
		if n > 0 && token.ComponentOf(it.Message) == token.History {
			tokens += m.gauge.Message(it.Message)
			n--
		}
	}
	return max(tokens, 1)
}

// enough reports whether a plan saves what the policy demands (law 7).
func (m *Machine) enough(p edit.Plan) bool {
	before := 0
	for _, e := range p.Edits {
		before += e.Before
	}
	return !p.Empty() && edit.Gain(m.policy.MinimumGain).Enough(before, before-p.Gain())
}

// try adopts a plan that saves enough; else it says so, and the next rule acts.
func (m *Machine) try(p edit.Plan, rule string) bool {
	if !m.enough(p) {
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
	for _, b := range p.Blobs {
		if !m.stored[b.Ref] {
			m.stored[b.Ref] = true
			m.out.Blobs = append(m.out.Blobs, b)
		}
	}
	m.remeasureEdited(old, edits)
	return true
}

// applied returns the view after edits, each of which is checked against the laws.
func (m *Machine) applied(edits []edit.Edit) (edit.View, error) {
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

// dropTurns archives a share of the oldest Turns (R003-9: about half), again and
// again while the rule's condition holds.
func (m *Machine) dropTurns(r policy.Rule) {
	for i := range tries {
		p := m.oldTurns(r)
		if i > 0 && !m.enough(p) || !m.try(p, r.Name) || r.When.Measure == "" || !m.holds(r.When, nil) {
			return
		}
	}
}

// oldTurns plans to archive a share of the oldest Turns. Where there is only one,
// everything before the newest message of a person goes.
func (m *Machine) oldTurns(r policy.Rule) edit.Plan {
	s := m.scene(r)
	turns := m.turns.Turns()
	if len(turns) < 2 {
		return m.singleTurn(r, s)
	}
	first := 0 // Turns that are archived already are not counted again
	for first < len(turns)-1 && m.archivedTo() > turns[first].Start {
		first++
	}
	k := first + max((len(turns)-first)*r.Args.Permille/1000, 1)
	if k >= len(turns) {
		return m.singleTurn(r, s)
	}
	to := llm.MessageID(turns[k].Start) + 1
	s.Keep = max(s.Keep, to)
	return m.emergency(s, edit.Span{From: 1, To: to})
}

// singleTurn keeps, of a single Turn, its Human message and what the model has
// not answered yet. Where there is nothing else and a provider refused it, the Human
// message alone stays: one answer of a tool may be what is too long (R003-9).
func (m *Machine) singleTurn(r policy.Rule, s edit.Scene) edit.Plan {
	pinned, human := s.Pinned, m.human(1)
	s.Pinned = func(msg llm.Message) bool { return msg.ID == human || pinned(msg) }
	s.Keep = m.tail()
	p := m.emergency(s, edit.Span{From: 1, To: s.Keep})
	if p.Empty() && r.At == policy.AtRejected {
		s.Keep = llm.MessageID(len(m.messages)) + 1
		p = m.emergency(s, edit.Span{From: 1, To: s.Keep})
	}
	return p
}

// emergency archives a span; its note goes where the policy keeps summaries.
func (m *Machine) emergency(s edit.Scene, span edit.Span) edit.Plan {
	p := s.Drop(span, edit.KindDrop, "oldest Turns")
	if m.policy.SummarySlot != policy.SlotSection {
		return p
	}
	for i, e := range p.Edits {
		if e.Op != edit.Archive {
			continue
		}
		v := edit.Values{N: m.leaving(e), Ref: e.Refs[0]}
		text := edit.Fill(s.Template, v)
		p.Edits[i].Sections = append(p.Edits[i].Sections, llm.Section{Name: "summary", Kind: llm.SectionSummary, Text: text})
		p.Edits[i].Notes = nil
		p.Edits[i].After = m.gauge.Text(text)
	}
	return p
}

// leaving returns how many messages an archive takes out that no earlier one has.
func (m *Machine) leaving(e edit.Edit) int {
	n := int(e.Span.To - e.Span.From)
	for _, old := range m.view.Edits() {
		if old.Op == edit.Archive && e.Span.Covers(old.Span) {
			n -= int(old.Span.To - old.Span.From)
		}
	}
	return n
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
// threshold (law 7). A tail before which too little stands bends first.
func (m *Machine) demote(r policy.Rule) {
	done := false
	tails := m.tails(r)
	for i, keep := range tails {
		if last := i == len(tails)-1; !last && !m.worth(keep) {
			continue
		} else if done = m.demoteBefore(r, keep, last); done || m.noStore {
			break
		}
	}
	if done && r.When.Measure != "" && m.holds(r.When, nil) {
		m.event(EventNoProgress, r.Name, "the batch ended above its threshold of %d tokens", m.threshold(r.When))
	}
}

// demoteBefore makes a batch of what stands before a tail, and reports whether it saved
// enough. If this tail is the last one, it says why not.
func (m *Machine) demoteBefore(r policy.Rule, keep llm.MessageID, last bool) bool {
	low := m.down(r)
	done := false
	for range tries {
		need := m.toFree(low)
		if need <= 0 {
			break
		}
		s := m.scene(r)
		s.Keep = keep
		s.Low = low
		s.Template = m.text(policy.TemplateCap)
		p := s.Demote(need, edit.DemoteArgs{
			Preview: r.Args.Permille, Stub: m.text(policy.TemplateTrim), Archive: m.text(policy.TemplateDrop),
			Kind: edit.KindStub, KindDrop: edit.KindDrop,
		})
		p, used := m.withSummary(p)
		if (done || !last) && !m.enough(p) || !m.try(p, r.Name) {
			break
		}
		done = true
		if used {
			m.summary = nil
		}
	}
	return done
}

// toFree returns by how much the view is above low, in the tokens that edits are
// measured in: the count's bound has its margin on top of those.
func (m *Machine) toFree(low int) int {
	need := m.value(policy.MeasureView, nil) - low
	if e := m.Count(); m.gauge == m.count[0] && e.Bound > 0 {
		need = need * e.Point / e.Bound
	}
	return need
}

// withSummary puts a summary that was prepared in time beside the first archive
// of a batch, in place of those that stand there (it was written with them at
// hand), and reports whether there were both.
func (m *Machine) withSummary(p edit.Plan) (edit.Plan, bool) {
	if m.summary == nil {
		return p, false
	}
	for i, e := range p.Edits {
		if e.Op != edit.Archive || len(e.Notes) == 0 {
			continue
		}
		head := edit.Fill(m.text(policy.TemplateSummary), edit.Values{N: int(m.summary.span.To - 1), Ref: e.Refs[0]})
		note := summaryNote(strings.TrimPrefix(head+"\n"+m.summary.text, "\n"))
		p.Edits[i].Notes = []llm.Message{e.Notes[0], note}
		p.Edits[i].After = m.gauge.Message(e.Notes[0]) + m.gauge.Message(note)
		return p, true
	}
	return p, false
}

// stale reports whether all that the prepared summary is about has left the view
// without it, so that a newer one may be asked for.
func (m *Machine) stale() bool {
	return m.summary != nil && m.archivedTo() >= int(m.summary.span.To)-1
}

// note appends a note for the model; it stays where it is (law 5).
func (m *Machine) note(text, rule, why string) {
	m.adopt(edit.Plan{Edits: []edit.Edit{m.insertion(edit.NoteOf(llm.Text{Text: text}), rule, why)}}, rule)
}

// allSections returns the system prompt with what edits added to it.
func (m *Machine) allSections() []llm.Section {
	if len(m.view.Sections) == 0 {
		return m.sections
	}
	return append(m.sections[:len(m.sections):len(m.sections)], m.view.Sections...)
}
