package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A declined summary is one that was made and not used: it said next to nothing, or
// saved nothing. Each is a call that somebody pays for, so that nobody is asked again
// until there is more to summarise. The zero value: there was none.
type declined struct {
	to     llm.MessageID // the messages before it were to be replaced
	tokens int           // what they took in the view, by the policy's estimator
}

// How much has to come: half as much as the summary was about, as a small talk is not
// worth one soon; but no more than a twentieth of the limit, so that a large one, about
// which a model failed once, is asked about again before the window is full.
const (
	againPermille = 500
	againOfLimit  = 50
)

// decline notes that a summary of span was not used.
func (m *Machine) decline(span edit.Span) journal.Outcome {
	if m.noStore { // it was not the summary's fault
		return ""
	}
	m.declined = declined{to: span.To, tokens: m.coveredBy(span)}
	return journal.Declined
}

// worthAsking reports whether a summary of span may end otherwise than the one that was
// declined: enough has come behind what that one was about.
func (m *Machine) worthAsking(span edit.Span) bool {
	d := m.declined
	if d.to == 0 {
		return true
	}
	more := min(budget.Share(d.tokens, againPermille), budget.Share(m.window().Limit(), againOfLimit))
	return m.coveredBy(edit.Span{From: d.to, To: span.To}) >= max(more, m.policy.MinimumGain.Tokens, 1)
}
