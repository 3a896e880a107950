package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A keeper decides which of the tools are offered.
type keeper struct{ ruler }

// chooseTools decides which tools are left out, where that costs no cache that would not be
// lost anyway: of a list that is new, and, if the policy has it so, where a Turn begins.
func (m *keeper) chooseTools() {
	d, isNew := m.policy.Deferral, m.unchosen
	if m.hosted() && !m.declares() {
		m.event(EventTools, offerRule, "a target that cannot search by itself: all tools are offered")
		m.offer(nil, false)
		m.tellLeftOut(0)
		return
	}
	if d.Permille == 0 || !isNew && (d.Until != policy.UntilTurn || !m.opened) || !slices.ContainsFunc(m.tools, mayLeave) {
		return
	}
	m.unchosen = false
	declared := m.declares()
	shown, err := m.chosen(d.Room(m.window()), declared)
	if err != nil { // all are offered (law 12)
		m.event(EventTools, offerRule, "all tools are offered: %v", err)
	}
	if !isNew && slices.Equal(shown, m.shownAt) && (shown == nil) == (m.shownAt == nil) {
		return
	}
	was := len(m.leftOut())
	m.offer(shown, declared)
	if out := len(m.leftOut()); out != was {
		m.event(EventTools, offerRule, "%d of %d tools are left out", out, len(m.tools))
		m.tellLeftOut(out)
	}
}

// declares reports whether tools that are left out are to be declared to the provider: the policy
// has it so, the host defers none itself, and the model behind the targets takes it. Where one of
// the policy's own tools finds them, a codec leaves them out for another target; where the
// provider does, each target has to be able to.
func (m *keeper) declares() bool {
	if m.policy.Deferral.Means != policy.MeansNative || slices.ContainsFunc(m.tools, deferredByHost) {
		return false
	}
	if slices.ContainsFunc(m.tools, journal.FindsTools) {
		return m.defers(0, false)
	}
	for i := range m.resolved {
		if !m.defers(i, true) {
			return false
		}
	}
	return true
}

// defers reports whether a target's provider defers tools: known says that it has to be named as
// the one that makes the model, as others have the model without that.
func (m *keeper) defers(i int, known bool) bool {
	t := m.resolved[i]
	row, ok := m.cfg.Catalog.Lookup(t.Model)
	return ok && row.Capabilities.NativeDeferral && (t.Provider == row.Provider || t.Provider == "" && !known)
}

// deferredByHost reports whether a host has its provider defer tools.
func deferredByHost(t llm.Tool) bool { return t.Deferred || t.Finder }

// mayLeave reports whether a tool may be left out.
func mayLeave(t llm.Tool) bool { return t.Kind != llm.ToolBuiltIn }

// chosen returns the places of the tools that are offered if they may take that many tokens;
// nil: all.
func (m *keeper) chosen(room int, declared bool) ([]int, error) {
	if name, two := twins(m.tools); two {
		return nil, fmt.Errorf("two are called %s, of which one could not be told from the other", name)
	}
	rows, total, search := make([]deferral.Tool, len(m.tools)), 0, -1
	for i, t := range m.tools { // each rounded up, so that all of them together are, too
		rows[i] = deferral.Tool{Kind: t.Kind, Tokens: m.gauge.Tokens(m.gauge.ToolsSize(m.tools[i:i+1])) + 1, Use: m.uses[t.Name]}
		if journal.FindsTools(t) {
			search = i
			continue
		}
		total += rows[i].Tokens
	}
	if total <= room || search < 0 && !declared && !slices.Contains(m.policy.Tools, policy.ToolSearch) {
		return nil, nil
	}
	if search < 0 && !declared {
		return nil, fmt.Errorf("they take %d tokens of the %d that they may, but %s is not offered", total, room, policy.ToolSearch)
	}
	return deferral.Select(rows, room), nil
}

// offer says which tools are offered from now on.
func (m *keeper) offer(shown []int, declared bool) {
	m.setTools(m.tools, shown, declared)
	m.record(journal.Record{Kind: journal.KindOffer, Offer: m.shownAt, Declared: m.declared})
}

// tellLeftOut puts the note on how many tools are left out in the place of the one before.
func (m *keeper) tellLeftOut(n int) {
	stands := m.standing(policy.Rule{Name: offerRule})
	p := edit.Plan{Edits: m.taken(stands, "another number of tools is left out")}
	if n > 0 {
		text := edit.Fill(m.text(policy.TemplateDeferred), edit.Values{N: n})
		note := edit.NoteOf(llm.Text{Text: text})
		if text != "" && !m.crowds(note, stands) {
			p.Edits = append(p.Edits, m.insertion(note, offerRule, "tools are left out"))
		}
	}
	if !p.Empty() {
		m.adopt(p, offerRule)
	}
}

// promote offers tools that were left out, in their order behind those that are offered.
func (m *keeper) promote(names []string) {
	shown, out := slices.Clone(m.shownAt), m.leftOut()
	var promoted []string
	for _, name := range names {
		i := slices.IndexFunc(out, func(at int) bool { return m.tools[at].Name == name })
		if i >= 0 && !slices.Contains(shown, out[i]) {
			shown, promoted = append(shown, out[i]), append(promoted, name)
		}
	}
	if len(promoted) > 0 {
		m.offer(shown, m.declared)
		m.event(EventTools, offerRule, "offered again: %s", strings.Join(promoted, ", "))
	}
}

// promoteCalled offers the tools that a reply calls although they are left out.
func (m *keeper) promoteCalled(msg llm.Message) {
	if m.shownAt == nil || m.declared || msg.Origin != llm.Model {
		return
	}
	var names []string
	for _, c := range msg.Calls() {
		names = append(names, c.Name)
	}
	m.promote(names)
}

// twins returns a name that two tools have of which one may be left out.
func twins(tools []llm.Tool) (name string, two bool) {
	leaves := make(map[string]bool, len(tools))
	for _, t := range tools {
		if other, two := leaves[t.Name]; two && (other || mayLeave(t)) {
			return t.Name, true
		}
		leaves[t.Name] = mayLeave(t)
	}
	return "", false
}

// carried returns the places in another list of tools of those that are offered now, in their
// order, then of those that no policy leaves out; nil if none is left out now.
func (m *keeper) carried(tools []llm.Tool) []int {
	if _, two := twins(tools); two || m.shownAt == nil {
		return nil
	}
	shown := []int{}
	for _, old := range m.shownAt {
		for at, t := range tools { // a provider's own tools have no name: each stands for one of them
			if t.Name == m.tools[old].Name && !slices.Contains(shown, at) {
				shown = append(shown, at)
				break
			}
		}
	}
	for at, t := range tools {
		if t.Kind == llm.ToolBuiltIn && !slices.Contains(shown, at) {
			shown = append(shown, at)
		}
	}
	if len(shown) == len(tools) {
		return nil
	}
	return shown
}

// ToolShares returns what the tools take, a share for each kind that there is. Together the
// shares are what all tools take.
func (m *keeper) ToolShares() []ToolShare {
	if m.shares == nil {
		m.shares = m.toolShares()
	}
	out := make([]ToolShare, len(m.shares))
	var all token.Size
	for i, s := range m.shares {
		with := all.Add(s.offered) // of a sum, so that no rounding is lost
		out[i] = s.ToolShare
		out[i].Tokens, out[i].LeftOutTokens = m.count[0].Tokens(with)-m.count[0].Tokens(all), m.count[0].Tokens(s.leftOut)
		all = with
	}
	return out
}

func (m *keeper) toolShares() []toolShare {
	out := []toolShare{}
	left := m.LeftOut()
	for _, kind := range []llm.ToolKind{llm.ToolBuiltIn, llm.ToolOfSkill, llm.ToolOfServer} {
		other := func(t llm.Tool) bool { return t.Kind != kind }
		offered := slices.DeleteFunc(slices.Clone(token.Shown(m.asLoaded(m.offered()))), other)
		without := slices.DeleteFunc(slices.Clone(left), func(t llm.Tool) bool { return other(t) || m.loaded[t.Name] })
		if len(offered)+len(without) == 0 {
			continue
		}
		out = append(out, toolShare{
			ToolShare{Kind: kind, Offered: len(offered), LeftOut: len(without)}, m.count[0].ToolsSize(offered), m.count[0].ToolsSize(without),
		})
	}
	return out
}

// LeftOut returns the tools that are left out, in their order.
func (m *keeper) LeftOut() []llm.Tool {
	var out []llm.Tool
	for _, at := range m.leftOut() {
		out = append(out, m.tools[at])
	}
	return out
}
