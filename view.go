package plimsoll

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A View is what would be sent now, before the rules that act at the next request, and by
// what it is kept within the window. It is the reader's own and stays as it is, whatever
// happens in the session, but that the reader must not change what its slices point to.
type View struct {
	Items    []edit.Item     // the messages as they are shown, each with the edits that made or changed it
	Sections []llm.Section   // the system prompt, with what edits added
	Tools    []llm.Tool      // as they are offered
	Count    token.Estimate  // of all that, for the preferred target
	Targets  []budget.Target // where calls may go, the preferred one first; their windows as resolved
	Policy   policy.Policy   // in force
}

// View returns what would be sent now. [Session.Messages] has the conversation as it was
// appended, [Session.Edits] what was done to it, [Session.Usage] what fills the window.
func (s *Session) View() View {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machine
	return View{
		Items: slices.Clone(m.View().Items), Sections: slices.Clone(m.Sections()), Tools: slices.Clone(m.Tools()),
		Count: m.Count(), Targets: slices.Clone(m.Targets()), Policy: m.Policy(),
	}
}

// Messages returns the messages of v in order.
func (v View) Messages() []llm.Message {
	out := make([]llm.Message, len(v.Items))
	for i, it := range v.Items {
		out[i] = it.Message
	}
	return out
}
