package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// preparing is a Prepare on its way to a Send.
type preparing struct {
	rule    int // the next rule to look at
	waiting int // the Ask that has to be answered first; 0: none
}

func (m *Machine) feedPrepare(in Prepare) error {
	if len(in.Targets) > 0 {
		if err := m.setTargets(in.Targets); err != nil {
			return err
		}
	}
	if err := m.repair(); err != nil {
		return err
	}
	m.guard.BeginRequest()
	m.prepare = &preparing{}
	m.goOn()
	return nil
}

// goOn takes the request through the remaining rules, the backstop and out,
// unless an answer has to come first.
func (m *Machine) goOn() {
	p := m.prepare
	for ; p.rule < len(m.policy.Rules); p.rule++ {
		r := m.policy.Rules[p.rule]
		if !m.dueNow(r) || !m.untried(r) {
			continue
		}
		m.act(r)
		if p.waiting > 0 {
			p.rule++
			return
		}
	}
	m.finish()
}

// dueNow reports whether r acts before this call: a rule of this moment whose
// condition holds, or one whose moment has passed since.
func (m *Machine) dueNow(r policy.Rule) bool {
	if m.final != ReasonNone && r.Do != policy.DoFinal {
		return false
	}
	switch r.At {
	case policy.AtPrepare:
		return m.holds(r.When, nil)
	case policy.AtUsage, policy.AtRejected, policy.AtTurnEnd:
		was := m.due[r.Name]
		delete(m.due, r.Name)
		return was
	}
	return false
}

// untried reports whether r has not been tried on this very state, and notes
// that it is now (law 7).
func (m *Machine) untried(r policy.Rule) bool {
	now := state{len(m.messages), len(m.journal)}
	if m.tried[r.Name] == now {
		return false
	}
	m.tried[r.Name] = now
	return true
}

// finish lets the backstop act and makes the Send.
func (m *Machine) finish() {
	m.prepare = nil
	target := m.targets[0]
	limit := target.Window.Limit()
	if m.policy.Backstop && m.over() {
		m.backstop()
	}
	m.sent++
	s := &Send{
		Seq: m.sent, Target: target, Sections: m.allSections(), Items: m.view.Items[:len(m.view.Items):len(m.view.Items)],
		Tools: m.offered(), Count: m.Count(), Limit: limit, Edited: len(m.view.Edits()) > 0, Final: m.final,
		Verdict: m.verdict(),
	}
	s.DropBrokenThinking = m.brokenThinking()
	if m.policy.Backstop && m.over() {
		refused := m.overError()
		if m.policy.OnFloor != "send" {
			m.stats.Refused++
			m.out.Refused = refused
			return
		}
		s.StillOver = true
		m.stats.StillOver++
		m.event(EventStillOver, "", "still over limit after shrink: %v", refused)
	}
	m.out.Send = s
}

// over reports whether the request does not fit the preferred target.
func (m *Machine) over() bool {
	w := m.targets[0].Window
	bytes, images := m.count[0].wire()
	return m.Count().Bound > w.Limit() || w.MaxBytes > 0 && bytes > w.MaxBytes || w.MaxImages > 0 && images > w.MaxImages
}

// verdict says for every target whether the view fits it: by the guard's
// counters where the policy asks them, else by the count.
func (m *Machine) verdict() budget.Verdict {
	v := budget.Verdict{Next: -1}
	for i, t := range m.targets {
		n, limit := m.count[i].estimate(m.cfg.Offline).Bound, t.Window.Limit()
		if i == 0 {
			v.Projection = budget.Projection{Base: n, WithSchema: n}
		}
		v.Entries = append(v.Entries, budget.Entry{Target: t, Limit: limit, Blocked: n > limit})
		if n <= limit && v.Next < 0 {
			v.Next = i
		}
	}
	instead := budget.Skip
	if v.Next < 0 {
		instead = budget.Final
	}
	for i := range v.Entries {
		if v.Entries[i].Blocked {
			v.Entries[i].Decision = instead
		}
	}
	v.Decision = v.Entries[0].Decision
	return v
}

// brokenThinking reports whether an edit stands before thinking that the model
// made without it.
func (m *Machine) brokenThinking() bool {
	for _, e := range m.view.Edits() {
		if e.Op != edit.Insert {
			return true
		}
	}
	return false
}
