package engine

import (
	"cmp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// A prompter takes what stands before all messages.
type prompter struct{ requester }

// frontChanged tells of a system prompt or a tool list that breaks the provider's cache, and
// how much stands behind what has changed: so many tokens of the front, and the messages.
func (m *prompter) frontChanged(what string, behind int) {
	if !m.Began() {
		return
	}
	for _, it := range m.view.Items {
		if int(it.Before) > m.sent.end {
			break
		}
		behind += m.gauge.Message(it.Message)
	}
	m.event(EventSections, "", "%s changed: %d tokens that may be cached are written again", what, behind)
}

// sectionsChanged is frontChanged for a system prompt that was another one.
func (m *prompter) sectionsChanged(was []llm.Section) {
	changes := prompt.Changes(was, m.sections)
	names := make([]string, len(changes))
	at := 0
	for i, ch := range changes {
		names[i] = cmp.Or(ch.Name, "a section")
		if i == 0 {
			at = ch.At
		}
	}
	behind := 0
	for _, s := range m.sections[min(at, len(m.sections)):] {
		behind += m.gauge.Text(s.Text)
	}
	m.frontChanged(cmp.Or(strings.Join(names, ", "), "the order of the sections"), behind)
}
