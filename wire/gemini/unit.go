package gemini

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A unit is one content to be: one message or neighbours.
type unit struct {
	msgs  []llm.Message
	role  string
	bytes []byte // finished, from an envelope; nil if the unit is built from blocks
	built []block
	at    int // the element of the body that it was; -1 if none
	from  []llm.Message
}

// skipCheck is the signature of a call that Gemini did not write. The provider accepts it
// in place of a real one (research/proxy.md section 1.6).
const skipCheck = "skip_thought_signature_validator"

// contentElements returns the contents that msgs become.
func contentElements(msgs []llm.Message, list *raw.List) []raw.Element {
	all := units(msgs, list)
	elements := make([]raw.Element, 0, len(all)+1)
	if len(all) > 0 && all[0].role == "model" && all[0].at != 0 {
		begin := content("user", []block{{bytes: textPart(wire.Opening)}})
		elements = append(elements, raw.Element{Bytes: begin, At: -1})
	}
	for _, u := range all {
		elements = append(elements, u.element())
	}
	return elements
}

// units returns the contents that msgs become, in order. list is the list that they came in.
func units(msgs []llm.Message, list *raw.List) []unit {
	out := make([]unit, 0, len(msgs))
	for i, m := range msgs {
		u := unit{msgs: msgs[i : i+1 : i+1], role: wireRole(m.Role), at: -1, from: msgs[:i+1]}
		if enveloped(m) {
			u.at = list.Find(m.Envelope.Raw)
			u.bytes = patch(m, msgs[:i])
		} else {
			u.built = blocks(m, msgs[:i])
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

// closeRounds joins the units after each unit with calls up to the last one with a result
// for them, because all results must be in the content right after. Units that all came in
// the body stay as they came.
func closeRounds(in []unit) []unit {
	out := in[:0]
	for i := 0; i < len(in); i++ {
		u := in[i]
		out = append(out, u)
		after := usersSide(in[i+1:])
		if u.role != "model" || allFramed(after) {
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

// lastResult returns the place of the last unit with a result of one of the calls; -1 if
// there is none.
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
	u := unit{msgs: append(a.msgs, b.msgs...), role: a.role, at: a.at, from: b.from}
	u.built = append(a.content(), b.content()...)
	if u.at < 0 {
		u.at = b.at
	}
	return u
}

// content returns the blocks of u, which has not been joined if it has bytes.
func (u unit) content() []block {
	if u.bytes == nil {
		return u.built
	}
	return blocks(u.msgs[0], u.from[:len(u.from)-1])
}

// element returns u as an element of the list of contents.
func (u unit) element() raw.Element {
	if u.bytes != nil {
		return raw.Element{Bytes: u.bytes, At: u.at}
	}
	return raw.Element{Bytes: content(u.role, u.built), At: u.at}
}

// content returns a new content: results first, else in order. The first call needs a
// signature if it is not the provider's own.
func content(role string, all []block) []byte {
	values := make([][]byte, 0, len(all))
	for _, b := range all {
		if b.kind == resultBlock {
			values = append(values, b.bytes)
		}
	}
	first := true
	for _, b := range all {
		if b.kind == resultBlock {
			continue
		}
		value := b.bytes
		if b.kind == callBlock || b.kind == foreignCall {
			if first && b.kind == foreignCall {
				value = raw.Set(value, nameSignature.camel, raw.Quote(skipCheck))
			}
			first = false
		}
		values = append(values, value)
	}
	return new(raw.Object).Text("role", role).Raw("parts", raw.Array(values)).Bytes()
}
