package engine

import (
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
	m.lastUsage = s.Usage.Usage
	m.count[0].recall(s, m.view)
	m.recallGuard(s)
	for _, e := range m.view.Edits() {
		if e.Op != edit.Insert {
			continue
		}
		switch r := m.ruleNamed(e.Rule); {
		case r.Do == policy.DoFinal && e.Span.From > m.humans[1]:
			m.setFinal(ReasonContext)
		case r.Do == policy.DoNote && m.holds(r.When, nil):
			m.noted[r.Name] = true
		}
	}
	if !s.Usage.IsZero() {
		m.recallDue(s)
	}
}

// recallGuard makes the guard's counters anew: from the usage reported last and
// what came after it, or, if an edit changed the view since, from the view.
func (m *Machine) recallGuard(s journal.Snapshot) {
	m.guard.SetSchema(m.schema())
	m.guard.Rebase(m.gauge.total())
	notes := 0
	for _, e := range s.Edits {
		if e.ID <= s.UsageEdit {
			continue
		}
		if e.Op != edit.Insert {
			return
		}
		notes += e.After
	}
	if s.Usage.Prompt() == 0 {
		m.guard.Seed(m.gauge.total() - m.gauge.scaled(m.gauge.ledger.Sum(token.Tools)))
		return
	}
	m.guard.Seed(0)
	m.guard.Commit(s.Usage.Usage)
	m.covered = s.Usage.Output
	for _, msg := range s.Messages[s.UsageAt:] {
		m.fresh(msg)
	}
	m.guard.AddFresh(notes)
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
