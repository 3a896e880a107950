package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// apply does what a record says has happened, as it was done then, without deciding
// anything. Of edits it is given those of one plan.
func (m *Machine) apply(records []journal.Record, answered map[int]journal.Dialogue) error {
	m.request.resume = 0 // what came since the question makes it another request
	switch r := records[0]; r.Kind {
	case journal.KindMessage:
		m.take(r.Message)
		for _, p := range r.Message.Parts {
			if out, ok := p.(llm.ToolResult); ok && r.Message.Origin == llm.ToolRun {
				m.guard.AddFresh(m.gauge.Part(out))
			}
		}
	case journal.KindEdit:
		return m.applyEdits(records)
	case journal.KindUsage:
		m.answeredBy(r.Usage.Target, r.Usage.Model)
		u := Usage{Usage: r.Usage.Usage, Reported: r.Usage.Reported, OutputUnknown: !r.Usage.Output}
		if err := m.accept(r.Usage.Target, u); err != nil {
			return err
		}
		m.book(u)
	case journal.KindRejected:
		m.answeredBy(r.Rejected.Target, "")
		m.taught(journal.Limit{Target: r.Rejected.Target, Window: r.Rejected.Window, Bytes: r.Rejected.Bytes})
		if err := m.aim(m.stated); err != nil {
			return err
		}
		m.heard(r.Rejected.Used)
		m.request.phase = phaseRefused
		clear(m.tried)
	case journal.KindSections:
		m.setSections(r.Sections)
	case journal.KindTools:
		m.setTools(r.Tools, nil, false)
		m.unchosen = true
	case journal.KindOffer:
		m.setTools(m.tools, r.Offer, r.Declared)
		m.unchosen = false
	case journal.KindPolicy:
		return m.feedPolicy(*r.Policy)
	case journal.KindForce:
		m.wanted = Reason(r.Reason)
	case journal.KindExceeded:
		m.guard.Exceed()
	case journal.KindRule:
		m.due[r.Rule.Name] = !r.Rule.Room
		if r.Rule.Room {
			delete(m.due, r.Rule.Name)
			delete(m.noted, r.Rule.Name)
		}
	case journal.KindAsk:
		m.applyAsk(r.Ask)
	case journal.KindAnswer:
		m.applyAnswer(answered[r.Answer.Ask])
	case journal.KindFork:
		m.asks = nil
	}
	return nil
}

// applyEdits makes the edits of one plan.
func (m *Machine) applyEdits(records []journal.Record) error {
	edits := make([]edit.Edit, len(records))
	for i, r := range records {
		edits[i] = r.Edit
	}
	old := m.view
	view, err := m.applied(edits)
	if err != nil {
		return err
	}
	m.view = view
	for _, e := range edits {
		m.commit(e)
		m.durableEdit(e)
	}
	m.remeasureEdited(old, edits)
	for _, e := range edits {
		m.spoken(e)
		if e.Op == edit.Archive && len(e.Notes) > 1 && m.ruleNamed(e.Rule).Do == policy.DoDemote {
			m.summary = nil // the batch shows it
		}
	}
	if edits[0].Rule == undoRule || edits[0].Op == edit.Undo && edits[0].Rule == compactionRule {
		clear(m.tried)
		m.declined = declined{}
	}
	return nil
}

// spoken brings back what a note means beyond its words: the final Step was forced, or a
// rule has spoken.
func (m *Machine) spoken(e edit.Edit) {
	r := m.ruleNamed(e.Rule)
	switch {
	case e.Op != edit.Insert:
	case r.Do == policy.DoFinal:
		m.recallFinal(ReasonContext)
	case reasonOf(e.Rule) != ReasonNone:
		m.recallFinal(reasonOf(e.Rule))
	case r.Do == policy.DoNote:
		m.noted[r.Name] = true
	}
}

func (m *Machine) recallFinal(reason Reason) {
	m.wanted = ReasonNone
	m.setFinal(reason)
	m.guard.Enforce()
}

// applyAsk brings back a question that nobody waits for, which is asked again unless its
// answer follows. One that somebody waits for ended with that call.
func (m *Machine) applyAsk(a journal.Ask) {
	if a.ByHand {
		m.summary = nil
	}
	switch {
	case a.Background:
		m.askAgain(a)
	case !a.ByHand:
		m.request.resume = max(slices.IndexFunc(m.policy.Rules, func(r policy.Rule) bool { return r.Name == a.Rule }), 0)
	}
}

// applyAnswer brings back what became of an answer, but for the edits that show it.
func (m *Machine) applyAnswer(d journal.Dialogue) {
	m.asks = slices.DeleteFunc(m.asks, func(a Ask) bool { return a.ID == d.Ask.ID })
	if !d.Ask.ByHand && d.Answer.Outcome != journal.Again {
		delete(m.due, d.Ask.Rule)
	}
	switch d.Answer.Outcome {
	case journal.Held:
		m.declined = declined{}
		m.hold(d)
	case journal.Used:
		m.declined = declined{}
	case journal.Failed:
		m.fail(edit.Span{From: d.Ask.From, To: d.Ask.To})
	case journal.Declined:
		m.decline(edit.Span{From: d.Ask.From, To: d.Ask.To})
	}
}
