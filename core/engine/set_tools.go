package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// SetTools replaces the tools that are offered to the model. The machine keeps a copy:
// what the host changes later is neither sent nor counted until it is set again.
type SetTools struct{ Tools []llm.Tool }

func (SetTools) input() {}

func (m *prompter) feedTools(in SetTools) {
	if slices.EqualFunc(m.tools, in.Tools, sameTool) {
		return // told in every Step, it is recorded once
	}
	tools := ownTools(in.Tools)
	shown := m.carried(tools)
	declared := m.declared && !slices.ContainsFunc(tools, deferredByHost)
	if m.setTools(tools, shown, declared) {
		m.frontChanged("the tools", m.gauge.System()+m.schema())
	}
	m.unchosen = true
	m.record(journal.Record{Kind: journal.KindTools, Tools: m.tools})
	if shown != nil {
		m.unchosen = false
		m.record(journal.Record{Kind: journal.KindOffer, Offer: shown, Declared: declared})
	}
}
