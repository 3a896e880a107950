package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Report is all that a meter says about its view.
type Report struct {
	token.Estimate                   // the likeliest size, what it hardly exceeds, and what they are worth
	Anchored       bool              // counted from what a provider reported, and not from scratch
	Parts          budget.Components // the view by component, without what the bound adds
	Bytes, Images  int
}

// Report returns all that the meter says.
func (m *Meter) Report() Report {
	r := Report{Estimate: m.Count(), Parts: m.Components()}
	if m.anchor != nil {
		r.Anchored = !m.offline || !touched(m.anchor.changes(m.front))
	}
	r.Bytes, r.Images = m.Wire()
	return r
}

// Count returns the size of the view.
func (m *Meter) Count() token.Estimate {
	cal := m.scale.cal
	if cal == nil {
		n := m.Total()
		return token.Estimate{Point: n, Bound: n, Kind: m.scale.counter.Kind()}
	}
	if tokens, ok := m.front.prompt(m.scale.frame, m.shown.total, m.shown.sure, m.framed); ok && !m.hosted {
		if e, ok := cal.Framed(tokens); ok {
			return e
		}
	}
	all := m.adds(m.size())
	since := all
	all.Hosted = false // what was found came since the anchor, or the anchor has it
	switch {
	case m.anchor != nil:
		since = m.adds(m.anchor.since(m.shown.total))
	case m.offline && m.front.hidden > 0:
		// The known overhead is as good as a report of the empty prompt.
		return cal.After(token.Anchor{Prompt: m.front.hidden}, all)
	default:
		return cal.Scratch(m.front.hidden, all, since)
	}
	removed, inserted := m.anchor.changes(m.front)
	switch {
	case !touched(removed, inserted):
		return cal.After(m.anchor.Anchor, since)
	case m.offline:
		return cal.Scratch(m.front.hidden, all, since)
	}
	sure := token.Anchor{Prompt: m.anchor.Prompt - m.anchor.doubt, Output: m.anchor.Output}
	return least(m.floor(), cal.Edited(sure, token.GrowthOf(removed), token.GrowthOf(inserted), since))
}

// touched reports whether something has become of a prompt itself.
func touched(removed, inserted token.Size) bool {
	return removed != token.Size{} || inserted != token.Size{}
}

// least raises an estimate to what all there is costs. It is less where a provider
// clears old content by itself, so that what is removed here was not reported.
func least(floor int, e token.Estimate) token.Estimate {
	short := max(floor-e.Point, 0)
	e.Point, e.Bound = e.Point+short, e.Bound+short
	return e
}

// floor returns what all there is costs.
func (m *Meter) floor() int { return m.scale.cal.Cost(m.adds(m.size())) + m.front.hidden }

// size returns all there is, but for what is hidden.
func (m *Meter) size() token.Size { return m.front.size().Add(m.shown.total) }

// adds returns what s adds to a prompt, less what is ahead. Replies stand in it as
// text, but for those that are known, which have no calls to count.
func (m *Meter) adds(s token.Size) token.Growth {
	g := token.GrowthOf(s.Sub(m.ahead))
	g.OutputUnknown, g.Hosted = true, m.hosted
	return g
}

// Total returns the view in the counter's own tokens.
func (m *Meter) Total() int { return m.front.hidden + m.scale.tokens(m.size()) }

// System returns the system prompt, without the tools, in the counter's own tokens.
func (m *Meter) System() int {
	n := m.front.hidden
	for c := range m.front.tokens {
		if token.Component(c) != token.Tools {
			n += m.scale.tokens(m.front.of(token.Component(c)))
		}
	}
	return n
}

// Component returns a component in the counter's own tokens, without what is hidden.
func (m *Meter) Component(c token.Component) int { return m.scale.tokens(m.Size(c)) }

// Size returns what is booked of a component.
func (m *Meter) Size(c token.Component) token.Size { return m.front.of(c).Add(m.shown.sums[c]) }

// Components returns the view by component.
func (m *Meter) Components() budget.Components {
	return budget.Components{
		System: m.Component(token.System) + m.front.hidden, Skills: m.Component(token.Skills), Tools: m.Component(token.Tools),
		Summary: m.Component(token.Summary), History: m.Component(token.History), Notes: m.Component(token.Notes),
	}
}

// ToolsSize measures tools for [Meter.Tokens].
func (m *Meter) ToolsSize(tools []llm.Tool) (size token.Size) {
	if len(tools) > 0 {
		size = token.SizeOfTools(m.scale.counter, tools)
	}
	return size
}

// Tokens returns what a size takes in a request by what is known now, in tokens, as
// [Meter.Component] does of what is in it.
func (m *Meter) Tokens(size token.Size) int { return m.scale.tokens(size) }

// Outputs returns the tool outputs of the view in tokens, where the meter tells them
// apart ([Meter.TellOutputs]).
func (m *Meter) Outputs() int { return m.scale.tokens(m.shown.outputs) }

// requestFrame is what stands in a request around tools and messages, in bytes, rounded
// up: the names of its fields, the model, the settings that are our own.
const requestFrame = 256

// Wire returns the bytes and images of the request.
func (m *Meter) Wire() (bytes, images int) {
	s := m.size()
	return requestFrame + s.Bytes + s.More, s.Media
}

// Message returns the tokens of a message: of one that the view shows, in the form that
// it is shown in.
func (m *Meter) Message(msg llm.Message) int {
	if shown := m.shown.of(msg.ID); shown != nil {
		return m.scale.tokens(shown.Size)
	}
	return m.scale.tokens(token.SizeOf(m.scale.counter, msg))
}

// Part returns the tokens of a part.
func (m *Meter) Part(p llm.Part) int { return m.scale.partTokens(p) }

// Text returns the tokens of a text.
func (m *Meter) Text(s string) int {
	return m.scale.tokens(token.Size{Tokens: m.scale.counter.Text(s)})
}

// Sent returns the count that the request which left last had; false if it was answered.
func (m *Meter) Sent() (token.Estimate, bool) {
	if m.left == nil {
		return token.Estimate{}, false
	}
	return m.left.count, true
}

// Costs returns what the request that left last costs at least and at most; without one,
// what there is does.
func (m *Meter) Costs() (sure, most int) {
	f, tokens := m.front, m.shown.sure
	if m.left != nil {
		f, tokens = m.left.front, m.left.sure
	}
	if m.scale.cal == nil {
		n := m.Total()
		return n, n
	}
	size := f.size()
	size.Tokens += tokens
	return f.hidden + m.scale.tokens(size), m.front.hidden + m.scale.cal.Cost(token.GrowthOf(m.size()))
}
