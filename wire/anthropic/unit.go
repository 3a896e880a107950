package anthropic

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A unit is one wire message to be: one message or neighbours.
type unit struct {
	msgs  []llm.Message
	role  string
	bytes []byte // finished, from an envelope; nil if the unit is built from blocks
	built []block
	at    int // the element of the body that it was; -1 if none
}

// units returns the wire messages that msgs become, in order. list is the message
// list of the body that they came in.
func units(msgs []llm.Message, list *raw.List) []unit {
	out := make([]unit, 0, len(msgs))
	for i, m := range msgs {
		u := unit{msgs: msgs[i : i+1 : i+1], role: wireRole(m.Role), at: -1}
		if enveloped(m) {
			u.at = list.Find(m.Envelope.Raw)
			u.bytes = patch(m)
			if m.Role == llm.RoleSystem {
				u.role = "system"
			}
		} else {
			u.built = blocks(m)
		}
		if u.bytes == nil && len(u.built) == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 && u.bytes == nil && out[n].bytes == nil && out[n].role == u.role {
			out[n] = join(out[n], u)
			continue
		}
		out = append(out, u)
	}
	return closeRounds(out)
}

// closeRounds joins the units after each unit with calls up to the last one with a
// result for them, because all results must be in the wire message right after.
// Units that all came in the body stay as they came.
func closeRounds(in []unit) []unit {
	out := in[:0]
	for i := 0; i < len(in); i++ {
		u := in[i]
		out = append(out, u)
		after := usersSide(in[i+1:])
		if u.role != "assistant" || allFramed(after) {
			continue
		}
		last := lastResult(after, callIDs(u))
		if last < 1 || allFramed(after[:last+1]) {
			continue
		}
		all := after[0]
		for _, next := range after[1 : last+1] {
			all = join(all, next)
		}
		out = append(out, all)
		i += 1 + last
	}
	return out
}

// usersSide returns the units at the start of in that are of the user's side.
func usersSide(in []unit) []unit {
	n := 0
	for n < len(in) && in[n].role == "user" {
		n++
	}
	return in[:n]
}

// lastResult returns the place of the last unit with a result of one of the calls; -1
// if there is none.
func lastResult(after []unit, calls map[string]bool) int {
	last := -1
	for i, u := range after {
		for _, m := range u.msgs {
			for _, p := range m.Parts {
				if r, ok := p.(llm.ToolResult); ok && calls[r.CallID] {
					last = i
				}
			}
		}
	}
	return last
}

// callIDs returns the ids of the calls in u that wait for a result.
func callIDs(u unit) map[string]bool {
	ids := map[string]bool{}
	for _, m := range u.msgs {
		for _, p := range m.Parts {
			if c, ok := p.(llm.ToolCall); ok && !c.Hosted {
				ids[c.CallID] = true
			}
		}
	}
	return ids
}

func allFramed(units []unit) bool {
	return !slices.ContainsFunc(units, func(u unit) bool { return u.at < 0 })
}

// join returns a and b as one unit that is built from blocks. a must not be used again.
func join(a, b unit) unit {
	u := unit{msgs: append(a.msgs, b.msgs...), role: a.role, at: a.at}
	u.built = append(a.content(), b.content()...)
	if u.at < 0 {
		u.at = b.at
	}
	return u
}

// content returns the blocks of u.
func (u unit) content() []block {
	if u.bytes == nil {
		return u.built
	}
	var out []block
	for _, m := range u.msgs {
		out = append(out, blocks(m)...)
	}
	return out
}

// element returns u as an element of the message list.
func (u unit) element() raw.Element {
	if u.bytes != nil {
		return raw.Element{Bytes: u.bytes, At: u.at}
	}
	return raw.Element{Bytes: message(u.role, u.built), At: u.at}
}
