package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// recall brings back what records tell beyond the view, so that the next request
// is the same as if there had been no restart: the usage reported last and what
// was learnt, the guard, and what the rules said already. What no record tells is
// gone: a summary that waited for its batch, and rules that waited for the next
// call, but for those of usage.
func (m *Machine) recall(s journal.Snapshot) {
	if s.Usage.By != "" && s.Usage.By != m.count[0].key {
		s.Usage.Reported, s.Usage.Ratio = false, 0 // they are about another model's tokens
	}
	m.lastUsage = s.Usage.Usage
	m.count[0].recall(s, m.view)
	m.recallGuard(s)
	for _, e := range m.journal { // a note that has left the view was given all the same
		switch r, latest := m.ruleNamed(e.Rule), e.Span.From > m.turnAt; {
		case e.Op != edit.Insert:
		case r.Do == policy.DoFinal && latest:
			m.setFinal(ReasonContext)
		case reasonOf(e.Rule) != ReasonNone && latest:
			m.setFinal(reasonOf(e.Rule))
		case r.Do == policy.DoNote && slices.ContainsFunc(m.view.Edits(), func(v edit.Edit) bool { return v.ID == e.ID }) && m.holds(r.When, nil):
			m.noted[r.Name] = true
		}
	}
	switch {
	case m.final != ReasonNone:
		m.guard.Enforce()
	case s.Forced.Text != "":
		m.wanted = Reason(s.Forced.Text)
	}
	if s.Exceed.Text != "" {
		m.guard.Exceed()
	}
	m.recallTried(s)
	if !s.Usage.IsZero() {
		m.recallDue(s)
	}
}

// recallTried notes that a request was made of what there is: its rules made the newest
// edit, and nothing came after it. So the next one is the same (law 7).
func (m *Machine) recallTried(s journal.Snapshot) {
	if len(s.Edits) == 0 || int(s.EditAt) != len(s.Messages) || s.UsageEdit >= s.LastEdit {
		return
	}
	newest := s.Edits[len(s.Edits)-1]
	r := m.ruleNamed(newest.Rule)
	made := newest.Rule == backstopRule || reasonOf(newest.Rule) != ReasonNone
	switch r.At {
	case policy.AtPrepare, policy.AtUsage, policy.AtRejected, policy.AtTurnEnd:
		made = true
	}
	if made {
		m.triedAll()
	}
}

// recallGuard makes the guard's counters anew: from the usage reported last and by
// what the view has grown since, or, where that cannot be told, from the view.
func (m *Machine) recallGuard(s journal.Snapshot) {
	m.guard.SetSchema(m.schema())
	m.guard.SetReasoning(m.cfg.Reasoning)
	if s.Usage.Prompt() == 0 {
		m.guard.Seed(m.gauge.total() - m.gauge.scaled(m.gauge.ledger.Sum(token.Tools)))
		return
	}
	then, ok := viewAtUsage(s)
	if !ok {
		m.guard.Rebase(m.gauge.total())
		return
	}
	m.guard.Seed(0)
	m.guard.Commit(s.Usage.Usage)
	grown := m.gauge.total() - m.gauge.sizeOf(then, slices.Concat(s.Sections, then.Sections), m.offered())
	m.covered = s.Usage.Output
	if reply, ok := replyAfter(s); ok && m.covered {
		m.covered = false
		grown -= m.gauge.message(s.Messages[reply-1])
	}
	m.guard.Edited(grown)
}

// recallDue notes the rules that the usage reported last has called up and that
// have not acted since.
func (m *Machine) recallDue(s journal.Snapshot) {
	for _, r := range m.policy.Rules {
		acted := false
		for _, e := range s.Edits {
			acted = acted || e.ID > s.UsageEdit && e.Rule == r.Name
		}
		if r.At == policy.AtUsage && r.When.Measure == policy.MeasureUsage && !acted && m.holds(r.When, nil) {
			m.due[r.Name] = true
		}
	}
}
