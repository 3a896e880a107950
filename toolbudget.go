package plimsoll

import (
	"context"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// A ToolBudget is the room that tool outputs have. All its methods share one
// lock with the session, so that calls which run side by side never hold more than
// there is. Every figure is in tokens, the most that any target counts.
//
//	if !b.CanExecute("read") {
//		return session.Skip(ctx, call.CallID)
//	}
//	held, err := b.Reserve(ctx, 2_000) // the most that the tool puts out
//	…run it…
//	placement, err := session.ToolResult(ctx, plimsoll.Result{CallID: call.CallID, Body: output, Reserved: held})
//
// An output of no more than what was reserved for it is placed in any case, whatever
// others do meanwhile. A reservation ends with its ToolResult, with Release, and at the
// latest with the next Prepare; nor does it survive a restart, after which its tool no
// longer runs. Reserving is optional: ToolResult asks for room, too.
//
// What is reserved is held against the policy's own sum, as its document has it. An output
// without a reservation has to find room by the count as well, whose upper bound is more
// where no tokenizer is known.
type ToolBudget struct{ s *Session }

// A BudgetError says that an output has no room.
type BudgetError struct {
	Tokens   int  // that were asked for
	Used     int  // of the limit, with what others have reserved
	Limit    int  // of the largest target
	Exceeded bool // no more tools run in this Turn
}

// Error gives the figures.
func (e *BudgetError) Error() string {
	if e.Exceeded {
		return "plimsoll: reserve: the tool budget is exceeded, want the next Turn"
	}
	return fmt.Sprintf("plimsoll: reserve: want at most %d tokens, got %d (%d of %d are used or reserved)",
		max(e.Limit-e.Used, 0), e.Tokens, e.Used, e.Limit)
}

// Budget returns the session's tool budget.
func (s *Session) Budget() ToolBudget { return ToolBudget{s} }

// Count returns the tokens of a text.
func (b ToolBudget) Count(text string) int {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return b.s.machine.CountText(text)
}

// CanExecute reports whether a tool may run: any, until an output found no room or the
// final Step was forced, and the policy's own tools at any time.
func (b ToolBudget) CanExecute(tool string) bool {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return !b.s.closed && b.s.machine.CanExecute(tool)
}

// Preview reports whether an output of that many tokens has room, and reserves
// nothing.
func (b ToolBudget) Preview(tokens int) bool {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return !b.s.closed && b.s.machine.PreviewOutput(tokens)
}

// Reserve holds room for an output. Without room the error is a *[BudgetError]: the
// tool may still run, and its output becomes a handle; or [Session.Skip] says that it did
// not. Where not even a handle has room, under a policy that ends there, no more tools
// run in this Turn.
func (b ToolBudget) Reserve(ctx context.Context, tokens int) (Reservation, error) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.feed(ctx, engine.Reserve{Tokens: tokens})
	if err != nil {
		return Reservation{}, err
	}
	if done.Grant != engine.GrantHeld {
		used, limit := s.machine.Room()
		return Reservation{}, &BudgetError{Tokens: tokens, Used: used, Limit: limit, Exceeded: !s.machine.CanExecute("")}
	}
	return s.held.add(tokens), nil
}

// Release gives a reservation back whose output will not come. Doing so again, or after
// the output came, changes nothing.
func (b ToolBudget) Release(r Reservation) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	_ = b.s.settled(context.Background()) // which does not end
	if n := b.s.held.take(r); n > 0 {
		// The only error is that the store has failed before: then nothing is held any more.
		_, _ = b.s.driver.Feed(context.Background(), engine.Release{Tokens: n})
	}
}
