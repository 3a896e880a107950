package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Names of rules that no policy has, which edits made by hand carry.
const (
	compactRule = "compact"
	undoRule    = "undo"
)

// compactTemplate heads the summary of a compaction by hand.
const compactTemplate = "[A summary of {n} earlier messages, which are stored as {ref}]"

// compact asks for the summary that a person wants now. It does not depend on any
// threshold, and works under every policy.
func (m *Machine) compact(in Compact) {
	r := m.compaction()
	s := m.scene(r)
	if m.sent.meter == nil { // nobody knows yet where the next request goes
		m.to = m.choose()
	}
	if _, ok := m.summarySpan(r, s); ok && len(m.asks) == 0 {
		m.summary = nil // a newer one is made of what it is about
	}
	asked := len(m.asks)
	m.askAbout(r, s, Ask{Focus: in.Focus, byHand: true})
	if len(m.asks) == asked {
		m.event(EventCompact, r.Name, "%s", m.whyNot(r, s))
	}
}

// whyNot says why a compaction asks nothing.
func (m *Machine) whyNot(r policy.Rule, s edit.Scene) string {
	switch span, ok := m.summarySpan(r, s); {
	case len(m.asks) > 0:
		return "a summary is being made already"
	case !ok:
		return fmt.Sprintf("nothing to compact: the newest %d messages stay as they are", len(m.messages)-int(span.To)+1)
	}
	return "nothing can be taken out now"
}

// compaction returns the policy's rule for a summary that replaces what it is about,
// made to be waited for, or one that summarises all before the tail.
func (m *Machine) compaction() policy.Rule {
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoSummarise && !m.holdsForBatch(r) {
			r.Args.Background, r.Args.Min = false, 0
			return r
		}
	}
	r := policy.Rule{Name: compactRule, Do: policy.DoSummarise, Args: policy.Args{MaxTokens: fallbackTokens}}
	if m.policy.Tail.Unit == "" {
		r.Args.Keep = policy.Tail{Unit: policy.TailRounds, N: 1}
	}
	return r
}

// otherMeans does what the policy's other rules do about a full view, whatever their
// thresholds, in their order, until one of them makes room. It is for a compaction by
// hand that has no summary, and why says so.
func (m *Machine) otherMeans(a Ask, why string) {
	need := m.coveredBy(a.Span)
	made := len(m.journal)
	tried := map[policy.Action]bool{}
	for _, r := range m.policy.Rules {
		if tried[r.Do] {
			continue // the same with another threshold
		}
		tried[r.Do] = true
		r.When = policy.Condition{}
		switch r.Do {
		case policy.DoTrim:
			m.try(m.scene(r).Trim(need), r.Name)
		case policy.DoTruncate:
			m.try(m.truncated(r, need), r.Name)
		case policy.DoClear, policy.DoDemote, policy.DoDropTurns:
			m.act(r)
		}
		if len(m.journal) > made {
			return
		}
	}
	m.event(EventCompact, a.Rule, "nothing was taken out: no summary (%s), and the policy %s has no other means that saves enough", why, m.policy.Name)
}

// feedUndo supersedes edits, so that what they took out stands in the view again.
func (m *Machine) feedUndo(in Undo) error {
	if m.prepare != nil {
		return fmt.Errorf("engine: undo: want it between calls, got it while a call waits for an answer")
	}
	if len(in.Edits) == 0 {
		return nil
	}
	var undo edit.Plan
	for _, id := range in.Edits {
		e, err := m.inForce(id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(undo.Edits, func(u edit.Edit) bool { return u.Supersedes[0] == id }) {
			continue
		}
		undo.Edits = append(undo.Edits, edit.Edit{
			Op: edit.Undo, Kind: edit.KindUndo, Rule: undoRule, Why: fmt.Sprintf("edit %d is taken back", id),
			Span: e.Span, Supersedes: []edit.ID{id}, Before: e.After, After: e.Before,
		})
	}
	if !m.adopt(undo, undoRule) {
		return fmt.Errorf("engine: undo of %v: the view without them breaks a law", in.Edits)
	}
	clear(m.tried)
	m.declined = declined{}
	m.indexLines()
	return nil
}

// inForce returns an edit that took something out and that no later one supersedes.
func (m *Machine) inForce(id edit.ID) (edit.Edit, error) {
	got := fmt.Sprintf("none of the %d edits made so far", len(m.journal))
	for _, e := range m.journal {
		if e.ID == id {
			got = "one that a later edit supersedes"
		}
	}
	for _, e := range m.view.Edits() {
		switch {
		case e.ID != id:
		case e.Op == edit.Insert:
			got = "a note"
		case e.Op == edit.Undo:
			got = "one that put something back"
		default:
			return e, nil
		}
	}
	return edit.Edit{}, fmt.Errorf("engine: undo of edit %d: want one in force that took something out, got %s", id, got)
}
