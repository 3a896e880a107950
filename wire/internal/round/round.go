// Package round puts messages together to the wire messages of dialects in which speakers
// take turns and all results of a round have to be in the wire message right after its
// calls (Anthropic, Gemini). What a block is, and how one is written, is the codec's.
package round

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A Shape is what a dialect has to say. B is its block.
type Shape[B any] struct {
	Model string // the role of the model
	User  string // the role of everybody whose results may be joined
	// Start returns a message as a unit by itself: finished, with the place that it had,
	// or built from blocks. before are the messages before it.
	Start func(m llm.Message, before []llm.Message) Unit[B]
	// Blocks returns a message as blocks.
	Blocks func(m llm.Message, before []llm.Message) []B
}

// A Unit is one wire message to be: one message or neighbours.
type Unit[B any] struct {
	Role  string
	Bytes []byte // finished, from an envelope; nil if the unit is built from blocks
	Built []B
	At    int // the element of the body that it was; -1 if none

	messages []llm.Message
	before   []llm.Message // those before the first of messages
}

// Units returns the wire messages that msgs become, in order. Neighbours of one speaker
// that are built from blocks become one; a message that says nothing is left out.
func (s Shape[B]) Units(msgs []llm.Message) []Unit[B] {
	out := make([]Unit[B], 0, len(msgs))
	for i, m := range msgs {
		u := s.Start(m, msgs[:i])
		if u.Bytes == nil && len(u.Built) == 0 {
			continue
		}
		u.messages, u.before = msgs[i:i+1:i+1], msgs[:i]
		if n := len(out) - 1; n >= 0 && u.Bytes == nil && out[n].Bytes == nil && out[n].Role == u.Role {
			out[n] = s.join(out[n], u)
			continue
		}
		out = append(out, u)
	}
	return s.closeRounds(out)
}

// closeRounds joins the units after each unit with calls up to the last one with a result
// for them. Units that all came in the body stay as they came.
func (s Shape[B]) closeRounds(in []Unit[B]) []Unit[B] {
	out := in[:0]
	for i := 0; i < len(in); i++ {
		u := in[i]
		out = append(out, u)
		after := s.usersSide(in[i+1:])
		if u.Role != s.Model || allFramed(after) {
			continue
		}
		last := lastResult(after, u.calls())
		if last < 1 || allFramed(after[:last+1]) {
			continue
		}
		all := after[0]
		for _, next := range after[1 : last+1] {
			all = s.join(all, next)
		}
		out = append(out, all)
		i += 1 + last
	}
	return out
}

// usersSide returns the units at the start of in that are of the user's side.
func (s Shape[B]) usersSide(in []Unit[B]) []Unit[B] {
	n := 0
	for n < len(in) && in[n].Role == s.User {
		n++
	}
	return in[:n]
}

// join returns a and b as one unit that is built from blocks. a must not be used again.
func (s Shape[B]) join(a, b Unit[B]) Unit[B] {
	u := Unit[B]{Role: a.Role, At: a.At, messages: append(a.messages, b.messages...), before: a.before}
	u.Built = append(s.blocks(a), s.blocks(b)...)
	if u.At < 0 {
		u.At = b.At
	}
	return u
}

// blocks returns the blocks of u. Only a unit that is one message has bytes.
func (s Shape[B]) blocks(u Unit[B]) []B {
	if u.Bytes == nil {
		return u.Built
	}
	return s.Blocks(u.messages[0], u.before)
}

// lastResult returns the place of the last unit with a result of one of the calls; -1 if
// there is none.
func lastResult[B any](after []Unit[B], calls map[string]bool) int {
	last := -1
	for i, u := range after {
		for _, m := range u.messages {
			if slices.ContainsFunc(m.Results(), func(r llm.ToolResult) bool { return calls[r.CallID] }) {
				last = i
			}
		}
	}
	return last
}

// calls returns the ids of the calls in u that wait for a result.
func (u Unit[B]) calls() map[string]bool {
	ids := map[string]bool{}
	for _, m := range u.messages {
		for _, c := range m.Calls() {
			if !c.Hosted {
				ids[c.CallID] = true
			}
		}
	}
	return ids
}

func allFramed[B any](units []Unit[B]) bool {
	return !slices.ContainsFunc(units, func(u Unit[B]) bool { return u.At < 0 })
}

// Opens reports whether units begin with the model although the body did not.
func (s Shape[B]) Opens(units []Unit[B]) bool {
	return len(units) > 0 && units[0].Role == s.Model && units[0].At != 0
}

// Element returns u as an element of the list of wire messages; built is what its blocks
// become.
func (u Unit[B]) Element(built func(role string, blocks []B) []byte) raw.Element {
	if u.Bytes != nil {
		return raw.Element{Bytes: u.Bytes, At: u.At}
	}
	return raw.Element{Bytes: built(u.Role, u.Built), At: u.At}
}
