package crosscheck

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// sticky is law 5: what the last request showed is shown again, unless an edit made since is about it.
func (r *run) sticky(v *sight, edits []edit.Edit) {
	if r.sent == nil {
		return
	}
	var since []edit.Edit
	byID := map[edit.ID]edit.Edit{}
	for _, e := range edits {
		byID[e.ID] = e
		if !r.sent.journal[e.ID] {
			since = append(since, e)
		}
	}
	about, gone := touched(since, byID)
	now := slices.DeleteFunc(slices.Clone(v.send.Items), func(it edit.Item) bool {
		return it.IsNote() && slices.ContainsFunc(it.Edits, func(id edit.ID) bool { return r.sent.back[id] })
	})
	next := 0
	for _, it := range r.sent.send.Items {
		if it.IsNote() && slices.ContainsFunc(it.Edits, func(id edit.ID) bool { return gone[id] }) || about(it) {
			continue
		}
		at := slices.IndexFunc(now[next:], func(n edit.Item) bool { return sameItem(it, n) })
		if at < 0 {
			r.fail("law 5", "message %d (before %d, edits %v) was sent and is not shown as it was, which no new edit says: %s", it.Message.ID, it.Before, it.Edits, brief(fmt.Sprintf("%+v", it.Message)))
		}
		if len(since) == 0 && at > 0 {
			r.fail("law 5", "something new stands before message %d", it.Message.ID)
		}
		next += at + 1
	}
	if len(since) > 0 || r.anew {
		return
	}
	for i, s := range r.sent.send.Sections {
		if i >= len(v.send.Sections) || v.send.Sections[i].Text != s.Text {
			r.fail("law 5", "section %d is another one without an edit", i)
		}
	}
}

// touched returns what new edits are about: the messages of their spans and of the spans that they supersede, and the edits that end.
func touched(since []edit.Edit, byID map[edit.ID]edit.Edit) (about func(edit.Item) bool, gone map[edit.ID]bool) {
	gone = map[edit.ID]bool{}
	var spans []edit.Span
	var visit func(e edit.Edit)
	visit = func(e edit.Edit) {
		spans = append(spans, e.Span)
		for _, id := range e.Supersedes {
			if !gone[id] {
				gone[id] = true
				visit(byID[id])
			}
		}
	}
	for _, e := range since {
		if e.Op != edit.Insert || len(e.Supersedes) > 0 { // a note may take another one's place
			visit(e)
		}
	}
	return func(it edit.Item) bool {
		return slices.ContainsFunc(spans, func(s edit.Span) bool { return it.Before >= s.From && it.Before < s.To })
	}, gone
}

func sameItem(a, b edit.Item) bool {
	return a.Message.ID == b.Message.ID && a.Before == b.Before && a.Message.Role == b.Message.Role && a.Message.Flags == b.Message.Flags && sameParts(a.Message.Parts, b.Message.Parts) == ""
}
