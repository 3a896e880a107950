package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// wants returns the policy's rule by which a provider is asked for something, where a target's can.
func (m *rulebook) wants(t budget.Target, what string) (policy.Rule, bool) {
	for _, r := range m.policy.Rules {
		if r.Asks() != what {
			continue
		}
		row, known := m.cfg.Catalog.Lookup(t.Model)
		if what == policy.ProviderCompact {
			return r, known && m.reads(t, row.Provider)
		}
		return r, known && row.Capabilities.ContextEditing
	}
	return policy.Rule{}, false
}

// compacts returns the rule by which the provider of a target is asked for a summary of its own,
// where every target that a request may go to reads what comes back.
func (m *measures) compacts(t budget.Target) (policy.Rule, bool) {
	r, ok := m.wants(t, policy.ProviderCompact)
	row, _ := m.cfg.Catalog.Lookup(t.Model)
	return r, ok && !slices.ContainsFunc(m.resolved, func(other budget.Target) bool { return !m.reads(other, row.Provider) })
}

// clearing returns what the provider of a target is asked to take out by itself. Where nothing can
// be stored it is asked for nothing: what it takes out could not be read back.
func (m *measures) clearing(t budget.Target) llm.Clearing {
	var c llm.Clearing
	if m.request.noStore {
		return c
	}
	if r, ok := m.wants(t, policy.ProviderOutputs); ok {
		c.Above = r.Args.From(t.Window.Limit())
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
	}
	if r, ok := m.wants(t, policy.ProviderThinking); ok {
		for _, msg := range m.messages[m.keep(r.Args.Keep)-1:] {
			if slices.ContainsFunc(msg.Parts, isThinking) {
				c.Thinking++
			}
		}
		c.Thinking = max(c.Thinking, 1) // the newest one is never refused
	}
	if r, ok := m.compacts(t); ok {
		c.Compact = r.Args.From(t.Window.Limit())
	}
	return c
}

// bid does what has to be done before a provider shortens a prompt: outputs that it may take out
// are stored. Where a target's provider cannot, that is said once.
func (m *editor) bid(r policy.Rule) {
	to := m.resolved[0]
	_, can := m.wants(to, r.Asks())
	if r.Asks() == policy.ProviderCompact && can {
		_, can = m.compacts(to)
	}
	if !can {
		if name := r.Name + " " + to.Name(); !m.unable[name] {
			if m.unable == nil {
				m.unable = map[string]bool{}
			}
			m.unable[name] = true
			m.event(EventNoProgress, r.Name, "%s: not everybody whom a request may go to can: %s is not asked", r.Name, to.Name())
		}
		return
	}
	if r.Asks() == policy.ProviderOutputs {
		m.storeCleared(r)
	}
}

// storeCleared puts the outputs that the provider may take out into the next Ready, from shortly
// before it does, so that all that leaves the model's sight is stored.
func (m *editor) storeCleared(r policy.Rule) {
	if m.request.noStore || m.cfg.KeepOutputs {
		return
	}
	if above := r.Args.From(m.resolved[0].Window.Limit()); m.count[0].Count().Bound < above*3/4 {
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

// compacted takes what a provider's own summary stands for out of the view, where msg has one and
// is of the reply to what was sent: all before that reply. What the model wrote before the summary
// in the same reply stays, with its calls.
func (m *editor) compacted(msg llm.Message) {
	maker := llm.Compacts(msg)
	if maker == "" || m.sent.meter == nil || int(msg.ID) <= m.sent.end || !m.reads(m.sent.to, maker) {
		return
	}
	for _, of := range m.messages[m.sent.end:] {
		if of.Role != llm.RoleAssistant {
			return
		}
	}
	m.standFor(llm.MessageID(m.sent.end) + 1)
}

// standFor has the compaction in the reply that begins with message id stand for all before that.
func (m *editor) standFor(id llm.MessageID) {
	from := llm.MessageID(1)
	for from < id && m.leads(m.messages[from-1]) {
		from++
	}
	if from == id {
		return
	}
	was := len(m.view.Items)
	p := m.scene(policy.Rule{Name: compactionRule}).Archive(edit.Span{From: from, To: id}, edit.KindProvider, nil, nil)
	p.Edits[0].Why = fmt.Sprintf("the provider's own summary stands for messages %d to %d", from, id-1)
	if m.adopt(p, compactionRule) {
		m.event(EventCleared, compactionRule, "the provider's own summary stands for %d messages, %d tokens", was-len(m.view.Items), p.Edits[0].Before)
	}
}

// reconcile sees to it that what a compaction stands for is out of the view where everybody whom the
// request may go to reads it, and in it otherwise.
func (m *editor) reconcile() {
	if len(m.compacting) == 0 {
		return
	}
	everybody := func(to llm.MessageID) bool {
		id := m.holder(edit.Edit{Span: edit.Span{To: to}})
		if id == 0 {
			return false
		}
		maker := llm.Compacts(m.messages[id-1])
		return !slices.ContainsFunc(m.resolved, func(t budget.Target) bool { return !m.reads(t, maker) })
	}
	for range m.compacting {
		e, ok := m.stands()
		if !ok {
			break
		}
		if everybody(e.Span.To) {
			return
		}
		back := edit.Edit{
			Op: edit.Undo, Kind: edit.KindUndo, Rule: compactionRule, Span: e.Span, Supersedes: []edit.ID{e.ID}, Before: e.After, After: e.Before,
			Why: fmt.Sprintf("not everybody reads the provider's summary in message %d", e.Span.To),
		}
		if !m.adopt(edit.Plan{Edits: []edit.Edit{back}}, compactionRule) {
			return
		}
		m.indexLines()
	}
	if id := m.putAside(); id > 0 && everybody(id) {
		m.standFor(id)
	}
}
