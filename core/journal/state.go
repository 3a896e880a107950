package journal

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A State is all that a machine knows and that is neither message nor edit, as of the
// request beside which it was written. A restart reads it back whole, and then what came
// after it ([Snapshot.Tail]). It holds no texts and nothing that grows with the session:
// summaries stand in the records of answers, and the sizes of replies in those of usage.
type State struct {
	LastEdit edit.ID // the highest number given out
	Reports  int     // of usage so far

	Guard   budget.GuardState
	Usage   llm.Usage // reported last
	Covered bool      // that usage contains the reply to come
	Opened  bool      // a Turn began since the last request
	Wanted  string    // why the next Step is to be a final one; empty: it is not
	Final   string    // why this one is
	Limits  []Limit   // what was learnt, by target
	Meters  []MeterState
	Targets string // a name for those that the rules have tried for, with their windows

	Rules    []RuleState     // of which there is something to know, by name
	Declined DeclinedSummary // the summary that was not used
	Asks     []Ask           // without an answer, that nobody waits for
	Summary  int             // the Ask whose answer waits for a batch; 0: none does
	Sent     Sent

	short bool // it is of a [Page], and not whole
}

// A Limit is what was learnt about a target: what refusals taught, and what was accepted
// all the same.
type Limit struct {
	Target   string // by name
	Window   int    // in tokens; 0: nothing
	Bytes    int    // the most of a request; 0: nothing
	Accepted int    // tokens of a prompt above what was thought the most; 0: none
}

// A RuleState is what a rule has done.
type RuleState struct {
	Rule  string
	Tried Situation // in which it was tried last; zero: it was not
	Due   bool      // its moment has passed, it acts before the next call
	Noted bool      // its note stands until there is room again
}

// A Situation names what a rule was tried on.
type Situation struct {
	Messages int     `json:"messages,omitempty"`
	Edit     edit.ID `json:"edit,omitempty"` // the newest
	Reports  int     `json:"reports,omitempty"`
}

// A DeclinedSummary says about what a summary was made that was not used.
type DeclinedSummary struct {
	To     llm.MessageID `json:"to,omitempty"`     // the messages before it
	Tokens int           `json:"tokens,omitempty"` // what they took
	Failed bool          `json:"failed,omitempty"` // there was none, and it may be asked for once more
}

// Sent is the request that was sent last.
type Sent struct {
	Target   string  // by name; empty: none was
	Edit     edit.ID // the newest
	Messages int
	Output   int // what it let the reply have, in tokens
}

// state is a State as it is written.
type state struct {
	Edit     edit.ID           `json:"edit,omitempty"`
	Reports  int               `json:"reports,omitempty"`
	Guard    budget.GuardState `json:"guard,omitzero"`
	Usage    *usage            `json:"usage,omitempty"`
	Covered  bool              `json:"covered,omitempty"`
	Opened   bool              `json:"opened,omitempty"`
	Wanted   string            `json:"wanted,omitempty"`
	Final    string            `json:"final,omitempty"`
	Meters   []meterState      `json:"meters,omitempty"`
	Targets  string            `json:"targets,omitempty"`
	Limits   []limit           `json:"limits,omitempty"`
	Rules    []ruleState       `json:"rules,omitempty"`
	Declined DeclinedSummary   `json:"declined,omitzero"`
	Asks     []*ask            `json:"asks,omitempty"`
	Summary  int               `json:"summary,omitempty"`
	Sent     *sent             `json:"sent,omitempty"`
	Short    bool              `json:"short,omitempty"`
	B64      odd               `json:"b64,omitempty"`
}

type limit struct {
	Target   string `json:"target,omitempty"`
	Window   int    `json:"window,omitempty"`
	Bytes    int    `json:"bytes,omitempty"`
	Accepted int    `json:"accepted,omitempty"`
	B64      odd    `json:"b64,omitempty"`
}

type ruleState struct {
	Rule  string    `json:"rule,omitempty"`
	Tried Situation `json:"tried,omitzero"`
	Due   bool      `json:"due,omitempty"`
	Noted bool      `json:"noted,omitempty"`
	B64   odd       `json:"b64,omitempty"`
}

type sent struct {
	Target   string  `json:"target,omitempty"`
	Edit     edit.ID `json:"edit,omitempty"`
	Messages int     `json:"messages,omitempty"`
	Output   int     `json:"output,omitempty"`
	B64      odd     `json:"b64,omitempty"`
}

func stateOf(s State) *state {
	w := &state{
		Edit: s.LastEdit, Reports: s.Reports, Guard: s.Guard, Covered: s.Covered, Opened: s.Opened,
		Declined: s.Declined, Summary: s.Summary, Short: s.short,
	}
	if !s.Usage.IsZero() {
		w.Usage = figuresOf(s.Usage)
	}
	w.Targets = w.B64.put("targets", s.Targets)
	w.Wanted, w.Final = w.B64.put("wanted", s.Wanted), w.B64.put("final", s.Final)
	w.Meters = meterStatesOf(s.Meters)
	for _, l := range s.Limits {
		n := limit{Window: l.Window, Bytes: l.Bytes, Accepted: l.Accepted}
		n.Target = n.B64.put("target", l.Target)
		w.Limits = append(w.Limits, n)
	}
	for _, r := range s.Rules {
		n := ruleState{Tried: r.Tried, Due: r.Due, Noted: r.Noted}
		n.Rule = n.B64.put("rule", r.Rule)
		w.Rules = append(w.Rules, n)
	}
	for _, a := range s.Asks {
		w.Asks = append(w.Asks, askOf(a))
	}
	if s.Sent != (Sent{}) {
		w.Sent = &sent{Edit: s.Sent.Edit, Messages: s.Sent.Messages, Output: s.Sent.Output}
		w.Sent.Target = w.Sent.B64.put("target", s.Sent.Target)
	}
	return w
}

func (w *state) state() State {
	s := State{
		LastEdit: w.Edit, Reports: w.Reports, Guard: w.Guard, Covered: w.Covered, Opened: w.Opened,
		Targets: w.B64.get("targets", w.Targets), Wanted: w.B64.get("wanted", w.Wanted), Final: w.B64.get("final", w.Final), Declined: w.Declined, Summary: w.Summary, short: w.Short,
	}
	if w.Usage != nil {
		s.Usage = w.Usage.figures()
	}
	s.Meters = readMeterStates(w.Meters)
	for _, l := range w.Limits {
		s.Limits = append(s.Limits, Limit{Target: l.B64.get("target", l.Target), Window: l.Window, Bytes: l.Bytes, Accepted: l.Accepted})
	}
	for _, r := range w.Rules {
		s.Rules = append(s.Rules, RuleState{Rule: r.B64.get("rule", r.Rule), Tried: r.Tried, Due: r.Due, Noted: r.Noted})
	}
	for _, a := range w.Asks {
		s.Asks = append(s.Asks, a.ask())
	}
	if t := w.Sent; t != nil {
		s.Sent = Sent{Target: t.B64.get("target", t.Target), Edit: t.Edit, Messages: t.Messages, Output: t.Output}
	}
	return s
}
