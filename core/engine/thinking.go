package engine

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// breaks returns the messages whose thinking an edit has broken.
func (m *past) breaks(e edit.Edit) (edit.Span, bool) {
	n, _ := slices.BinarySearchFunc(m.thoughts, e.ID, func(t journal.Thought, id edit.ID) int { return cmp.Compare(t.Edit, id) })
	if n == 0 || e.Kind == edit.KindProvider && e.Op == edit.Archive {
		return edit.Span{}, false // all of it was made under the edit, or the provider has made it
	}
	from := e.Span.From
	if len(e.Sections) > 0 {
		from = 1
	}
	for _, id := range e.Supersedes { // such as a note that is taken away
		if i, found := slices.BinarySearchFunc(m.journal, id, func(e edit.Edit, id edit.ID) int { return cmp.Compare(e.ID, id) }); found {
			from = min(from, m.journal[i].Span.From)
			if len(m.journal[i].Sections) > 0 {
				from = 1
			}
		}
	}
	last := m.thoughts[n-1].Message
	return edit.Span{From: from, To: last + 1}, from <= last
}

// reconsider finds anew what thinking in the view is broken. Edits that were made under the
// same thinking count as one: what the earliest of them has changed. System prompt and tools stand
// before everything, and a final Step has other tools: final says that the next one is one.
func (m *past) reconsider(final bool) {
	m.broken = nil
	if len(m.thoughts) == 0 {
		return
	}
	for _, e := range m.journal {
		if s, ok := m.breaks(e); ok {
			m.breakUp(s)
		}
	}
	for _, t := range m.thoughts {
		if t.Final != final || t.Front != m.front {
			m.breakUp(edit.Span{From: t.Message, To: t.Message + 1})
		}
	}
	m.broken = slices.DeleteFunc(m.broken, func(s edit.Span) bool { return !m.showsThought(s) })
}

// breakUp adds messages to those whose thinking is broken.
func (m *past) breakUp(s edit.Span) {
	i, found := slices.BinarySearchFunc(m.broken, s.To, func(s edit.Span, to llm.MessageID) int { return cmp.Compare(s.To, to) })
	if found {
		m.broken[i].From = min(m.broken[i].From, s.From)
	} else {
		m.broken = slices.Insert(m.broken, i, s)
	}
}

// showsThought reports whether thinking of some messages stands in the view.
func (m *past) showsThought(s edit.Span) bool {
	n, _ := slices.BinarySearchFunc(m.thoughts, s.From, func(t journal.Thought, id llm.MessageID) int { return cmp.Compare(t.Message, id) })
	for _, t := range m.thoughts[n:] {
		if t.Message >= s.To {
			return false
		}
		at, _ := slices.BinarySearchFunc(m.view.Items, t.Message, func(it edit.Item, id llm.MessageID) int { return cmp.Compare(it.Before, id) })
		for ; at < len(m.view.Items) && m.view.Items[at].Before == t.Message; at++ {
			if it := m.view.Items[at]; !it.IsNote() && slices.ContainsFunc(it.Message.Parts, isThinking) {
				return true
			}
		}
	}
	return false
}

// withoutThinking returns the items of the view, without the thinking of some messages.
func (m *past) withoutThinking(of []edit.Span) []edit.Item {
	items := m.view.Items[:len(m.view.Items):len(m.view.Items)]
	if len(of) == 0 {
		return items
	}
	items = slices.Clone(items)
	for i, it := range items {
		if !it.IsNote() && slices.ContainsFunc(of, func(s edit.Span) bool { return s.Contains(it.Message.ID) }) {
			items[i].Message = edit.WithoutThinking(it.Message)
		}
	}
	return items
}

// beforeNewestRound returns spans up to the Round that the model has not answered yet, whose
// thinking has to be whole.
func (m *past) beforeNewestRound(all []edit.Span) []edit.Span {
	tail := m.tail()
	var out []edit.Span
	for _, s := range all {
		if s.To = min(s.To, tail); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// thinksNow reports whether the Round that the model has not answered yet begins with
// thinking.
func (m *past) thinksNow() bool {
	at := m.tail()
	return int(at) <= len(m.messages) && slices.ContainsFunc(m.messages[at-1].Parts, isThinking)
}
