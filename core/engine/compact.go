package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Compact asks for a compaction now, whatever the thresholds say: by the policy's
// own summary if it has one that replaces what it is about, else by one of everything
// before the tail. An Ask follows unless there is nothing to take out.
type Compact struct {
	Focus string // what is to be kept above all, in a person's words
}

func (Compact) input() {}

// feedCompact asks for the summary that a person wants now. It does not depend on any
// threshold, and works under every policy.
func (m *Machine) feedCompact(in Compact) {
	r := m.compaction()
	s := m.scene(r)
	m.request.to = m.choose() // where the next request goes, as it is now
	held, asked := m.summary, len(m.asks)
	if _, ok := m.summarySpan(r, s); ok && asked == 0 {
		m.summary = nil // a newer one is made of what it is about
	}
	m.askAbout(r, s, Ask{Focus: in.Focus, byHand: true})
	if len(m.asks) == asked {
		m.summary = held // none is
		m.event(EventCompact, r.Name, "%s", m.whyNot(r, s))
	}
}

// whyNot says why a compaction asks nothing.
func (m *Machine) whyNot(r policy.Rule, s edit.Scene) string {
	switch span, ok := m.summarySpan(r, s); {
	case len(m.asks) > 0:
		return "a summary is being made already"
	case !ok:
		return fmt.Sprintf("nothing to compact: the newest %d messages stay as they are", len(m.messages)-int(span.To)+1)
	}
	return "nothing can be taken out now"
}
