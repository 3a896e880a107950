package engine

import (
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/meter"
)

// writeState puts into the next Ready all that a restart could not tell from messages and
// edits (law 4). It is written beside each request, so once a Step, but not beside one that
// is the last one over again.
func (m *Machine) writeState() {
	if m.stated != nil && m.stated.Sent.Target == m.SentTo().Name() {
		return
	}
	s := m.state()
	m.record(journal.Record{Kind: journal.KindState, State: s})
	m.stated = s
}

func (m *Machine) state() *journal.State {
	s := &journal.State{
		LastEdit: m.lastEdit, Reports: m.reports, Guard: m.guard.State(), Usage: m.lastUsage, Covered: m.covered, Opened: m.opened,
		Wanted: string(m.wanted), Final: string(m.final), Limits: m.limits(), Meters: m.meterStates(), Rules: m.ruleStates(),
		Declined: journal.DeclinedSummary{To: m.declined.to, Tokens: m.declined.tokens},
	}
	for _, a := range m.asks {
		if a.Background {
			s.Asks = append(s.Asks, a.recorded())
		}
	}
	if m.summary != nil {
		s.Summary = m.summary.ask
	}
	if m.sent.meter != nil {
		s.Sent = journal.Sent{Target: m.SentTo().Name(), Edit: m.sent.edit, Messages: m.sent.end, Output: m.sent.output}
	}
	return s
}

// meterStates returns what the counts know, those of targets that were named before too.
func (m *Machine) meterStates() []journal.MeterState {
	var out []journal.MeterState
	m.all(func(t *meter.Meter) {
		if t.Calibration() != nil {
			out = append(out, journal.MeterState{Key: t.Key(), State: t.State()})
		}
	})
	return out
}

// limits returns what refusals taught.
func (m *Machine) limits() []journal.Limit {
	names := map[string]bool{}
	for name := range m.learnt {
		names[name] = true
	}
	for name := range m.learntBytes {
		names[name] = true
	}
	var out []journal.Limit
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, journal.Limit{Target: name, Window: m.learnt[name], Bytes: m.learntBytes[name]})
	}
	return out
}

// ruleStates returns what the rules have done, in their order.
func (m *Machine) ruleStates() []journal.RuleState {
	var out []journal.RuleState
	for _, r := range m.policy.Rules {
		s := journal.RuleState{Rule: r.Name, Tried: m.tried[r.Name], Due: m.due[r.Name], Noted: m.noted[r.Name]}
		if s != (journal.RuleState{Rule: r.Name}) {
			out = append(out, s)
		}
	}
	return out
}

// recall takes m to a state that was written. Messages and edits are there already.
func (m *Machine) recall(s *journal.State, answered map[int]journal.Dialogue) {
	m.lastEdit, m.reports = max(m.lastEdit, s.LastEdit), s.Reports
	m.lastUsage, m.covered = s.Usage, s.Covered
	for _, r := range s.Rules {
		if r.Tried != (journal.Situation{}) {
			m.tried[r.Rule] = r.Tried
		}
		if r.Due {
			m.due[r.Rule] = true
		}
		if r.Noted {
			m.noted[r.Rule] = true
		}
	}
	m.setFinal(Reason(s.Final)) // before the counts, for which it changes the tools
	for _, t := range s.Meters {
		m.remembered[t.Key] = t
	}
	m.all(m.takeUp)
	m.declined = declined{s.Declined.To, s.Declined.Tokens}
	for _, a := range s.Asks {
		m.askAgain(a)
	}
	if d, ok := answered[s.Summary]; ok {
		m.hold(d)
	}
	if i := slices.IndexFunc(m.targets, func(t budget.Target) bool { return t.Name() == s.Sent.Target }); i >= 0 && s.Sent.Target != "" {
		m.to = i
		m.sent.target, m.sent.meter, m.sent.edit = i, m.count[i], s.Sent.Edit
		m.sent.end, m.sent.output = s.Sent.Messages, s.Sent.Output
	}
	m.wanted, m.opened = Reason(s.Wanted), s.Opened
	m.guard.Restore(s.Guard) // last: what was set before is in it
}

// takeUp takes a meter to where it was when the state was written. One of a target that
// is named only later finds it then.
func (m *Machine) takeUp(t *meter.Meter) {
	s, ok := m.remembered[t.Key()]
	if !ok || t.Calibration() == nil {
		return
	}
	_ = t.Restore(s.State, m.past()) // where it is of another past, all there is counts
	delete(m.remembered, t.Key())
}

// viewAt returns the view of the first messages under the edits up to one.
func (m *Machine) viewAt(messages int, last edit.ID) (edit.View, bool) {
	v, err := meter.Border{Messages: messages, Edit: last}.View(m.messages, m.journal)
	return v, err == nil
}
