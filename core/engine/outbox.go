package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
)

// An outbox is what the next Ready holds, and how far the last one got.
type outbox struct {
	out       Ready
	handed    bool // out was handed out and Advance has to come
	stopped   bool // records could not be written
	confirmed int  // edits of the journal that are durable
	stats     Stats
	wrote     *journal.State // that was put into a Ready last, while nothing has happened since
	wroteLeft bool           // it stood beside a request that left
}

func (m *outbox) record(r journal.Record) {
	m.out.Records = append(m.out.Records, r)
	m.wrote = nil
}

func (m *outbox) event(kind EventKind, rule, format string, args ...any) {
	m.out.Events = append(m.out.Events, Event{Kind: kind, Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// Stats returns what the machine did so far.
func (m *outbox) Stats() Stats { return m.stats }
