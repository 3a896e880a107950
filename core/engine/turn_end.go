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
	m.lastLook()
}

// lastLook lets the summaries be asked for that a usage has made due, so that the next Turn, which
// may be long in coming, begins with them.
func (m *Machine) lastLook() {
	for _, r := range m.policy.Rules {
		if r.At != policy.AtUsage || r.Do != policy.DoSummarise || !m.due[r.Name] || m.request.making() || !m.untried(r) {
			continue
		}
		if m.ask(r, m.scene(r)); len(m.asks) > 0 {
			delete(m.due, r.Name)
			return
		}
	}
}
