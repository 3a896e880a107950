package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// state returns what t knows beyond what is shown.
func (t *meter) state() journal.MeterState {
	s := journal.MeterState{Key: t.key}
	if !t.taught {
		s.Calibration = t.cal.State()
	}
	if t.anchored {
		s.Anchor = &journal.Anchor{
			Border: t.written(t.border, t.was), Prompt: t.anchor.Prompt, Output: t.anchor.Output, Doubt: t.doubt, Reply: t.reply,
		}
	}
	if t.left != nil {
		left := t.written(t.left.border, t.left.front)
		s.Left = &left
	}
	if t.awaited > 0 {
		s.Awaited = &journal.Awaited{Output: t.awaited, Reasoning: t.reasoning, Covers: t.covers}
	}
	return s
}

// written returns a border with what stood before its messages, where that is not what
// does now.
func (t *meter) written(b border, f front) journal.Border {
	out := journal.Border{Messages: int(b.next) - 1, Edit: b.edit}
	if f != t.front {
		out.Front = &journal.Front{Sizes: f.sizes, Hidden: f.hidden}
	}
	return out
}

// A past tells what a conversation was at a moment.
type past interface {
	// viewAt returns the view of so many messages under the edits up to one. It is false
	// where there was no such view.
	viewAt(messages int, last edit.ID) (edit.View, bool)
	message(id llm.MessageID) (llm.Message, bool)
}

// restore takes t, which has booked the view as it is now, to a state that was written:
// it goes from the prompt that was reported to the request that left, and on to now, as
// it went then.
func (t *meter) restore(s journal.MeterState, now edit.View, p past) {
	if !t.taught {
		t.cal.Restore(s.Calibration)
	}
	present, at := t.front, now
	if a := s.Anchor; a != nil {
		then, ok := p.viewAt(a.Messages, a.Edit)
		if !ok {
			return
		}
		t.anchor, t.anchored, t.doubt, t.reply = token.Anchor{Prompt: a.Prompt, Output: a.Output}, true, a.Doubt, a.Reply
		if reply, ok := p.message(a.Reply); ok {
			then.Append(reply)
		}
		t.growing = growing{border: borderOf(a.Border), was: frontOf(a.Border, present)}
		each(then.Items, func(it edit.Item, n int) { t.base = t.base.Add(t.size(it, n)) })
		at = then
	}
	if s.Left != nil {
		if then, ok := p.viewAt(s.Left.Messages, s.Left.Edit); ok {
			t.differ(at, then)
			t.front = frontOf(*s.Left, present)
			t.rebuild(then)
			t.leave(borderOf(*s.Left), then)
			at = then
		}
	}
	t.differ(at, now)
	t.front = present
	t.rebuild(now)
	if w := s.Awaited; w != nil {
		t.awaited, t.reasoning, t.covers = w.Output, w.Reasoning, w.Covers
	}
}

func borderOf(b journal.Border) border { return border{llm.MessageID(b.Messages) + 1, b.Edit} }

func frontOf(b journal.Border, present front) front {
	if b.Front == nil {
		return present
	}
	return front{b.Front.Sizes, b.Front.Hidden}
}
