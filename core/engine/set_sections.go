package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// SetSections replaces the system prompt, in any order and of any names. As of SetTools a
// copy is kept. SetPrompt is for one that is built of sections.
type SetSections struct{ Sections []llm.Section }

func (SetSections) input() {}

func (m *prompter) feedSections(in SetSections) {
	if slices.EqualFunc(m.sections, in.Sections, sameSection) {
		return
	}
	was := m.sections
	m.setSections(ownSections(in.Sections))
	m.sectionsChanged(was)
	m.record(journal.Record{Kind: journal.KindSections, Sections: m.sections})
}
