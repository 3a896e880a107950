package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Rejected says that a provider refused the request as too long.
type Rejected struct {
	// Bytes says that it was the bytes that were too many: from now on a tenth less
	// than what was refused is sent to that target.
	Bytes  bool
	Window int // as the error states it; 0 if it does not
	Used   int // tokens of the refused request, as the error states them; 0 if it does not
}

func (Rejected) input() {}

// feedRejected learns the real window and lets the rules for it act before the
// next call; that call is prepared at once.
func (m *Machine) feedRejected(in Rejected) error {
	if err := checkUsage(llm.Usage{Input: in.Used}); err != nil {
		return err
	}
	if in.Window < 0 || in.Window > mostUsage {
		return &UsageError{"window", in.Window}
	}
	to := m.SentTo()
	if i := m.named(to.Name()); in.Window > 0 && i < 0 { // it is kept for when that one is named again
		m.taught(journal.Limit{Target: to.Name(), Window: in.Window})
	} else if in.Window > 0 && in.Window < to.Window.Input() {
		if err := m.learn(i, in.Window); err != nil {
			return err
		}
		m.event(EventWindow, "", "the provider states a window of %d", in.Window)
	}
	rejected := journal.Rejected{Target: to.Name(), Window: in.Window, Used: in.Used}
	if in.Bytes {
		limit, err := m.tooLarge(to.Name())
		if err != nil {
			return err
		}
		rejected.Bytes = limit
	}
	m.record(journal.Record{Kind: journal.KindRejected, Rejected: rejected})
	m.heard(in.Used)
	m.request.phase = phaseRefused
	clear(m.tried)
	if !in.Bytes { // media go first; what the policy does about tokens is for tokens
		m.background(policy.AtRejected)
	}
	return m.feedPrepare(Prepare{})
}

// heard takes what a refused request had, by its provider, for a report where the count
// was lower.
func (m *Machine) heard(used int) {
	if t := m.sender(); used > t.Count().Bound {
		t.Usage(meter.Usage{Usage: llm.Usage{Input: used}, Reported: true, OutputUnknown: true}, m.border(), m.view)
	}
}

// tooLarge takes the limit of a target's bytes for nine tenths of what the view has.
func (m *Machine) tooLarge(target string) (limit int, err error) {
	bytes, _ := m.sender().Wire()
	limit = max(bytes*9/10, 1)
	if old, ok := m.learntBytes[target]; ok {
		limit = min(limit, old)
	}
	m.learntBytes[target] = limit
	m.event(EventWindow, "", "a request of some %d bytes was refused: at most %d are sent from now on", bytes, limit)
	return limit, m.aim(m.stated)
}
