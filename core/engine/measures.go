package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// holds reports whether a condition holds. sp is the output just appended, for
// the measures that look at one. A decision on the count uses
// the bound, as law 1 does.
func (m *measures) holds(c policy.Condition, sp *edit.Spot) bool {
	return c.Always() || c.Holds(m.value(c.Measure, sp), m.window())
}

// window returns the preferred target's, of which the policy's shares are taken.
func (m *measures) window() budget.Window { return m.resolved[0].Window }

// threshold returns the figure that a condition compares with.
func (m *measures) threshold(c policy.Condition) int { return c.Threshold(m.window()) }

// down returns what a rule's action goes down to; 0 if it has no such figure.
func (m *measures) down(r policy.Rule) int { return m.policy.Down(r, m.window()) }

// value returns a measure by the policy's estimator.
func (m *measures) value(what policy.Measure, sp *edit.Spot) int {
	switch what {
	case policy.MeasureView:
		if m.gauge == m.count[0] {
			return m.Count().Bound
		}
		return m.gauge.Total()
	case policy.MeasureHistory:
		return m.gauge.Component(token.History)
	case policy.MeasureMessages:
		return m.gauge.Size(token.History).Messages
	case policy.MeasureOutputs:
		return m.gauge.Outputs()
	case policy.MeasureUsage:
		return m.lastUsage.Total()
	case policy.MeasureGuard:
		return int(m.preflight())
	case policy.MeasureOutput:
		if sp != nil && sp.Stored.Ref != "" {
			return sp.Stored.Tokens
		}
		if sp != nil {
			return m.gauge.Part(sp.Result)
		}
	case policy.MeasureBytes:
		if sp != nil && sp.Stored.Ref != "" {
			return sp.Stored.Size
		}
		if sp != nil {
			return len(sp.Result.Text())
		}
	}
	return 0
}

// Thresholds returns the conditions of the policy's rules that have a value between
// calls, in the order of the rules. Those about one tool output have none.
func (m *measures) Thresholds() []Threshold {
	var out []Threshold
	for _, r := range m.policy.Rules {
		switch r.When.Measure {
		case "", policy.MeasureOutput, policy.MeasureBytes:
			continue
		}
		out = append(out, Threshold{
			Rule: r.Name, Do: r.Do, Measure: r.When.Measure, Estimator: m.policy.EstimatorOf(r.When.Measure), Op: r.When.Op,
			Value: m.value(r.When.Measure, nil), At: m.threshold(r.When), Reached: m.holds(r.When, nil),
		})
	}
	return out
}

// scene is what the transforms look at on behalf of r.
func (m *measures) scene(r policy.Rule) edit.Scene {
	return edit.Scene{
		Messages: m.messages, View: m.view, Turns: &m.turns,
		Size: m.gauge.Part, Measure: m.gauge.Message,
		Keep: m.keepFor(r), Pinned: m.pinned, Own: m.own, Rule: r.Name, Template: m.withRef(m.text(r.Args.Template)),
		Ends: m.incoming.ends,
	}
}

// keep returns the first message of the tail that no rule touches.
func (m *measures) keep(t policy.Tail) llm.MessageID {
	if t.Unit == "" {
		t = m.policy.Tail
	}
	from := len(m.messages)
	switch t.Unit {
	case policy.TailTurns:
		from = m.turns.LastTurns(t.N)
	case policy.TailRounds:
		from = m.turns.LastRounds(t.N)
	case policy.TailMessages:
		from = m.turns.CutBefore(max(from-t.N, 0))
	}
	return llm.MessageID(from) + 1
}

// keepFor returns the first message of the tail that r does not touch. Where the tail
// is so many Rounds, and they are all there is, or nearly so, it bends: a plain chat
// would else be left to the backstop.
func (m *measures) keepFor(r policy.Rule) llm.MessageID {
	all := m.tails(r)
	for _, keep := range all[:len(all)-1] {
		if m.worth(keep, 0) {
			return keep
		}
	}
	return all[len(all)-1]
}

// tails returns where the tail of r begins, and where it does if it bends: at the newest
// Round, and at what the model has not answered yet.
func (m *measures) tails(r policy.Rule) []llm.MessageID {
	t := r.Args.Keep
	if t.Unit == "" {
		t = m.policy.Tail
	}
	first := m.keep(t)
	if t.Unit != policy.TailRounds || r.Do != policy.DoDemote && r.Do != policy.DoSummarise && r.Do != policy.DoTruncate {
		return []llm.MessageID{first}
	}
	newest := m.tail()
	one := min(max(m.keep(policy.Tail{Unit: policy.TailRounds, N: 1}), first), newest)
	return slices.Compact([]llm.MessageID{min(first, newest), one, newest})
}

// worth reports whether what stands before a tail, without what is pinned and so many tokens
// that stay of it, takes the policy's minimum gain of the whole view.
func (m *measures) worth(keep llm.MessageID, staying int) bool {
	all, saved := m.gauge.Total(), -staying
	for i := range m.view.Items {
		it := &m.view.Items[i]
		if it.Before >= keep {
			return false
		}
		if it.IsNote() || !m.pins(&it.Message) {
			if saved += m.gauge.Message(it.Message); edit.Gain(m.policy.MinimumGain).Enough(all, all-saved) {
				return true // what stands behind it saves more, if anything
			}
		}
	}
	return false
}

// pinned reports whether a message is never archived (law 8): the system prompt where a
// format keeps it among the messages, what a provider has stand for all before it, and what the
// policy says.
func (m *measures) pinned(msg llm.Message) bool { return m.pins(&msg) }

// pins is pinned of a message that stays where it is: rules ask for each of a conversation.
func (m *measures) pins(msg *llm.Message) bool {
	if msg.Role == llm.RoleSystem && m.leads(*msg) || len(m.compacting) > 0 && m.holdsCompaction(*msg) {
		return true
	}
	for _, p := range m.policy.Pins {
		switch {
		case p == policy.PinRules && msg.Flags.Has(llm.FlagRules),
			p == policy.PinFirstHuman && msg.ID == m.human(0),
			p == policy.PinLastHuman && msg.ID == m.human(1):
			return true
		}
	}
	return false
}

// leads reports whether a message is of the system prompt: one of its role with none of
// another role before it, where no system prompt stands apart.
func (m *measures) leads(msg llm.Message) bool {
	if msg.Role != llm.RoleSystem || msg.ID == 0 || len(m.sections) > 0 {
		return false
	}
	return !slices.ContainsFunc(m.messages[:msg.ID-1], func(before llm.Message) bool { return before.Role != llm.RoleSystem })
}

// withoutLongPins plans to leave of texts in pinned messages both ends, where they take more
// than the policy's share of the limit (law 8): in the newest one of a person only if all is
// set, where nothing else is left, and so with the system prompt.
func (m *measures) withoutLongPins(s edit.Scene, all bool) edit.Plan {
	if m.policy.PinPermille == 0 {
		return edit.Plan{}
	}
	pinned := s.Pinned
	s.Pinned = func(msg llm.Message) bool { return pinned(msg) && (all || msg.ID != m.human(1) && !m.leads(msg)) }
	return s.Shorten(max(budget.Share(m.window().Limit(), m.policy.PinPermille), leastPin))
}

// leastPin is the tokens that a pinned message always has, however small the window is.
const leastPin = 200

// coveredBy returns what a summary of span would stand for, in tokens: what is pinned
// stays where it is.
func (m *measures) coveredBy(span edit.Span) int {
	n := 0
	for _, it := range m.view.Items {
		if it.Before >= span.From && it.Before < span.To && !m.pinned(it.Message) {
			n += m.gauge.Message(it.Message)
		}
	}
	return n
}

// PreviewOutput reports whether an output of that many tokens has room, on top of
// what is reserved, without reserving it. A policy that ends where the
// context is full asks the guard. Any other one makes room before the next call, so
// that what counts is whether new content, system prompt and tools fit together.
func (m *measures) PreviewOutput(tokens int) bool {
	if m.ends() {
		return m.guard.CanExecute() && m.guard.Preview(m.resolved, tokens)
	}
	used, limit := m.Room()
	return used+min(max(tokens, 0), limit+1) <= limit
}

// Room returns what is used of the room that outputs share, and how much there is, in
// tokens of the largest target.
func (m *measures) Room() (used, limit int) {
	for _, t := range m.resolved {
		limit = max(limit, t.Window.Limit())
	}
	if m.ends() {
		return m.guard.Project(0).Base, limit
	}
	c := m.guard.Counters()
	return m.gauge.System() + c.Schema + c.Fresh + m.guard.Reserved(), limit
}
