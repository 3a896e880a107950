package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// SetPolicy changes the policy from now on. Edits already made stay.
type SetPolicy struct{ Policy policy.Policy }

func (SetPolicy) input() {}

func (m *Machine) feedPolicy(p policy.Policy) error {
	if err := policy.Validate(p); err != nil {
		return fmt.Errorf("engine: set policy: %w", err)
	}
	if m.request.phase == phaseAsking {
		return fmt.Errorf("engine: set policy: want it between calls, got it while a call waits for an answer")
	}
	old := m.policy
	m.policy = p
	if err := m.setTargets(m.stated); err != nil {
		m.policy = old
		return err
	}
	m.record(journal.Record{Kind: journal.KindPolicy, Policy: &p})
	// What the old rules were up to means nothing to the new ones.
	m.summary, m.declined = nil, declined{}
	m.dropAsks()
	m.setFinal(ReasonNone)
	clear(m.due)
	clear(m.tried)
	clear(m.noted)
	m.guard.Rebase(m.gauge.Total())
	m.indexLines()
	return nil
}
