package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Where a provider has its own summary stand for a conversation, what stands before it is no
// part of a prompt any more. An edit then takes that out of the view as well, so that what is
// counted is what the provider reads; it names nothing to the model, which has the summary.
// Where a request goes to somebody who cannot read the summary, the edit is taken back, and the
// summary is left out.

// compactionRule is in the journal the name under which that is done. The names of a policy's own
// rules have no colon.
const compactionRule = "provider:compaction"

// reads reports whether a target reads the compactions that a provider made.
func (m *rulebook) reads(t budget.Target, maker string) bool {
	row, known := m.cfg.Catalog.Lookup(t.Model)
	return known && row.Capabilities.Compaction && row.Provider == maker && (t.Provider == "" || t.Provider == maker)
}

// stands returns the edit by which what stands before a compaction leaves the view, the newest
// one if there are several; false if none holds.
func (m *past) stands() (edit.Edit, bool) {
	if len(m.compacting) == 0 {
		return edit.Edit{}, false
	}
	for _, e := range slices.Backward(m.view.Edits()) {
		if e.Kind == edit.KindProvider && e.Op == edit.Archive {
			return e, true
		}
	}
	return edit.Edit{}, false
}

// holder returns the message with the compaction by which an edit takes out what is before it: one
// of the reply that begins where the edit ends. 0 if there is none.
func (m *past) holder(e edit.Edit) llm.MessageID {
	for _, id := range m.compacting {
		if id >= e.Span.To {
			return id
		}
	}
	return 0
}

// holdsCompaction reports whether a message begins what the provider reads: it has to stay whole.
func (m *past) holdsCompaction(msg llm.Message) bool {
	if len(m.compacting) == 0 || llm.Compacts(msg) == "" {
		return false
	}
	e, ok := m.stands()
	return ok && m.holder(e) == msg.ID
}

// unread returns the messages with a compaction that stood for what is shown again.
func (m *past) unread() []llm.MessageID {
	if len(m.compacting) == 0 {
		return nil
	}
	held, _ := m.stands()
	var ids []llm.MessageID
	for _, e := range m.journal {
		if e.Kind != edit.KindProvider || e.Op != edit.Archive || e.Span.To <= held.Span.To {
			continue
		}
		if id := m.holder(e); id > 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// edited reports whether an edit changes what the client made. What a provider's own summary stands
// for its provider passes over by itself.
func (m *past) edited() bool {
	return len(m.unread()) > 0 || slices.ContainsFunc(m.view.Edits(), func(e edit.Edit) bool { return e.Op != edit.Undo && e.Kind != edit.KindProvider })
}

// putAside returns the end of what a compaction stood for that the engine itself has put aside, and that
// would stand again if everybody read it; 0 if there is none.
func (m *past) putAside() (id llm.MessageID) {
	for _, e := range m.journal {
		switch {
		case e.Kind == edit.KindProvider && e.Op == edit.Archive:
			id = 0
		case e.Op == edit.Undo:
			for _, gone := range e.Supersedes {
				if was, ok := madeAs(m.journal, gone); ok && was.Kind == edit.KindProvider {
					if id = 0; e.Rule == compactionRule {
						id = max(id, was.Span.To)
					}
				}
			}
		}
	}
	return id
}

// madeAs returns an edit by its number, whether or not it holds.
func madeAs(journal []edit.Edit, id edit.ID) (edit.Edit, bool) {
	n := countTo(journal, id)
	if n == 0 || journal[n-1].ID != id {
		return edit.Edit{}, false
	}
	return journal[n-1], true
}
