package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// What stands in place of outputs for which there is no room, where the policy has
// no text of its own (R000-13).
const (
	failText    = "(tool failed: context window budget exceeded)"
	skippedText = "(tool failed: context window budget exceeded; previous tool overflowed. Session will conclude after this turn.)"
)

// failed plans to show that an output found no room, and notes that the tool budget
// is exceeded.
func (m *Machine) failed(s edit.Scene, sp edit.Spot, r policy.Rule) edit.Plan {
	s.Template = orElse(m.text(r.Args.Template), failText)
	if m.guard.Exceeded() {
		s.Template = m.SkippedText()
	} else {
		m.exceed()
		m.event(EventToolBudget, r.Name, "the output of %s found no room: the tool budget is exceeded", orElse(sp.Tool, "a tool"))
	}
	return s.Stub(sp, edit.KindFail, edit.Beginning{}, "token budget: tool budget exceeded")
}

// SkippedText is what a host appends as the result of a call that it did not run: that
// another output overflowed before it ([Machine.CanExecute]), or that this one found no
// room.
func (m *Machine) SkippedText() string {
	if m.guard.CanExecute() {
		return orElse(m.text(policy.TemplateFail), failText)
	}
	return orElse(m.text(policy.TemplateSkipped), skippedText)
}

// CountText returns the tokens of a text: the most that the policy's estimator and
// the count of any target give.
func (m *Machine) CountText(text string) int {
	n := m.gauge.Text(text)
	for _, t := range m.count {
		if t != m.gauge {
			n = max(n, t.Text(text))
		}
	}
	return n
}

// CanExecute reports whether a tool may run: any, until an output found no room or
// the final Step was forced, and the policy's own at any time.
func (m *Machine) CanExecute(tool string) bool { return m.guard.CanExecute() || m.exempt(tool) }

// PreviewOutput reports whether an output of that many tokens has room, on top of
// what is reserved, without reserving it. A policy that ends where the
// context is full asks the guard. Any other one makes room before the next call, so
// that what counts is whether new content, system prompt and tools fit together.
func (m *Machine) PreviewOutput(tokens int) bool {
	if m.ends() {
		return m.guard.CanExecute() && m.guard.Preview(m.targets, tokens)
	}
	used, limit := m.Room()
	return used+min(max(tokens, 0), limit+1) <= limit
}

// exceed notes, for a restart too, that no more tools run in this Turn.
func (m *Machine) exceed() {
	m.guard.Exceed()
	m.record(journal.Record{Kind: journal.KindExceeded})
}

// Room returns what is used of the room that outputs share, and how much there is, in
// tokens of the largest target.
func (m *Machine) Room() (used, limit int) {
	for _, t := range m.targets {
		limit = max(limit, t.Window.Limit())
	}
	if m.ends() {
		return m.guard.Project(0).Base, limit
	}
	c := m.guard.Counters()
	return m.gauge.System() + c.Schema + c.Fresh + m.guard.Reserved(), limit
}

// ends reports whether the policy ends a Turn whose context is full.
func (m *Machine) ends() bool {
	return slices.ContainsFunc(m.policy.Rules, func(r policy.Rule) bool {
		return r.Do == policy.DoFinal && r.When.Measure == policy.MeasureGuard
	})
}
