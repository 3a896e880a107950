package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// clears returns the policy's rule by which a provider is asked to take old outputs out of prompts
// itself, where the target's can.
func (m *rulebook) clears(t budget.Target) (policy.Rule, bool) {
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoProvider {
			row, known := m.cfg.Catalog.Lookup(t.Model)
			return r, known && row.Capabilities.ContextEditing
		}
	}
	return policy.Rule{}, false
}

// clearing returns what the provider of a target is asked to take out by itself. Where outputs could
// not be stored it is asked nothing: what it takes out the model could not read back.
func (m *measures) clearing(t budget.Target) llm.Clearing {
	r, ok := m.clears(t)
	if !ok || m.request.noStore {
		return llm.Clearing{}
	}
	c := llm.Clearing{Above: budget.Share(t.Window.Limit(), r.Args.Permille)}
	if r.Args.To > 0 {
		c.Least = c.Above - budget.Share(c.Above, r.Args.To)
	}
	for _, msg := range m.messages[m.keep(r.Args.Keep)-1:] {
		c.Keep += len(msg.Calls())
	}
	for _, tool := range m.offered() {
		if tool.Builtin {
			c.Except = append(c.Except, tool.Name)
		}
	}
	return c
}

// storeCleared puts the outputs that the provider may take out into the next Ready, from shortly
// before it does, so that all that leaves the model's sight is stored.
func (m *editor) storeCleared(r policy.Rule) {
	to := m.resolved[0]
	if _, ok := m.clears(to); !ok || m.request.noStore || m.cfg.KeepOutputs {
		return
	}
	if above := budget.Share(to.Window.Limit(), r.Args.Permille); m.count[0].Count().Bound < above*3/4 {
		return
	}
	keep := m.keep(r.Args.Keep)
	for _, it := range m.view.Items {
		if it.IsNote() || it.Message.ID >= keep {
			continue
		}
		for _, out := range it.Message.Results() {
			if _, stub := edit.StubOf(out); stub {
				continue
			}
			if data := edit.Stored(out); len(data) > 0 {
				m.put(edit.Blob{Ref: llm.RefOf(data), Data: data})
			}
		}
	}
}
