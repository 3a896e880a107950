package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// SetSections replaces the system prompt. As of SetTools a copy is kept.
type SetSections struct{ Sections []llm.Section }

func (SetSections) input() {}

func (m *Machine) feedSections(in SetSections) {
	if slices.EqualFunc(m.sections, in.Sections, sameSection) {
		return
	}
	m.setSections(ownSections(in.Sections))
	m.record(journal.Record{Kind: journal.KindSections, Sections: m.sections})
}
