package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A ruler does what the policy's rules ask for, each at most once on the same situation.
type ruler struct {
	asker
	due   map[string]bool // rules whose moment has passed: they act before the next call
	tried map[string]journal.Situation
	noted map[string]bool // rules whose note stands until there is room again

	triedFor string // the key of the targets that the rules have tried for
	planned  planning
}

// A planning is what a batch is planned from, and what came of it. As a rule one that may wait is
// planned right before one that must not, of the same view: what came of the first is what the
// second would plan.
type planning struct {
	at        journal.Situation
	keep      llm.MessageID
	low, need int
	args      policy.Args

	plan edit.Plan
}

// sees reports whether two plannings see the same, within one pass through the rules.
func (p *planning) sees(o planning) bool {
	return p.at == o.at && p.keep == o.keep && p.low == o.low && p.need == o.need && p.args == o.args
}

// made returns what comes of now, for a rule: what came of p if that saw the same, else what plan
// makes, which p is then.
func (p *planning) made(now planning, rule string, plan func() edit.Plan) edit.Plan {
	if !p.sees(now) {
		now.plan = plan()
		*p = now
	}
	out := p.plan
	out.Edits = slices.Clone(out.Edits)
	for i := range out.Edits {
		out.Edits[i].Rule = rule
	}
	return out
}

// aim takes the windows of the targets anew. In other windows another plan may do, so
// that every rule may try once more.
func (m *ruler) aim(targets []budget.Target) error {
	if err := m.setTargets(targets); err != nil {
		return err
	}
	clear(m.tried)
	return nil
}

// speaks reports whether the condition of r holds. If it does not, there is room
// again, and a note that r made may come anew.
func (m *ruler) speaks(r policy.Rule) bool {
	if m.holds(r.When, nil) {
		return true
	}
	if m.noted[r.Name] {
		delete(m.noted, r.Name)
		m.record(journal.Record{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: r.Name, Room: true}})
	}
	return false
}

// dueNow reports whether r acts before this call: a rule of this moment whose
// condition holds, or one whose moment has passed since.
func (m *ruler) dueNow(r policy.Rule) bool {
	if m.final == ReasonContext && r.Do != policy.DoFinal {
		return false // what the policy ended it does not shorten
	}
	if r.At == policy.AtPrepare {
		return m.speaks(r)
	}
	was := m.due[r.Name]
	delete(m.due, r.Name)
	if r.At == policy.AtRejected && r.When.Measure == "" && m.newestEdit() > m.sent.edit && !m.sentAnew() {
		return false // another rule has made it a different request
	}
	return was
}

// untried reports whether r has not been tried on this very state, and notes
// that it is now (law 7). Where nothing can be stored it is tried in vain.
func (m *ruler) untried(r policy.Rule) bool {
	if m.request.noStore {
		return true
	}
	now := m.situation()
	if m.tried[r.Name] == now {
		return false
	}
	m.tried[r.Name] = now
	return true
}

// triedAll notes that every rule had its turn in this situation.
func (m *ruler) triedAll() {
	for _, r := range m.policy.Rules {
		if r.At == policy.AtPrepare {
			m.tried[r.Name] = m.situation()
		}
	}
}

// setDue notes that a rule acts before the next call.
func (m *ruler) setDue(rule string) {
	if !m.due[rule] {
		m.due[rule] = true
		m.record(journal.Record{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: rule}})
	}
}

// background lets the rules of a moment ask questions or note that they are due.
func (m *ruler) background(at policy.Moment) {
	for _, r := range m.policy.Rules {
		if r.At != at || !m.speaks(r) {
			continue
		}
		if r.Do == policy.DoSummarise && r.Args.Background {
			m.ask(r, m.scene(r))
			continue
		}
		m.setDue(r.Name)
	}
}

// ruleStates returns what the rules have done, in their order.
func (m *ruler) ruleStates() []journal.RuleState {
	var out []journal.RuleState
	for i, r := range m.policy.Rules {
		s := journal.RuleState{Rule: r.Name, Tried: m.tried[r.Name], Due: m.due[r.Name], Noted: m.noted[r.Name]}
		if s != (journal.RuleState{Rule: r.Name}) {
			if out == nil {
				out = make([]journal.RuleState, 0, len(m.policy.Rules)-i)
			}
			out = append(out, s)
		}
	}
	return out
}

// sentAnew reports whether nothing but the figures of notes has changed since the request
// that was sent last, so that it is the same one.
func (m *ruler) sentAnew() bool {
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
