package meter

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A State is what a meter knows that messages and edits do not tell, in numbers. It is
// for a record that a restart reads back. The sizes of messages are not in it: they are
// worked out anew.
type State struct {
	Last        llm.MessageID          `json:"last,omitempty"` // the newest message that it knows of
	Calibration token.CalibrationState `json:"calibration,omitzero"`
	Anchor      *Anchor                `json:"anchor,omitempty"`  // the usage that it goes by; nil: none was reported
	Left        *Left                  `json:"left,omitempty"`    // the request that was not answered yet; nil: there is none
	Awaited     *Awaited               `json:"awaited,omitempty"` // what was reported of the reply to come; nil: nothing was
}

// An Anchor is a prompt whose size was reported.
type Anchor struct {
	Border
	Front  Front         `json:"front,omitempty"`
	Prompt int           `json:"prompt,omitempty"` // tokens
	Output int           `json:"output,omitempty"` // of its reply, in tokens; -1: it was not reported
	Doubt  int           `json:"doubt,omitempty"`  // of the prompt: what only caution put there
	Reply  llm.MessageID `json:"reply,omitempty"`  // the reply that the output stands for; 0: it has not come

	Cleared int `json:"cleared,omitempty"` // beside the prompt, taken out by the provider
}

// A Left is the request that left last and was not answered yet.
type Left struct {
	Border
	Front Front `json:"front,omitempty"`
	Point int   `json:"point,omitempty"` // what it was counted as, in tokens
	Bound int   `json:"bound,omitempty"`
	Doubt int   `json:"doubt,omitempty"` // of the point: what only caution put there
}

// An Awaited is what was reported of a reply that has not come.
type Awaited struct {
	Output    int  `json:"output,omitempty"`
	Reasoning int  `json:"reasoning,omitempty"`
	Covers    bool `json:"covers,omitempty"` // the anchor contains it
}

// A Front is what stood before the messages: the tokens that are hidden, then those of
// each component, without the zeros at the end.
type Front []int

// State returns what is to be kept.
func (m *Meter) State() State {
	s := State{Last: m.last}
	if m.scale.cal == nil {
		return s
	}
	if !m.taught {
		s.Calibration = m.scale.cal.State()
	}
	if a := m.anchor; a != nil {
		s.Anchor = &Anchor{Border: a.Border, Front: a.was.list(), Prompt: a.Prompt, Output: a.Output, Doubt: a.doubt, Reply: a.reply, Cleared: a.cleared}
	}
	if l := m.left; l != nil {
		s.Left = &Left{Border: l.Border, Front: l.front.list(), Point: l.count.Point, Bound: l.count.Bound, Doubt: l.doubt}
	}
	if m.awaits.output > 0 {
		s.Awaited = &Awaited{m.awaits.output, m.awaits.reasoning, m.awaits.covered}
	}
	return s
}

// Restore makes a new meter what one with that state was, and takes in the messages that
// have come since. Every later report is the same as if there had been no restart. An
// error means that the state is not one of that past: the meter counts from scratch.
func (m *Meter) Restore(s State, p Past) error {
	if m.scale.cal == nil {
		m.Measure(p)
		return nil
	}
	if !m.taught {
		m.scale.cal.Restore(s.Calibration)
	}
	then, left, err := s.views(p)
	if err != nil { // nothing of the state is about this past
		m.Measure(p)
		return fmt.Errorf("meter: restore: %w", err)
	}
	m.take(s)
	for _, msg := range p.Messages[s.Last:] {
		m.hear(msg)
	}
	m.Measure(p)
	if a := m.anchor; a != nil {
		if a.reply > 0 {
			then.Append(p.Messages[a.reply-1])
		}
		a.base, _ = m.scale.all(then.Items)
		a.differ(&m.scale, Compare(then, p.View))
	}
	if m.left != nil {
		m.left.measure(&m.scale, left, m.anchor, then)
	}
	return nil
}

// views returns the views that the anchor's prompt and the unanswered request were made
// of.
func (s State) views(p Past) (then, left edit.View, err error) {
	end := llm.MessageID(len(p.Messages))
	if s.Last < 0 || s.Last > end {
		return then, left, fmt.Errorf("newest message, want 0 to %d, got %d", end, s.Last)
	}
	if a := s.Anchor; a != nil {
		if a.Reply < 0 || a.Reply > end {
			return then, left, fmt.Errorf("reply of the anchor, want 0 to %d, got %d", end, a.Reply)
		}
		then, err = a.View(p.Messages, p.Journal)
	}
	if l := s.Left; l != nil && err == nil {
		left, err = l.View(p.Messages, p.Journal)
	}
	return then, left, err
}

// take makes the meter one with that state, but for the sizes.
func (m *Meter) take(s State) {
	m.anchor, m.left, m.awaits = nil, nil, reply{output: none}
	if a := s.Anchor; a != nil {
		m.anchor = &anchor{
			Anchor: token.Anchor{Prompt: a.Prompt, Output: a.Output}, doubt: a.Doubt, cleared: a.Cleared,
			growth: growth{Border: a.Border, reply: a.Reply, was: listed(a.Front)},
		}
	}
	if l := s.Left; l != nil {
		m.left = &departure{Border: l.Border, front: listed(l.Front), count: token.Estimate{Point: l.Point, Bound: l.Bound}, doubt: l.Doubt}
	}
	if a := s.Awaited; a != nil && a.Output > 0 {
		m.awaits = reply{a.Output, a.Reasoning, a.Covers && m.anchor != nil}
	}
}

// measure works out what the request was, of which v is the view, and what had become of
// the prompt of anchor a when it left, of which then is the view.
func (d *departure) measure(s *scale, v edit.View, a *anchor, then edit.View) {
	d.view = v
	d.messages, d.sure = s.all(v.Items)
	d.framed = s.frame.framing(v.Items)
	if a == nil {
		return
	}
	g := growth{Border: a.Border, reply: a.reply, was: a.was, base: a.base}
	g.differ(s, Compare(then, v))
	d.since, d.edited = g.since(d.messages), touched(g.changes(d.front))
}
