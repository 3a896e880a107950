package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// earlyEvery is at every how many replies old outputs are looked through: what all other
// calls cost must not grow with the session.
const earlyEvery = 8

// An oldOutput is one that could become a preview.
type oldOutput struct {
	item   int // in the view
	id     llm.MessageID
	part   int
	tokens int
}

// early makes previews of outputs that came long ago, from the place in the view on from
// where that saves most: all behind it is written anew, so that what stands there costs
// nothing more. Where the window is going to force a batch it leaves them alone: that takes
// out the same and more, and until then they are what agents read.
func (m *ruler) early(r policy.Rule) {
	if m.replies%earlyEvery != 0 || !m.restFits() {
		return
	}
	old := m.oldOutputs(r)
	at, behind, removed := len(m.view.Items), 0, 0
	from, best := len(old), 0
	for n := len(old) - 1; n >= 0; n-- {
		for end := m.rewritten(old[n].item); at > end; at-- {
			if it := m.view.Items[at-1]; int(it.Before) <= m.sent.end {
				behind += m.gauge.Message(it.Message)
			}
		}
		removed += old[n].tokens * (1000 - r.Args.Permille) / 1000
		if w, ok := m.worthOf(m.changing(removed, behind)); ok && w.Gain > best {
			from, best = n, w.Gain
		}
	}
	if p := m.previews(r, old[from:]); !p.Empty() {
		m.try(p, r.Name)
	}
}

// oldOutputs returns the outputs that r makes previews of, if that pays: they are whole,
// large enough, and came so many Rounds ago; where the policy goes by references, no call
// has referred to them, or to the file that was read, since either. A message with one part is as large as that.
func (m *ruler) oldOutputs(r policy.Rule) []oldOutput {
	keep := min(m.keepFor(r), m.keep(policy.Tail{Unit: policy.TailRounds, N: r.Args.Min}))
	s := m.scene(r)
	s.Ground = m.grounded()
	var out []oldOutput
	for i, it := range m.view.Items {
		if it.IsNote() || it.Message.ID >= keep {
			continue
		}
		for n, p := range it.Message.Parts {
			res, ok := p.(llm.ToolResult)
			o := oldOutput{i, it.Message.ID, n, 0}
			if !ok || edit.FormOf(res) != edit.Whole || len(res.Text()) < r.Args.Bytes || m.usedWithin(s, o, r.Args.Min) {
				continue
			}
			if o.tokens = m.gauge.Message(it.Message); len(it.Message.Parts) > 1 {
				o.tokens = m.gauge.Part(res)
			}
			out = append(out, o)
		}
	}
	return out
}

// usedWithin reports whether a call of the last so many Steps had to do with an output, where
// the policy goes by that.
func (m *ruler) usedWithin(s edit.Scene, o oldOutput, steps int) bool {
	if m.policy.Order == policy.OrderArrival {
		return false
	}
	sp, ok := s.At(o.id, o.part)
	return ok && s.Ground.Step()-s.LastUse(sp) < steps
}

// previews plans the previews of outputs.
func (m *ruler) previews(r policy.Rule, old []oldOutput) edit.Plan {
	var p edit.Plan
	s := m.scene(r)
	for _, o := range old {
		sp, ok := s.At(o.id, o.part)
		if !ok {
			continue
		}
		one := s.Cap(sp, edit.CapArgs{Tokens: max(sp.Tokens*r.Args.Permille/1000, leastPreview)})
		for i := range one.Edits {
			one.Edits[i].Kind = edit.KindPreview
			one.Edits[i].Why = fmt.Sprintf("not among the newest outputs: %d permille of it, which pays for the cache break", r.Args.Permille)
		}
		p = p.Join(one)
	}
	return p
}

// leastPreview is the tokens that a preview has at least: less says nothing.
const leastPreview = 40
