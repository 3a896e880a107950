package read

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// none marks a call without a result and an entry without calls.
const none = -1

// A pairing says which results answer which calls in the entries of a segment.
type pairing struct {
	*Reading
	in    []sessionfile.Entry
	drop  map[place]bool              // parts that are left out
	move  map[int][]sessionfile.Entry // results that go before an entry, by its position
	calls map[int][]callAt            // calls by the position of their message
	open  map[string]*callAt          // the newest call of each id that may wait for its result; nil behind the last one
	solid int                         // last position that goes on with the conversation, or none
}

// A place is a part of an entry.
type place struct{ entry, part int }

// A callAt is one call of a message.
type callAt struct {
	turn.Call
	hosted   bool
	answered bool
	below    *callAt // the older call without a result that has the same id
}

// Pair makes the entries of a segment fit together as the package comment of
// sessionfile says. Emit calls it.
func (r *Reading) Pair(in []sessionfile.Entry) []sessionfile.Entry {
	p := pairing{Reading: r, in: in, drop: map[place]bool{}, move: map[int][]sessionfile.Entry{}, calls: map[int][]callAt{}, open: map[string]*callAt{}, solid: none}
	p.match()
	return p.assemble()
}

// match finds the call of every result.
func (p *pairing) match() {
	next := p.replyAfter()
	for i, e := range p.in {
		if e.Message.Role == llm.RoleAssistant || e.Message.Origin == llm.Human {
			p.solid = i
		}
		calls := p.callsOf(i)
		if len(calls) > 0 {
			p.calls[i] = calls
		}
		for k := range calls {
			c := &calls[k]
			if older := p.open[c.CallID]; older != nil && !older.answered && !older.hosted && !c.hosted {
				p.Problem(e.Line, "call id %q is used again while the first call waits for its result, the second call is left out", c.CallID)
				p.drop[place{i, c.Part}] = true
				c.answered = true
				continue
			}
			c.below = p.open[c.CallID]
			p.open[c.CallID] = c
		}
		for k, part := range e.Message.Parts {
			if result, ok := part.(llm.ToolResult); ok {
				p.result(place{i, k}, result, next)
			}
		}
	}
}

// callsOf lists the calls of one entry.
func (p *pairing) callsOf(i int) []callAt {
	var calls []callAt
	for k, part := range p.in[i].Message.Parts {
		if c, ok := part.(llm.ToolCall); ok {
			calls = append(calls, callAt{Call: turn.Call{Position: i, Part: k, CallID: c.CallID, Name: c.Name}, hosted: c.Hosted})
		}
	}
	return calls
}

// replyAfter returns for every position the next one that holds a reply.
func (p *pairing) replyAfter() []int {
	next := make([]int, len(p.in))
	last := len(p.in)
	for i := len(p.in) - 1; i >= 0; i-- {
		next[i] = last
		if p.in[i].Message.Role == llm.RoleAssistant {
			last = i
		}
	}
	return next
}

// result pairs one result, leaves it out, or moves it up to its call.
func (p *pairing) result(at place, result llm.ToolResult, next []int) {
	e := p.in[at.entry]
	c, known := p.open[result.CallID]
	for c != nil && c.answered {
		c = c.below
		p.open[result.CallID] = c
	}
	if c == nil {
		what := "no call in this segment has this id"
		if known {
			what = "its call has a result already"
		}
		p.Problem(e.Line, "tool result for call %q is left out: %s", result.CallID, what)
		p.drop[at] = true
		return
	}
	c.answered = true
	before := next[c.Position]
	if before >= at.entry {
		return
	}
	p.Problem(e.Line, "tool result for call %q stands behind a later reply, moved up to its call", result.CallID)
	p.drop[at] = true
	moved := e
	moved.Message = e.Message.WithParts([]llm.Part{result})
	p.move[before] = append(p.move[before], moved)
}

// assemble returns the entries without what is left out and with what is added.
func (p *pairing) assemble() []sessionfile.Entry {
	out := make([]sessionfile.Entry, 0, len(p.in))
	waiting := none // position of a message whose calls may need a stated result
	for i, e := range p.in {
		if waiting != none && e.Message.Role != llm.RoleTool && p.solid >= i {
			out = append(out, p.interrupted(waiting)...)
			waiting = none
		}
		out = append(out, p.move[i]...)
		if len(p.calls[i]) > 0 {
			waiting = i
		}
		if parts := p.kept(i); len(parts) != len(e.Message.Parts) {
			if len(parts) == 0 {
				continue
			}
			e.Message = e.Message.WithParts(parts)
		}
		out = append(out, e)
	}
	return out
}

// kept returns the parts of an entry that stay.
func (p *pairing) kept(i int) []llm.Part {
	parts := p.in[i].Message.Parts
	if len(p.drop) == 0 {
		return parts
	}
	for k := range parts {
		if !p.drop[place{i, k}] {
			continue
		}
		var rest []llm.Part
		for k, part := range parts {
			if !p.drop[place{i, k}] {
				rest = append(rest, part)
			}
		}
		return rest
	}
	return parts
}

// interrupted returns stated results for the calls of a message that never got one.
func (p *pairing) interrupted(i int) []sessionfile.Entry {
	var open []turn.Call
	for _, c := range p.calls[i] {
		if !c.answered && !c.hosted {
			open = append(open, c.Call)
			p.Problem(p.in[i].Line, "call %q never got a result, a stated one stands for it", c.CallID)
		}
	}
	var out []sessionfile.Entry
	for _, m := range turn.Interrupted(open, turn.InterruptedText) {
		out = append(out, sessionfile.Entry{Message: m, Line: p.in[i].Line})
	}
	return out
}
