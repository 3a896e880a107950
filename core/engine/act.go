package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// act does what rule r asks for before a call.
func (m *ruler) act(r policy.Rule) {
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
	case policy.DoPreview:
		m.early(r)
	case policy.DoDemote:
		m.demote(r)
	case policy.DoSummarise:
		m.ask(r, s)
	case policy.DoNote:
		m.status(r)
	case policy.DoProvider:
		m.bid(r)
	case policy.DoFinal:
		m.force(ReasonContext, r.Name, m.text(r.Args.Template))
	}
}

// excess returns by how much a rule's measure is above where the rule takes it.
func (m *ruler) excess(r policy.Rule) int {
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

// until adopts plans that save what a rule's measure is in excess by, as long as
// it is and they save enough.
func (m *ruler) until(r policy.Rule, plan func(need int) edit.Plan) {
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
func (m *ruler) truncated(r policy.Rule, need int) edit.Plan {
	s := m.scene(r)
	s.Keep = min(s.Keep, m.keep(policy.Tail{Unit: policy.TailMessages, N: max(r.Args.Min, 1)}))
	if r.When.Measure == policy.MeasureMessages {
		need = m.messagesWorth(need)
	}
	return s.DropUntil(need, edit.KindTruncate, "oldest first")
}

// messagesWorth returns what the oldest n messages of the history take, in tokens.
func (m *ruler) messagesWorth(n int) int {
	tokens := 0
	for _, it := range m.view.Items {
		if n > 0 && token.ComponentOf(it.Message) == token.History {
			tokens += m.gauge.Message(it.Message)
			n--
		}
	}
	return max(tokens, 1)
}

// dropTurns archives a share of the oldest Turns (R003-9: about half), again and
// again while the rule's condition holds.
func (m *ruler) dropTurns(r policy.Rule) {
	for i := range tries {
		p := m.oldTurns(r)
		if i > 0 && !m.enough(p) || !m.try(p, r.Name) || r.When.Measure == "" || !m.holds(r.When, nil) {
			return
		}
	}
}

// oldTurns plans to archive a share of the oldest Turns. Where there is only one,
// everything before the newest message of a person goes.
func (m *ruler) oldTurns(r policy.Rule) edit.Plan {
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
func (m *ruler) singleTurn(r policy.Rule, s edit.Scene) edit.Plan {
	pinned, human := s.Pinned, m.human(1)
	s.Pinned = func(msg llm.Message) bool { return msg.ID == human || pinned(msg) }
	s.Keep = m.tail()
	p := m.emergency(s, edit.Span{From: 1, To: s.Keep})
	if p.Empty() && r.At == policy.AtRejected && m.shows(human) {
		s.Keep = llm.MessageID(len(m.messages)) + 1
		p = m.emergency(s, edit.Span{From: 1, To: s.Keep})
	}
	return p
}

// emergency archives a span; its note goes where the policy keeps summaries.
func (m *ruler) emergency(s edit.Scene, span edit.Span) edit.Plan {
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

// demote makes one batch down to the low-water mark. Where what it may not touch
// lies above the mark, the batch still counts if it ends below the rule's own
// threshold (law 7). A tail before which too little stands bends first, but not so that
// a batch pays which may wait.
func (m *ruler) demote(r policy.Rule) {
	done := false
	tails := m.tails(r)
	for i, keep := range tails {
		if last := i == len(tails)-1; !last && !m.worth(keep, m.staying(keep)) {
			continue
		} else if done = m.demoteBefore(r, keep, last); done || m.waiting || m.request.noStore {
			break
		}
	}
	if done && r.When.Measure != "" && m.holds(r.When, nil) {
		m.event(EventNoProgress, r.Name, "the batch ended above its threshold of %d tokens", m.threshold(r.When))
	}
}

// staying returns the tokens that a batch leaves of what stands before a tail: by reference, a
// share that it may have.
func (m *ruler) staying(keep llm.MessageID) int {
	if m.policy.Order != policy.OrderReference {
		return 0
	}
	return m.olderRoom(keep)
}

// demoteBefore makes a batch of what stands before a tail, and reports whether it saved
// enough. If this tail is the last one, it says why not.
func (m *ruler) demoteBefore(r policy.Rule, keep llm.MessageID, last bool) bool {
	low := m.mark(r)
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
		p := m.planned.made(planning{at: m.situation(), keep: keep, low: low, need: need, args: r.Args}, r.Name, func() edit.Plan { return m.batch(s, need, r) })
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

// batch plans what is taken out to save need tokens.
func (m *ruler) batch(s edit.Scene, need int, r policy.Rule) edit.Plan {
	forms := edit.DemoteArgs{
		Preview: r.Args.Permille, Stub: m.text(policy.TemplateTrim), Archive: m.text(policy.TemplateDrop),
		Kind: edit.KindStub, KindDrop: edit.KindDrop,
	}
	switch m.policy.Order {
	case policy.OrderArrival:
		return s.Demote(need, forms)
	case policy.OrderUse:
		s.Ground = m.grounded()
		p := m.withoutLongPins(s, false)
		return m.withReferences(p.Join(s.DemoteByUse(need-p.Gain()+m.noteToCome(), forms)), s.Keep, r.Name)
	}
	s.Ground = m.grounded()
	p := m.withoutLongPins(s, false).Join(s.Select(edit.SelectArgs{
		Room: m.olderRoom(s.Keep), Stub: m.text(policy.TemplateTrim), Archive: m.text(policy.TemplateDrop),
		Kind: edit.KindStub, KindDrop: edit.KindDrop,
	}))
	return m.withReferences(p, s.Keep, r.Name)
}

// noteToCome returns the tokens of the note of references that a batch writes, beyond those of
// the one that it takes the place of.
func (m *ruler) noteToCome() int {
	room := m.policy.References.Room(m.room())
	for _, e := range m.view.Edits() {
		if e.Kind == edit.KindReferences {
			room -= e.After
		}
	}
	return room
}

// mark returns where a batch goes down to: the low-water mark of the limit, or, by reference,
// that of what messages may have, above what nothing can be done about, with the note on top.
func (m *ruler) mark(r policy.Rule) int {
	if m.policy.Order == policy.OrderArrival {
		return m.down(r)
	}
	return m.window().Limit() - m.room() + m.policy.BatchMark(m.room(), m.firstBatch())
}

// firstBatch reports whether no batch of the policy has been made.
func (m *ruler) firstBatch() bool {
	batch := map[string]bool{}
	for _, r := range m.policy.Rules {
		batch[r.Name] = r.Do == policy.DoDemote
	}
	return !slices.ContainsFunc(m.journal, func(e edit.Edit) bool { return batch[e.Rule] })
}

// olderRoom returns the tokens that older messages before keep may have after a batch: what
// the low-water mark leaves beside half of those that it does not touch, and never less than a
// fifth of the mark. Half: what is new now is older text at the next batch, and a large output
// at the end must not cost all that stands before it.
func (m *ruler) olderRoom(keep llm.MessageID) int {
	low := budget.Share(m.room(), m.policy.BatchShare(m.firstBatch()))
	untouched := 0
	for i := range m.view.Items {
		it := &m.view.Items[i]
		if !it.IsNote() && (it.Message.ID >= keep || m.pins(&it.Message)) {
			untouched += m.gauge.Message(it.Message)
		}
	}
	return max(low-untouched/2, low/leastOlder)
}

// leastOlder is the share of the low-water mark that older messages have at least: a fifth.
const leastOlder = 5

// toFree returns by how much the view is above low, in the tokens that edits are
// measured in: the count's bound has its margin on top of those.
func (m *ruler) toFree(low int) int {
	need := m.value(policy.MeasureView, nil) - low
	if e := m.Count(); m.gauge == m.count[0] && e.Bound > 0 {
		need = need * e.Point / e.Bound
	}
	return need
}
