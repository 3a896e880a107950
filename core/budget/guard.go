package budget

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Counters are what the guard adds up, in tokens.
type Counters struct {
	Current   int // committed: the conversation as the last call saw it, tools and reply included
	Pending   int // waits to be committed: what a Turn began with
	Fresh     int // came during this Step: tool outputs, messages
	Schema    int // estimate of the tool definitions
	Reasoning int // shown only, in no projection
}

// Total returns what has come: the conversation without what is reserved.
func (c Counters) Total() int { return sum(sum(c.Current, c.Pending), c.Fresh) }

// A Guard watches a session's tokens before each call. Its moments, in order:
//
//	TurnStart         what the session and each Turn begin with is pending
//	SetSchema         the tools changed
//	BeginRequest      a call leaves: what waits is committed, so that a retry counts it once
//	Commit            a call succeeded: what the provider reported replaces the estimates
//	AddFresh          messages and outputs after it
//	Hold, Release     room is held for an output that is on its way, or not any more
//	Edited            an edit changed what the view has
//	Kept, Withdrawn   the edits since the last one are durable, or taken back
//	Enforce           the final Step is forced
//
// A failed call has no moment: nothing changes. The conversation's
// counters never fall but by Commit, Edited and Rebase; negative amounts count as
// 0. Reservations are in no counter: they are the projection's extra tokens. The
// zero Guard is ready. It is not safe for concurrent use.
type Guard struct {
	counters Counters
	reserved int // held for outputs that are on their way
	inFlight bool
	within   int // schema tokens that Current already contains
	sent     int // schema tokens of the call that is in flight
	exceeded bool
	forced   bool
	edited   Counters // what edits that may be withdrawn have added, or taken: negative
}

// A GuardState is what a guard has counted, to be written down.
type GuardState struct {
	Current   int  `json:"current,omitempty"`
	Pending   int  `json:"pending,omitempty"`
	Fresh     int  `json:"fresh,omitempty"`
	Schema    int  `json:"schema,omitempty"`
	Reasoning int  `json:"reasoning,omitempty"`
	Reserved  int  `json:"reserved,omitempty"`
	InFlight  bool `json:"in_flight,omitempty"` // a call left that was not answered
	Within    int  `json:"within,omitempty"`    // schema tokens in Current
	Sent      int  `json:"sent,omitempty"`      // schema tokens of the call that left
	Exceeded  bool `json:"exceeded,omitempty"`
	Forced    bool `json:"forced,omitempty"`
}

// State returns what g has counted.
func (g *Guard) State() GuardState {
	c := g.counters
	return GuardState{c.Current, c.Pending, c.Fresh, c.Schema, c.Reasoning, g.reserved, g.inFlight, g.within, g.sent, g.exceeded, g.forced}
}

// Restore takes g to a state that was written down.
func (g *Guard) Restore(s GuardState) {
	g.counters = Counters{sane(s.Current), sane(s.Pending), sane(s.Fresh), sane(s.Schema), sane(s.Reasoning)}
	g.reserved, g.inFlight, g.within, g.sent = sane(s.Reserved), s.InFlight, sane(s.Within), sane(s.Sent)
	g.exceeded, g.forced = s.Exceeded, s.Forced
}

// Counters returns the counters as they are.
func (g *Guard) Counters() Counters { return g.counters }

// TurnStart opens a Turn with a Human message and what came with it. Tools may
// run again.
func (g *Guard) TurnStart(pending int) {
	g.counters.Pending = sum(g.counters.Pending, pending)
	g.exceeded, g.forced = false, false
}

// AddFresh counts what came during a Step: tool outputs, and replies that no
// Commit has counted.
func (g *Guard) AddFresh(tokens int) { g.counters.Fresh = sum(g.counters.Fresh, tokens) }

// SetSchema sets the estimate of the tools that the next call will send. The guard
// document takes their count times 2.09.
func (g *Guard) SetSchema(tokens int) { g.counters.Schema = sane(tokens) }

// SetReasoning sets the tokens of reasoning that are shown.
func (g *Guard) SetReasoning(tokens int) { g.counters.Reasoning = sane(tokens) }

// BeginRequest notes that a call leaves with everything counted so far. It may
// be called again for a retry.
func (g *Guard) BeginRequest() {
	g.settle()
	g.inFlight, g.sent = true, g.counters.Schema
}

// Commit takes over what a successful call reported: prompt and output, which
// include the tools. What came since the call left stays pending or fresh. A
// usage that reports no prompt changes nothing and returns false: an
// error with 0 tokens must not wipe the count.
func (g *Guard) Commit(u llm.Usage) bool {
	if u.Prompt() <= 0 {
		return false
	}
	if !g.inFlight {
		g.BeginRequest() // nobody said that a call left: all that waited is in it
	}
	g.counters.Current, g.edited.Current = sane(u.Total()), 0
	g.within = g.sent
	g.inFlight = false
	return true
}

// Edited notes that an edit made the view larger by that many tokens, or, where
// negative, smaller. What came last gives way first, so that a call's figures
// stay as they were reported as long as only newer content was edited.
func (g *Guard) Edited(by int) {
	was := g.counters
	if by >= 0 {
		g.AddFresh(by)
	}
	left := sane(-by)
	for _, c := range []*int{&g.counters.Fresh, &g.counters.Pending, &g.counters.Current} {
		taken := min(left, *c)
		*c -= taken
		left -= taken
	}
	g.edited.Fresh += g.counters.Fresh - was.Fresh
	g.edited.Pending += g.counters.Pending - was.Pending
	g.edited.Current += g.counters.Current - was.Current
}

// Kept notes that the edits so far are durable.
func (g *Guard) Kept() { g.edited = Counters{} }

// Withdrawn takes back what the edits since Kept have changed: the counters are as if
// these had never been made.
func (g *Guard) Withdrawn() {
	g.counters.Fresh = sane(g.counters.Fresh - g.edited.Fresh)
	g.counters.Pending = sane(g.counters.Pending - g.edited.Pending)
	g.counters.Current = sane(g.counters.Current - g.edited.Current)
	g.Kept()
}

// Rebase sets the count of a view of which nothing else is known, tools included
// as in Current.
func (g *Guard) Rebase(view int) {
	g.counters.Current, g.counters.Pending, g.counters.Fresh = sane(view), 0, 0
	g.Kept()
	g.within = g.counters.Schema
	g.inFlight = false
}

// Enforce forces the final Step: everything that waits is committed, also what
// is fresh, so that nothing reserved is forgotten. It returns whether this was the
// first time in the Turn.
func (g *Guard) Enforce() bool {
	first := !g.forced
	g.forced = true
	g.settle()
	return first
}

// Hold holds room for a tool output that is on its way. Whether there is any
// is asked before: see Preview.
func (g *Guard) Hold(tokens int) { g.reserved = sum(g.reserved, tokens) }

// Release gives back room that was held, when the output has come or will not.
func (g *Guard) Release(tokens int) { g.reserved = sane(g.reserved - sane(tokens)) }

// Reserved returns the tokens that are held now.
func (g *Guard) Reserved() int { return g.reserved }

// Exceed notes that an output found no room, so that no more tools may run in this Turn.
func (g *Guard) Exceed() { g.exceeded = true }

// Exceeded reports whether an output found no room in this Turn.
func (g *Guard) Exceeded() bool { return g.exceeded }

// Preview reports whether any target has room for a tool output, without
// reserving it.
func (g *Guard) Preview(targets []Target, tokens int) bool {
	return g.decide(targets, sane(tokens)).Decision != Final
}

// CanExecute reports whether another tool may run.
func (g *Guard) CanExecute() bool { return !g.exceeded && !g.forced }

// settle commits what waits.
func (g *Guard) settle() {
	g.counters.Current = g.counters.Total()
	g.counters.Pending, g.counters.Fresh = 0, 0
	g.edited = Counters{Current: g.edited.Current + g.edited.Pending + g.edited.Fresh}
}

// base returns the projection without tools (R000-3). What is reserved is extra.
func (g *Guard) base(extra int) int { return sum(g.counters.Total(), sum(g.reserved, extra)) }

// sane returns n within [0, absurd].
func sane(n int) int { return min(max(n, 0), absurd) }

// sum adds without leaving [0, absurd].
func sum(a, b int) int { return sane(sane(a) + sane(b)) }
