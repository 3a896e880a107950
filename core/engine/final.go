package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// force makes this the final Step (R000-14): the reason is set, once, and told; the tools
// are restricted; the guard commits what it has; and the model is told why (R000-15). The
// tools come before the commit, other than in the document, since the new tool list may
// be the first thing that a session measures, which begins a Turn for the guard. Nobody
// sees the machine in between.
func (m *ruler) force(reason Reason, rule, text string) {
	if m.final != ReasonNone {
		return
	}
	m.wanted = ReasonNone
	action := m.action(reason)
	m.event(EventFinal, rule, "%s", reason.Sentence())
	m.out.Events[len(m.out.Events)-1].Guard = &action
	m.traceEnforce(action)
	m.setFinal(reason)
	m.guard.Enforce()
	used := m.window().Percent(max(m.guard.Counters().Total(), m.Count().Point)) // R000-15, by whichever is more
	m.note(edit.Fill(orElse(text, finalTexts[reason]), edit.Values{Used: used}), rule, fmt.Sprintf("final Step: %s", reason))
}

// action says what the guard forces a final Step for.
func (m *ruler) action(reason Reason) GuardAction {
	a := GuardAction{Did: ForcedFinal, Reason: reason, Target: m.resolved[0], Limit: m.resolved[0].Window.Limit()}
	a.Projected = m.projected(0)
	switch {
	case reason != ReasonContext:
	case m.guard.Exceeded():
		a.Trigger = ToolPreflight
	default:
		a.Trigger = TurnPreflight
	}
	return a
}
