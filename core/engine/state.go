package engine

import "github.com/plimsoll-dev/plimsoll/core/journal"

// writeState puts into the next Ready all that a restart could not tell from messages and
// edits (law 4). It is written beside each request, so once a Step, but not beside one that
// is the last one over again, with the same sums. leaves says that the request is on its
// way; of one that was refused none of the counts knows.
func (m *intake) writeState(leaves bool) {
	if m.wrote != nil && (m.wroteLeft || !leaves) && m.wrote.Sent.Target == m.SentTo().Name() && m.wrote.Guard == m.guard.State() {
		return
	}
	s := m.state()
	m.record(journal.Record{Kind: journal.KindState, State: s})
	m.wrote, m.wroteLeft = s, leaves
}

func (m *intake) state() *journal.State {
	s := &journal.State{
		LastEdit: m.lastEdit, Reports: m.reports, Guard: m.guard.State(), Usage: m.lastUsage, Covered: m.covered, Opened: m.opened,
		Wanted: string(m.wanted), Final: string(m.final), Limits: m.limits(), Meters: m.meterStates(), Rules: m.ruleStates(),
		Targets:  m.triedFor,
		Declined: journal.DeclinedSummary{To: m.declined.to, Tokens: m.declined.tokens, Failed: m.declined.failed},
	}
	for _, a := range m.asks {
		if a.Background {
			s.Asks = append(s.Asks, a.recorded())
		}
	}
	if m.summary != nil {
		s.Summary = m.summary.ask
	}
	if m.sent.meter != nil {
		s.Sent = journal.Sent{Target: m.SentTo().Name(), Edit: m.sent.edit, Messages: m.sent.end, Output: m.sent.output}
	}
	return s
}
