package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TurnEnd says that the Turn is over: the model gave its final answer.
type TurnEnd struct{}

func (TurnEnd) input() {}

func (m *Machine) feedTurnEnd() {
	m.record(journal.Record{Kind: journal.KindTurnEnd})
	m.background(policy.AtTurnEnd)
}
