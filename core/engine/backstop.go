package engine

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Texts of the backstop where the policy has none.
const (
	backstopStub    = "[{tool} output, {bytes} bytes, stored as {ref}]"
	backstopArchive = "[{n} earlier messages stored as {ref}]"
)

// backstopRule is the name that the backstop's edits carry.
const backstopRule = "backstop"

// backstop reduces the view, step by step, until it fits or is the floor: older
// outputs to one line and older messages into the archive, then the notes among
// the newest messages, then the newest outputs.
func (m *Machine) backstop() {
	before := len(m.journal)
	for _, rung := range []func(*Machine) edit.Plan{(*Machine).oldest, (*Machine).notes, (*Machine).newest} {
		for range 6 {
			if !m.over() {
				break
			}
			p := rung(m)
			if p.Gain() <= 0 || !m.adopt(p, backstopRule) {
				break
			}
		}
	}
	m.stats.Backstop += len(m.journal) - before
}

// backstopLow is the share of the limit, in permille, that the backstop takes the
// older content down to once it has to act, so that it need not break the prefix
// again at the very next call.
const backstopLow = 850

// need returns by how much the view is above a share of the limit, by the count.
func (m *Machine) need(permille int) int { return max(m.Count().Bound-m.share(permille), 1) }

// backstopScene looks with the count, whatever the policy's own estimator is.
func (m *Machine) backstopScene(keep llm.MessageID) edit.Scene {
	return edit.Scene{
		Messages: m.messages, View: m.view, Turns: &m.turns,
		Size: m.count[0].part, Measure: m.count[0].message,
		Keep: keep, Pinned: m.pinned, Rule: backstopRule, Template: backstopArchive,
	}
}

func (m *Machine) oldest() edit.Plan {
	return m.backstopScene(m.tail()).Demote(m.need(backstopLow), edit.DemoteArgs{
		Stub: backstopStub, Archive: backstopArchive, Kind: edit.KindStub, KindDrop: edit.KindDrop,
	})
}

// notes archives the notes in the tail that are not pinned.
func (m *Machine) notes() edit.Plan {
	end := llm.MessageID(len(m.messages)) + 1
	s := m.backstopScene(end)
	s.Pinned = func(msg llm.Message) bool {
		return m.pinned(msg) || msg.ID >= m.tail() && msg.Origin != llm.Note
	}
	return s.Drop(edit.Span{From: 1, To: end}, edit.KindDrop, "no room")
}

func (m *Machine) newest() edit.Plan {
	s := m.backstopScene(llm.MessageID(len(m.messages)) + 1)
	return s.Demote(m.need(1000), edit.DemoteArgs{Stub: backstopStub, Kind: edit.KindStub})
}

// tail returns the first message that the model has not answered yet; if that is
// the result of a call, the message that made the call.
func (m *Machine) tail() llm.MessageID {
	at := len(m.messages)
	for at > 0 && m.messages[at-1].Origin != llm.Model {
		at--
	}
	for pos := at; pos < len(m.messages); pos++ {
		if r, ok := m.turns.RoundAt(pos); ok {
			return llm.MessageID(min(r.Call, at)) + 1
		}
	}
	return llm.MessageID(at) + 1
}

// floor returns an error if not even the floor fits: what would be left after
// every rung. It tries them on a copy, so that nothing is changed.
func (m *Machine) floor() error {
	trial := m.clone()
	trial.backstopAll()
	if !trial.over() {
		return nil
	}
	return trial.overError()
}

// backstopAll goes down all rungs without asking whether it fits already.
func (m *Machine) backstopAll() {
	for _, rung := range []func(*Machine) edit.Plan{(*Machine).oldest, (*Machine).notes, (*Machine).newest} {
		for range 6 {
			p := rung(m)
			if p.Gain() <= 0 || !m.adopt(p, backstopRule) {
				break
			}
			if !m.over() {
				return
			}
		}
	}
}

// overError says what does not fit and, of it, what nothing may be done about:
// it is asked for a view that the backstop has reduced.
func (m *Machine) overError() *budget.OverError {
	t, c := m.targets[0], m.count[0]
	parts := c.components()
	bytes, images := c.wire()
	f := budget.Floor{System: parts.System + parts.Skills, Tools: parts.Tools, Bytes: bytes, Images: images}
	tail := m.tail()
	for _, it := range m.view.Items {
		n := c.message(it.Message)
		if it.Before >= tail {
			f.NewestRound += n
		} else {
			f.Pins += n
		}
	}
	load := budget.Load{Count: m.Count().Bound, Components: parts, Bytes: bytes, Images: images}
	var over *budget.OverError
	if errors.As(budget.Check(t, load, f), &over) {
		return over
	}
	return &budget.OverError{Target: t, Used: load.Count, Limit: t.Window.Limit(), Floor: f}
}
