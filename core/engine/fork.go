package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Fork makes an empty machine the continuation of another one, as it was when
// it had At messages. Every edit that the parent had sent is repeated, where the
// Snapshot was collected from the parent's records and a fork's own after them,
// since only that one holds what later edits superseded (see journal.Collect).
type Fork struct {
	Parent   string
	At       llm.MessageID
	Snapshot journal.Snapshot
}

func (Fork) input() {}

// feedFork is Restore of another machine's past: its messages up to At, and what was made
// of them.
func (m *Machine) feedFork(in Fork) error {
	if len(m.messages) > 0 {
		return fmt.Errorf("engine: fork of %q: this machine has %d messages, want an empty one", in.Parent, len(m.messages))
	}
	if n := len(in.Snapshot.Messages); int(in.At) != n || in.Snapshot.Fork != (journal.Fork{Parent: in.Parent, At: in.At}) {
		return fmt.Errorf("engine: fork of %q: at message %d, want a snapshot that was collected with the fork's own record, got one of %d messages", in.Parent, in.At, n)
	}
	past := in.Snapshot
	if n := len(past.Tail); n > 0 {
		past.Tail = past.Tail[:n-1] // the fork's own record, which is to be written
	}
	if err := m.feedRestore(past); err != nil {
		return err
	}
	m.wrote = nil
	open := m.asks
	m.asks, m.asked = nil, past.LastAsk
	m.record(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: in.Parent, At: in.At}})
	for i, a := range open { // what nobody waits for is asked again: the answer would have been this machine's, too
		a.ID = past.LastAsk + 1 + i
		m.asks = append(m.asks, a)
		m.record(journal.Record{Kind: journal.KindAsk, Ask: a.recorded()})
	}
	return nil
}
