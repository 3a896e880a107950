package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// reduceText reduces what is no media.
func (m *reducer) reduceText() {
	for _, rung := range []func(int) edit.Plan{m.longPins, m.oldest, m.notes, m.summaries, m.newest, m.promptSummaries, m.allLongPins} {
		for try := range tries {
			if !m.over() {
				return
			}
			p := rung(m.need(try))
			if p.Gain() <= 0 || !m.adopt(p, backstopRule) {
				break
			}
		}
	}
}

// longPins leaves of long messages that are pinned their ends, where the policy has it so.
func (m *reducer) longPins(int) edit.Plan {
	return m.withoutLongPins(m.backstopScene(m.tail()), false)
}

// allLongPins does so among the newest messages, too.
func (m *reducer) allLongPins(int) edit.Plan {
	return m.withoutLongPins(m.backstopScene(llm.MessageID(len(m.messages))+1), true)
}

func (m *reducer) oldest(need int) edit.Plan {
	need += budget.Share(m.resolved[m.request.to].Window.Limit(), backstopSpare)
	return m.backstopScene(m.tail()).Demote(need, edit.DemoteArgs{
		Stub: backstopStub, Archive: backstopArchive, Kind: edit.KindStub, KindDrop: edit.KindDrop,
	})
}

// notes archives the notes in the tail that are not pinned.
func (m *reducer) notes(int) edit.Plan {
	tail, end := m.tail(), llm.MessageID(len(m.messages))+1
	s := m.backstopScene(end)
	s.Pinned = func(msg llm.Message) bool {
		return m.pinned(msg) || msg.ID >= tail && msg.Origin != llm.Note
	}
	return gaining(s.Drop(edit.Span{From: 1, To: end}, edit.KindDrop, "no room"))
}

// summaries leaves of archives their lines. A summary goes before what the model has not
// read yet, without which it cannot go on.
func (m *reducer) summaries(int) edit.Plan {
	return gaining(m.backstopScene(m.tail()).Unsummarised(false, edit.KindDrop, "no room"))
}

// promptSummaries leaves of summaries in the system prompt the lines of their archives. There a
// summary stands for most of a conversation, and goes only where nothing else can: its model has
// a smaller window than the one that it was written for.
func (m *reducer) promptSummaries(int) edit.Plan {
	return gaining(m.backstopScene(m.tail()).Unsummarised(true, edit.KindDrop, "no room"))
}

func (m *reducer) newest(need int) edit.Plan {
	s := m.backstopScene(llm.MessageID(len(m.messages)) + 1)
	return s.Demote(need, edit.DemoteArgs{Stub: backstopStub, Kind: edit.KindStub})
}
