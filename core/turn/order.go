package turn

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A TornError says that a request would have a call without its result, or a result
// without its call, where a provider looks for it.
type TornError struct {
	CallID   string
	Position int // of the message with the call or the result
	Reason   string
}

// Reasons in a TornError.
const (
	ReasonUnanswered = "the conversation goes on without the result of the call"
	ReasonMisplaced  = "no call of the reply before has this id and waits for its result"
)

// Error describes the fault.
func (e *TornError) Error() string {
	return fmt.Sprintf("turn: order: call id %q at message %d, want results between their calls and the next reply, got: %s", e.CallID, e.Position, e.Reason)
}

// An Order follows the messages of a request as a provider reads them: what the model
// wrote in a row is one reply, and before the next one each of its calls has its result.
// Unlike an [Index], which pairs what belongs together wherever it stands, it says
// whether the request may leave. The zero Order is at the start of a request.
type Order struct {
	length  int
	replied bool // the last message is the model's
	waiting []Call
	hosted  map[string]bool // ids of calls that the provider runs: their results may come late
}

// Next takes the next message, or returns a *TornError if it may not stand there.
func (o *Order) Next(m llm.Message) error {
	if m.Role == llm.RoleAssistant && !o.replied {
		if err := o.End(); err != nil {
			return err
		}
	}
	for i, p := range m.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if !p.Hosted {
				o.waiting = append(o.waiting, Call{Position: o.length, Part: i, CallID: p.CallID, Name: p.Name})
				continue
			}
			if o.hosted == nil {
				o.hosted = map[string]bool{}
			}
			o.hosted[p.CallID] = true
		case llm.ToolResult:
			if !o.answered(p.CallID) && !o.hosted[p.CallID] {
				return &TornError{CallID: p.CallID, Position: o.length, Reason: ReasonMisplaced}
			}
		}
	}
	o.replied = m.Role == llm.RoleAssistant
	o.length++
	return nil
}

// answered takes a call with that id off those that wait.
func (o *Order) answered(callID string) bool {
	for i, c := range o.waiting {
		if c.CallID == callID {
			o.waiting = append(o.waiting[:i:i], o.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// End returns a *TornError if the request may not end after the messages so far.
func (o *Order) End() error {
	if len(o.waiting) > 0 {
		return &TornError{CallID: o.waiting[0].CallID, Position: o.waiting[0].Position, Reason: ReasonUnanswered}
	}
	return nil
}

// Len returns how many messages were taken.
func (o *Order) Len() int { return o.length }
