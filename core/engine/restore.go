package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Restore brings an empty or stopped machine to a recorded state.
type Restore struct{ Snapshot journal.Snapshot }

func (Restore) input() {}

// feedRestore takes an empty or stopped machine to where its records end: to the state
// that was written last, and from there on through what came after, as it went. Nothing
// is decided anew.
func (m *Machine) feedRestore(s journal.Snapshot) error {
	old := *m
	m.reset()
	if err := m.relive(s); err != nil {
		*m = old
		return fmt.Errorf("engine: restore: %w", err)
	}
	return nil
}

func (m *Machine) relive(s journal.Snapshot) error {
	if err := m.load(s); err != nil {
		return err
	}
	for rest := s.Tail; len(rest) > 0; {
		n := 1
		if rest[0].Kind == journal.KindEdit { // those of one plan were made at once
			for n < len(rest) && rest[n].Kind == journal.KindEdit && rest[n].Edit.Rule == rest[0].Edit.Rule {
				n++
			}
		}
		if err := m.apply(rest[:n], s.Answered); err != nil {
			return err
		}
		rest = rest[n:]
	}
	m.lastEdit = max(m.lastEdit, s.LastEdit)
	m.asked = s.LastAsk
	if len(m.asks) > 0 { // nobody has answered it, so it is asked again
		m.asked = m.asks[0].ID - 1
	}
	m.thoughts = slices.Clone(s.Thoughts)
	m.rethink()
	m.confirmed, m.held = len(m.journal), m.summary
	m.guard.Kept()
	m.out = Ready{}
	if len(s.Tail) == 0 && s.State != nil {
		m.wrote = s.State
		m.wroteLeft = slices.ContainsFunc(s.State.Meters, func(t journal.MeterState) bool { return t.State.Left != nil })
	}
	m.indexLines()
	m.traceInit()
	return nil
}

// load takes m to the state that was written last, with what there was beside it.
func (m *Machine) load(s journal.Snapshot) error {
	p := m.cfg.Policy
	if s.Base.Policy.Name != "" {
		p = s.Base.Policy
	}
	if err := policy.Validate(p); err != nil {
		return err
	}
	messages, edits := s.Messages[:s.Base.Messages], s.Edits
	edits = edits[:countTo(edits, s.Base.Edit)]
	view, err := edit.Fold(messages, edit.Holding(edits))
	if err != nil {
		return err
	}
	m.policy, m.view = p, view
	m.messages, m.journal = slices.Clone(messages), slices.Clone(edits)
	m.sections, m.told = s.Base.Sections, s.Base.Told
	m.setOffer(s.Base.Tools, s.Base.Offer, s.Base.Declared)
	m.front = journal.FrontOf(m.sections, m.active)
	m.reported = s.Outputs
	if s.State != nil {
		for _, l := range s.State.Limits {
			m.taught(l)
		}
	}
	if err := m.setTargets(m.stated); err != nil {
		return err
	}
	for _, msg := range messages {
		m.remark(msg)
		_ = m.turns.Append(msg) // orphans were refused when they were appended
	}
	for _, e := range edits {
		m.durableEdit(e)
	}
	if s.State != nil {
		m.recall(s.State, s.Answered)
	}
	return nil
}

// recall takes m to a state that was written. Messages and edits are there already.
func (m *Machine) recall(s *journal.State, answered map[int]journal.Dialogue) {
	m.lastEdit, m.reports = max(m.lastEdit, s.LastEdit), s.Reports
	m.lastUsage, m.covered = s.Usage, s.Covered
	m.triedFor = cmp.Or(s.Targets, m.key)
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
	m.declined = declined{s.Declined.To, s.Declined.Tokens, s.Declined.Failed}
	for _, a := range s.Asks {
		m.askAgain(a)
	}
	if d, ok := answered[s.Summary]; ok {
		m.hold(d)
	}
	if s.Sent.Target != "" {
		m.answeredBy(s.Sent.Target, "")
		m.sent.edit, m.sent.end, m.sent.output, m.sent.front = s.Sent.Edit, s.Sent.Messages, s.Sent.Output, m.front
		m.request.to = max(m.named(s.Sent.Target), 0)
	}
	m.wanted, m.opened = Reason(s.Wanted), s.Opened
	m.guard.Restore(s.Guard)      // last: what was set before is in it
	m.guard.SetSchema(m.schema()) // but for what other targets than those of then have tools take
}
