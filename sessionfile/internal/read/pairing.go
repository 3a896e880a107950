package read

import (
	"fmt"

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
	twins map[string][]*callAt        // calls of the id of another one in their message, in order
	named map[place]string            // the ids that they and their results get
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
	p := pairing{Reading: r, in: in, drop: map[place]bool{}, move: map[int][]sessionfile.Entry{}, calls: map[int][]callAt{}, open: map[string]*callAt{}, twins: map[string][]*callAt{}, named: map[place]string{}, solid: none}
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
			older := p.open[c.CallID]
			if older != nil && !older.answered && !older.hosted && !c.hosted {
				if older.Position == i && p.differ(older, c) {
					p.twin(c)
					continue
				}
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

// differ reports whether two calls of a message are not the same one written twice.
func (p *pairing) differ(a, b *callAt) bool {
	parts := p.in[a.Position].Message.Parts
	one, _ := parts[a.Part].(llm.ToolCall)
	two, _ := parts[b.Part].(llm.ToolCall)
	return one.Name != two.Name || one.Args != two.Args
}

// twin gives a call that has the id of another one in its message an id of its own: that
// one with a number behind it. Results come in the order of the calls.
func (p *pairing) twin(c *callAt) {
	id := c.CallID
	p.twins[id] = append(p.twins[id], c)
	c.CallID = fmt.Sprintf("%s#%d", id, len(p.twins[id])+1)
	p.named[place{c.Position, c.Part}] = c.CallID
	p.Problem(p.in[c.Position].Line, "call id %q stands twice in one reply, the second call and its result are read as %q", id, c.CallID)
}

// nextTwin returns the next call of an id that waits for its result; nil if there is none.
func (p *pairing) nextTwin(id string) *callAt {
	for _, c := range p.twins[id] {
		if !c.answered {
			return c
		}
	}
	return nil
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
		if c = p.nextTwin(result.CallID); c != nil {
			p.named[at] = c.CallID
		}
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
	moved.Message = e.Message.WithParts([]llm.Part{p.part(at)})
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
		if parts, changed := p.kept(i); changed {
			if len(parts) == 0 {
				continue
			}
			e.Message = e.Message.WithParts(parts)
		}
		out = append(out, e)
	}
	return out
}

// kept returns the parts of an entry that stay, and whether they are not all it had, as
// they were.
func (p *pairing) kept(i int) (parts []llm.Part, changed bool) {
	all := p.in[i].Message.Parts
	if len(p.drop) == 0 && len(p.named) == 0 {
		return all, false
	}
	for k := range all {
		at := place{i, k}
		if p.drop[at] || p.named[at] != "" {
			changed = true
		}
	}
	if !changed {
		return all, false
	}
	for k := range all {
		if at := (place{i, k}); !p.drop[at] {
			parts = append(parts, p.part(at))
		}
	}
	return parts, true
}

// part returns a part, with the id that it gets.
func (p *pairing) part(at place) llm.Part {
	part, id := p.in[at.entry].Message.Parts[at.part], p.named[at]
	if id == "" {
		return part
	}
	switch part := part.(type) {
	case llm.ToolCall:
		part.CallID, part.Raw = id, llm.Raw{}
		return part
	case llm.ToolResult:
		part.CallID, part.Raw = id, llm.Raw{}
		return part
	}
	return part
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
