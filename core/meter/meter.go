package meter

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Options are what a meter counts by.
type Options struct {
	Key     string // names the meter: those with one key count the same
	Counter token.Counter
	// Calibration is of the model. Without one the counter's figures stand as they are,
	// and usage says nothing: a policy's own estimate.
	Calibration *token.Calibration
	Taught      bool // somebody else teaches the calibration
	// Offline is set where nothing is sent: once the view is edited, no usage belongs to
	// it any more, so that it is counted from scratch.
	Offline bool
}

// A Prompt is what a request is made of.
type Prompt struct {
	View     edit.View
	Sections []llm.Section // those that edits added too
	Tools    []llm.Tool
}

// A Meter counts a view for one target. It is not safe for concurrent use.
type Meter struct {
	key     string
	taught  bool
	offline bool
	scale   scale

	front  front         // what stands before the messages
	shown  shown         // the messages
	framed framing       // what the chat template puts around them
	ahead  token.Size    // of them, outputs in the newest message that no rule has looked at yet
	last   llm.MessageID // the newest message that was appended
	hosted bool          // a tool of the provider's own was used: its findings are in no message

	anchor *anchor    // nil: nothing was reported that still says something
	left   *departure // the request that left last; nil: it was answered
	stay   *stay      // how it was before that; nil: it is sure that it left
	awaits reply      // what was reported of the reply to come
}

// An anchor is a prompt whose size was reported.
type anchor struct {
	token.Anchor     // the output is none where it was not reported
	doubt        int // of the prompt: what only the caution of this meter put there
	cleared      int // that the provider took out of the prompt, beside it
	growth           // since then
}

// A stay is what a Leave has changed: how it was.
type stay struct {
	left   *departure
	awaits reply
	output int // of the anchor
}

// none stands for a number of tokens that nobody reported.
const none = -1

// A departure is a request that left: what it was, and what it was counted as.
type departure struct {
	Border
	view     edit.View
	front    front
	messages token.Size
	framed   framing
	sure     int        // tokens, as of measure
	since    token.Size // what came to the prompt reported before it
	edited   bool       // and something else became of that
	count    token.Estimate
	doubt    int // of the count's point: what only caution put there
}

// A reply is what was reported of one before it came.
type reply struct {
	output    int  // tokens; none: nothing was
	reasoning int  // what of it is thinking, where that was reported
	covered   bool // the anchor counts it
}

// New returns a meter of an empty view.
func New(o Options) *Meter {
	m := &Meter{key: o.Key, taught: o.Taught, offline: o.Offline, awaits: reply{output: none}}
	m.scale = scale{counter: o.Counter, cal: o.Calibration, known: map[llm.MessageID]int{}, frame: frameOf(o.Calibration, o.Counter)}
	m.scale.forget()
	return m
}

// Key returns the name that the meter was given.
func (m *Meter) Key() string { return m.key }

// Counter returns what the meter counts with.
func (m *Meter) Counter() token.Counter { return m.scale.counter }

// Calibration returns what the count has learnt; nil for a counter that stands as it is.
func (m *Meter) Calibration() *token.Calibration { return m.scale.cal }

// A Past is what a session came to.
type Past struct {
	Prompt                         // what there is now
	Messages []llm.Message         // the transcript; Messages[i].ID is i+1
	Journal  []edit.Edit           // all edits in order of ID, superseded ones too
	Known    map[llm.MessageID]int // replies whose size was reported, in tokens
}

// Measure makes a new meter one of all there is, which it has not seen come.
func (m *Meter) Measure(p Past) {
	for id, n := range p.Known {
		m.scale.known[id] = n
	}
	m.last = llm.MessageID(len(p.Messages))
	m.hosted = slices.ContainsFunc(p.Messages, usesHosted)
	m.SetFront(p.Sections, p.Tools)
	m.book(p.View)
}

// book adds a view up.
func (m *Meter) book(v edit.View) {
	m.shown = shown{}
	for it := range place(v.Items) {
		m.shown.add(it, m.scale.item(it))
	}
	m.framed = m.scale.frame.framing(v.Items)
}

// SetFront books the system prompt, with the sections that edits added, and the tools.
func (m *Meter) SetFront(sections []llm.Section, tools []llm.Tool) {
	m.front = m.scale.front(sections, tools)
}

// Edited books what edits changed.
func (m *Meter) Edited(c Change) {
	for _, it := range c.gone {
		m.shown.take(it, m.scale.item(it))
	}
	for _, it := range c.came {
		m.shown.add(it, m.scale.item(it))
	}
	m.framed = m.scale.frame.framing(c.now)
	if m.anchor != nil {
		m.anchor.differ(&m.scale, c)
	}
}

// TellOutputs has the meter measure tool outputs apart from now on; v is the view.
func (m *Meter) TellOutputs(v edit.View) {
	if m.scale.outputs {
		return
	}
	m.scale.outputs = true
	m.scale.forget()
	m.book(v)
}

// Ahead leaves the outputs of the newest message out of the count, until [Meter.Reach]
// puts one after the other back: what one of them may take is what those before it left.
func (m *Meter) Ahead(msg llm.Message) { m.ahead = m.scale.outputsOf(msg) }

// Reach counts one more output of the message that was held back.
func (m *Meter) Reach(r llm.ToolResult) { m.ahead = m.ahead.Sub(m.scale.part(r)) }

// Trial returns a meter on which something can be tried out. It looks things up in m,
// which may not change as long as it is used.
func (m *Meter) Trial() *Meter {
	c := *m
	c.scale, c.shown = m.scale.on(), m.shown.on()
	if m.anchor != nil {
		a := *m.anchor
		a.growth = m.anchor.clone()
		c.anchor = &a
	}
	return &c
}

// usesHosted reports whether a tool of the provider's own ran in msg.
func usesHosted(msg llm.Message) bool {
	return slices.ContainsFunc(msg.Calls(), func(c llm.ToolCall) bool { return c.Hosted })
}
