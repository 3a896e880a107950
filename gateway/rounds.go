package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// mostRounds is how many Rounds of one exchange are hidden at most. In the last one the
// model is told to answer instead.
const mostRounds = 12

// enough is what the model is told then.
const enough = "That is enough reading for one answer. Answer now, from what you have; in a later step you can read on."

// errOvertaken says that another request of the conversation has left meanwhile.
var errOvertaken = errors.New("another request of the conversation has left meanwhile")

// serve takes in a reply that calls tools of ours, and answers those calls. It returns true
// if Body is the next request of the exchange; false if the reply is the client's turn,
// since it calls tools of the client's as well.
func (x *Exchange) serve(ctx context.Context, reply llm.Response, told bool) (again bool, err error) {
	x.family.mu.Lock()
	defer x.family.mu.Unlock()
	b := x.branch
	if b.last != x.number && !(told && b.last == 0) {
		return false, errOvertaken
	}
	if b.session == nil {
		if err := x.gateway.fresh(ctx, x.family, b, x.target); err != nil {
			return false, err
		}
	}
	if err := x.answer(ctx, b.session, reply.Message); err != nil {
		x.family.forget()
		return false, err
	}
	if hidden := x.cover.calls(reply.Message); len(hidden) < len(reply.Message.Calls()) {
		return false, x.gateway.store.flush(ctx, b.name)
	}
	send, err := b.session.Prepare(ctx, x.target)
	if err != nil {
		return false, err
	}
	return true, x.leave(ctx, b, send)
}

// answer adds a reply to the session and the outputs of its calls that are ours.
func (x *Exchange) answer(ctx context.Context, s *plimsoll.Session, reply llm.Message) error {
	reply.ID, reply.Role, reply.Origin = 0, llm.RoleAssistant, llm.Model
	if err := s.Append(ctx, owned(reply)); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	x.report.Rounds++
	for _, call := range x.cover.calls(reply) {
		if x.report.Rounds >= mostRounds {
			if err := s.Append(ctx, llm.ToolError(call.CallID, enough)); err != nil {
				return fmt.Errorf("call %s: %w", call.Name, err)
			}
			continue
		}
		served, err := s.Builtin(ctx, call)
		if err == nil && !served {
			err = s.Append(ctx, llm.ToolError(call.CallID, "There is no such tool."))
		}
		if err != nil {
			return fmt.Errorf("call %s: %w", call.Name, err)
		}
	}
	return nil
}
