package wire

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Reply gathers the events of a stream into the reply that they tell. The zero Reply
// is ready for use.
type Reply struct {
	r     llm.Response
	parts []part
	ended bool
}

type part struct {
	index int
	part  llm.Part
}

// Add takes the next event.
func (a *Reply) Add(e llm.Event) {
	switch e.Kind {
	case llm.EventStart:
		a.r.ID, a.r.Model, a.r.Usage = e.ID, e.Model, e.Usage
	case llm.EventPartEnd:
		a.parts = append(a.parts, part{e.Index, e.Part})
	case llm.EventEnd:
		a.r.Stop, a.r.Reason, a.r.Usage, a.r.Extra = e.Stop, e.Reason, e.Usage, e.Extra
		a.ended = true
	}
}

// Ended reports whether the reply is whole.
func (a *Reply) Ended() bool { return a.ended }

// Response returns what was told so far: whole parts only, in their order.
func (a *Reply) Response(d llm.Dialect) llm.Response {
	r := a.r
	r.Dialect = d
	r.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: d}
	slices.SortStableFunc(a.parts, func(x, y part) int { return x.index - y.index })
	for _, p := range a.parts {
		r.Message.Parts = append(r.Message.Parts, p.part)
	}
	return r
}

// Events returns the events that a stream of r would have: each part in one delta.
func Events(r llm.Response) []llm.Event {
	begun := r.Usage
	begun.Cleared = 0 // providers tell it at the end
	events := []llm.Event{{Kind: llm.EventStart, ID: r.ID, Model: r.Model, Usage: begun}}
	for i, p := range r.Message.Parts {
		events = append(events, eventsOf(i, p)...)
	}
	return append(events, llm.Event{Kind: llm.EventEnd, Stop: r.Stop, Reason: r.Reason, Usage: r.Usage, Extra: r.Extra})
}

func eventsOf(i int, p llm.Part) []llm.Event {
	start, deltas := p, []llm.Event(nil)
	delta := func(kind llm.DeltaKind, text string) {
		if text != "" {
			deltas = append(deltas, llm.Event{Kind: llm.EventDelta, Index: i, Delta: kind, Text: text})
		}
	}
	switch p := p.(type) {
	case llm.Text:
		start = llm.Text{}
		delta(llm.DeltaText, p.Text)
	case llm.Thinking:
		if !p.Redacted {
			start = llm.Thinking{}
			delta(llm.DeltaText, p.Text)
			delta(llm.DeltaSignature, p.Signature)
		}
	case llm.ToolCall:
		start = llm.ToolCall{CallID: p.CallID, Name: p.Name, Custom: p.Custom, Hosted: p.Hosted}
		delta(llm.DeltaArgs, p.Args)
	}
	events := append([]llm.Event{{Kind: llm.EventPartStart, Index: i, Part: start}}, deltas...)
	return append(events, llm.Event{Kind: llm.EventPartEnd, Index: i, Part: p})
}
