package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A Placement says what became of a tool output when it came.
type Placement struct {
	CallID  string
	Message llm.MessageID // that it stands in
	Part    int
	Shown   Shown
	Reason  Cause   // why it is not shown whole; empty if it is
	Ref     llm.Ref // under which the whole of it is stored; empty if it is not
	Bytes   int     // of the whole
	Lines   int     // of the whole; a last line without a newline counts

	came Shown // as far as no rule has acted
	ref  llm.Ref
}

// Shown is how much of an output the model sees.
type Shown string

// What the model sees.
const (
	ShownWhole  Shown = "whole"
	ShownPart   Shown = "part"   // shortened: the rest can be read back
	ShownHandle Shown = "handle" // nothing of it, but its ref
	ShownFailed Shown = "failed" // that there was no room for it
)

// A Cause is why an output is not shown whole.
type Cause string

// The causes.
const (
	CauseSizeCap     Cause = "size_cap"     // it is larger than one output may be
	CauseTokenBudget Cause = "token_budget" // no target has room for it
	CauseRepeated    Cause = "repeated"     // what it says is shown already
)

// untouched is where an output stands before any rule has acted on it.
func (p Placement) untouched() Placement {
	p.Shown, p.Ref, p.Reason = p.came, p.ref, ""
	if p.came != ShownWhole {
		p.Reason = CauseSizeCap
	}
	return p
}

// causeOf returns why a rule shows less of an output.
func causeOf(r policy.Rule) Cause {
	switch {
	case r.Do == policy.DoDedup:
		return CauseRepeated
	case r.Do == policy.DoFail, r.When.Measure == policy.MeasureGuard:
		return CauseTokenBudget
	}
	return CauseSizeCap
}

// A Grant says what became of a Reserve.
type Grant string

// What becomes of one.
const (
	GrantHeld   Grant = "held"    // the room is held
	GrantNoRoom Grant = "no_room" // there is none
)

// unstored is where an output stands that could not be stored, unless its host had done so.
func (p Placement) unstored() Placement {
	if p.came == ShownWhole {
		p.ref = ""
	}
	return p.untouched()
}
