package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Machine keeps one conversation within its window. It is not safe for
// concurrent use. Make one with [New].
//
// It stands in floors, each a type that embeds the one below and knows nothing of those
// above: what it was told to go by, what happened, what is counted, what is compared, what
// edits, reduces, asks, acts, takes in and requests. The Inputs stand on top.
type Machine struct{ prompter }

// reset makes m as it was when it was new, but for its policy and targets.
func (m *Machine) reset() {
	var empty Machine
	empty.rulebook, empty.stated, empty.sent.seq = m.rulebook, m.stated, m.sent.seq
	empty.stored, empty.stats.Edits = map[llm.Ref]bool{}, map[edit.Kind]int{}
	empty.learnt, empty.learntBytes, empty.accepted = map[string]int{}, map[string]int{}, map[string]int{}
	empty.remembered = map[string]journal.MeterState{}
	empty.uses = map[string]deferral.Use{}
	empty.due, empty.tried, empty.noted = map[string]bool{}, map[string]journal.Situation{}, map[string]bool{}
	empty.front = journal.FrontOf(nil, nil)
	*m = empty
}
