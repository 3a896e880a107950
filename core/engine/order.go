package engine

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// orderRule is the name of edits that put away what cannot be sent as it stands.
const orderRule = "order"

// whole returns a *turn.TornError if a provider would refuse the view for a call without
// its result or a result without its call (law 3). It looks at what was appended since
// the last time, and after any edit at all there is.
func (m *reducer) whole() error {
	now := wholeness{edit: m.lastEdit, journal: len(m.journal)}
	if m.checked.edit == now.edit && m.checked.journal == now.journal && m.checked.Len() <= len(m.view.Items) {
		now.Order = m.checked.Order
	}
	for _, it := range m.view.Items[now.Len():] {
		if err := now.Next(it.Message); err != nil {
			return err
		}
	}
	m.checked = now
	return now.End()
}

// mend puts the Rounds away that cannot be sent as they are. Nothing that is appended
// leads to one; records of a time in which it could have them.
func (m *reducer) mend() {
	for range len(m.messages) { // each put away is one Round less
		var torn *turn.TornError
		if !errors.As(m.whole(), &torn) {
			return
		}
		r, ok := m.turns.RoundAt(int(m.view.Items[torn.Position].Before) - 1)
		if !ok {
			return
		}
		s := m.backstopScene(llm.MessageID(len(m.messages)) + 1)
		s.Pinned = func(llm.Message) bool { return false }
		s.Rule = orderRule
		span := edit.Span{From: llm.MessageID(r.Call) + 1, To: llm.MessageID(r.End) + 1}
		if !m.adopt(s.Drop(span, edit.KindDrop, "calls and results do not stand as providers want them"), orderRule) {
			return
		}
		m.event(EventOrphan, orderRule, "messages %d to %d are put away: %v", span.From, span.To-1, torn)
	}
}
