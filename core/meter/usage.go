package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Append books the newest item of the view, a message of the transcript.
func (m *Meter) Append(it edit.Item) {
	m.hear(it.Message)
	at := placed{Item: &it}
	size := m.scale.item(at)
	m.shown.add(at, size)
	m.framed = m.scale.frame.add(m.framed, it.Message)
	if m.anchor != nil && m.anchor.reply == it.Message.ID { // it has just become the anchor's
		m.anchor.base = m.anchor.base.Add(size.Size)
	}
}

// hear takes in what a new message tells beyond its size: about thinking, where a Turn
// begins, and which reply it is that was reported.
func (m *Meter) hear(msg llm.Message) {
	m.last = msg.ID
	m.hosted = m.hosted || usesHosted(msg)
	switch cal := m.scale.cal; {
	case cal == nil || m.taught:
	case msg.Origin == llm.Human:
		cal.Turn()
	case usesHosted(msg):
		cal.Hosted()
	case isReply(msg):
		cal.Reply(m.awaits.thinking(&m.scale, msg))
	}
	if m.awaits.output <= 0 || !isReply(msg) {
		return
	}
	m.scale.known[msg.ID] = m.awaits.output
	if m.awaits.covered {
		m.anchor.reply = msg.ID
	}
	m.awaits.output = none
}

// isReply reports whether msg is what a call to a model returned.
func isReply(msg llm.Message) bool {
	return msg.Origin == llm.Model && !msg.Flags.Has(llm.FlagSynthetic)
}

// thinking returns the tokens of thinking in the reply that msg is: as reported, else
// what the reported output has beyond the visible reply, else by its text.
func (r reply) thinking(s *scale, msg llm.Message) int {
	if r.output > 0 && r.reasoning > 0 {
		return r.reasoning
	}
	thinking, visible := 0, 0
	for _, p := range msg.Parts {
		if _, thinks := p.(llm.Thinking); thinks {
			thinking += s.tokens(s.part(p))
		} else {
			visible += s.tokens(s.part(p))
		}
	}
	if thinking > 0 && r.output > 0 {
		return r.output - visible
	}
	return thinking
}

// Leave notes that a request with all that is booked leaves: v, which ends at a border.
func (m *Meter) Leave(at Border, v edit.View) {
	m.stay = &stay{left: m.left, awaits: m.awaits}
	if m.anchor != nil {
		m.stay.output = m.anchor.Output
	}
	if m.awaits.covered && m.awaits.output > 0 { // that reply never came
		m.anchor.Output = 0
	}
	m.awaits = reply{output: none}
	if m.scale.cal == nil {
		return
	}
	d := departure{Border: at, view: v, front: m.front, messages: m.shown.total, framed: m.framed, sure: m.shown.sure, count: m.Count()}
	if a := m.anchor; a != nil {
		removed, inserted := a.changes(m.front)
		d.since, d.doubt, d.edited = a.since(d.messages), a.doubt, touched(removed, inserted)
		if d.edited {
			caution := m.scale.cal.Caution(token.GrowthOf(removed), token.GrowthOf(inserted))
			d.doubt = min(caution, max(d.count.Point-m.floor(), 0))
		}
	}
	m.left = &d
}

// Stay takes back the last Leave, of a request that never left.
func (m *Meter) Stay() {
	if s := m.stay; s != nil {
		m.left, m.awaits = s.left, s.awaits
		if m.anchor != nil {
			m.anchor.Output = s.output
		}
	}
	m.stay = nil
}

// A Usage is what was said about the request that left last and the reply to it.
type Usage struct {
	llm.Usage
	Reported      bool // by a provider, about exactly what was sent
	OutputUnknown bool // the output is not the final figure
}

// Usage takes the usage of the request that left last. Without one it is about all there
// is: v, up to now.
func (m *Meter) Usage(u Usage, now Border, v edit.View) {
	if m.scale.cal == nil {
		return
	}
	if m.left == nil {
		m.Leave(now, v)
	}
	m.awaits = reply{output: none}
	if !u.OutputUnknown && u.Output > 0 {
		m.awaits = reply{output: u.Output, reasoning: u.Reasoning}
	}
	if !u.Reported || u.Prompt() == 0 {
		return
	}
	left := *m.left
	m.left, m.stay = nil, nil
	if tokens, ok := left.front.prompt(m.scale.frame, left.messages, left.sure, left.framed); ok && !m.hosted && !m.taught {
		m.scale.cal.ObserveFramed(tokens, u.Prompt()+u.Cleared)
	}
	prompt, doubt := u.Prompt(), 0
	if prompt == left.count.Point || prompt == left.count.Bound {
		prompt, doubt = left.count.Point, left.doubt // our own count comes back: nothing more is known
	}
	if !m.taught {
		left.teach(m.scale.cal, m.anchor, prompt+u.Cleared)
	}
	m.anchor = &anchor{
		Anchor: token.Anchor{Prompt: prompt, Output: u.Output}, doubt: doubt, cleared: u.Cleared,
		growth: growth{Border: left.Border, was: left.front, base: left.messages},
	}
	if u.OutputUnknown {
		m.anchor.Output = none
	}
	m.awaits.covered = m.awaits.output > 0
	if left.Edit != now.Edit {
		m.anchor.differ(&m.scale, Compare(left.view, v))
	}
}

// teach tells a calibration what the reported prompt of d says about what came to the one
// before it, of anchor a.
func (d *departure) teach(cal *token.Calibration, a *anchor, prompt int) {
	switch {
	case d.edited:
	case a == nil:
		cal.Observe(token.Anchor{}, token.Growth{}, prompt)
	default:
		g := token.GrowthOf(d.since)
		g.OutputUnknown = true
		whole := a.Anchor // what the provider took out says nothing of what text costs
		whole.Prompt += a.cleared
		cal.Observe(whole, g, prompt)
	}
}
