package engine

import (
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A reducer is the backstop below every policy, and finds the floor.
type reducer struct {
	editor
	checked wholeness // of the view, by the whole-request check
}

// tries is how often a plan is made anew where it saved less than it should: the
// count takes a removed token for less than one, and notes stand in the place of
// what was removed.
const tries = 6

// need returns by how much the view is over, in tokens by the count. What is over
// in bytes or images is taken for the same share of the tokens; how much of them
// an edit takes along is not known before, so that the last try is for all.
func (m *reducer) need(try int) int {
	all := m.count[m.request.to].Count().Bound
	if try == tries-1 {
		return max(all, 1)
	}
	w := m.resolved[m.request.to].Window
	bytes, images := m.count[m.request.to].Wire()
	need := max(all-w.Limit(), 1)
	if w.MaxBytes > 0 && bytes > w.MaxBytes {
		need = max(need, all/bytes*(bytes-w.MaxBytes)+all%bytes*(bytes-w.MaxBytes)/bytes)
	}
	if w.MaxImages > 0 && images > w.MaxImages {
		need = max(need, all*(images-w.MaxImages)/images)
	}
	return need
}

// Texts of the backstop where the policy has none.
const (
	backstopStub    = "[{tool} output, {bytes} bytes, stored as {ref}]"
	backstopArchive = "[{n} earlier messages stored as {ref}]"
	backstopOffload = "{preview}\n[{tool} output, {bytes} bytes, {lines} lines, stored as {ref}]"
)

// backstopRule is the name that the backstop's edits carry.
const backstopRule = "backstop"

// backstopSpare is the share of the limit, in permille, that the backstop frees of
// older content beyond what it must, so that it need not break the prefix again at
// the very next call.
const backstopSpare = 150

// backstopScene looks with the count, whatever the policy's own estimator is.
func (m *reducer) backstopScene(keep llm.MessageID) edit.Scene {
	count := m.count[m.request.to]
	return edit.Scene{
		Messages: m.messages, View: m.view, Turns: &m.turns,
		Size: count.Part, Measure: count.Message,
		Keep: keep, Pinned: m.pinned, Own: m.own, Rule: backstopRule, Template: backstopArchive,
	}
}

// gaining returns the edits of a plan that save tokens, with what they store.
func gaining(p edit.Plan) edit.Plan {
	var out edit.Plan
	for _, e := range p.Edits {
		if e.Before <= e.After {
			continue
		}
		out.Edits = append(out.Edits, e)
		for _, b := range p.Blobs {
			if slices.Contains(e.Refs, b.Ref) {
				out.Blobs = append(out.Blobs, b)
			}
		}
	}
	return out
}

// wholeness is how far the view was found to be in order.
type wholeness struct {
	turn.Order
	edit    edit.ID // the newest edit then, which a withdrawal leaves alone
	journal int     // how many edits there were
}

// clone returns a copy on which something can be tried out.
func (m *reducer) clone() *reducer {
	c := *m
	c.turns = *m.turns.Clone()
	c.journal = slices.Clip(m.journal)
	c.stored = maps.Clone(m.stored)
	c.stats.Edits = maps.Clone(m.stats.Edits)
	c.out, c.shown = Ready{}, nil
	c.cloneMeters(m)
	return &c
}

func (m *reducer) cloneMeters(from *reducer) {
	copies := map[*meter.Meter]*meter.Meter{}
	from.all(func(t *meter.Meter) { copies[t] = t.Trial() })
	m.count = make([]*meter.Meter, len(from.count))
	for i, t := range from.count {
		m.count[i] = copies[t]
	}
	m.spare = nil // what is tried out goes to no other target
	m.gauge = copies[from.gauge]
}
