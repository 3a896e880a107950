package summary

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Prepare returns messages that a summary request may carry: no call without its
// result, no result without its call. A message that asks for tools and got no answer keeps its texts alone, or
// is dropped if it has none; where only some of its calls were answered, the
// others are taken out. Results that pair with nothing are taken out, and so is a
// message that held nothing else. All other messages are returned as they are, and
// the slice itself if nothing had to change. Calls that a provider runs itself
// need no result.
func Prepare(msgs []llm.Message) []llm.Message {
	if !slices.ContainsFunc(msgs, pairs) {
		return msgs
	}
	var x turn.Index
	for _, m := range msgs {
		_ = x.Append(m) // what does not pair is taken out below
	}
	var prepared []llm.Message
	changed := false
	for i, m := range msgs {
		fixed, keep := m, true
		if pairs(m) {
			fixed, keep = pairedOnly(&x, i, m)
		}
		if !changed && (!keep || len(fixed.Parts) != len(m.Parts)) {
			changed, prepared = true, append(prepared, msgs[:i]...)
		}
		if changed && keep {
			prepared = append(prepared, fixed)
		}
	}
	if !changed {
		return msgs
	}
	return prepared
}

// pairs reports whether m has a call or a result, which may pair with nothing.
func pairs(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		switch p.(type) {
		case llm.ToolCall, llm.ToolResult:
			return true
		}
		return false
	})
}

// pairedOnly takes the parts that pair with nothing out of the message at a
// position, and reports whether anything is left to send.
func pairedOnly(x *turn.Index, position int, m llm.Message) (llm.Message, bool) {
	parts := make([]llm.Part, 0, len(m.Parts))
	calls, dropped := 0, 0
	for i, p := range m.Parts {
		keep := true
		switch p := p.(type) {
		case llm.ToolCall:
			if keep = p.Hosted; !keep {
				_, keep = x.ResultFor(position, i)
			}
			if keep {
				calls++
			} else {
				dropped++
			}
		case llm.ToolResult:
			_, keep = x.CallFor(position, i)
		}
		if keep {
			parts = append(parts, p)
		}
	}
	if len(parts) == len(m.Parts) {
		return m, true
	}
	if dropped > 0 && calls == 0 { // its thinking led to calls that are gone
		parts = slices.DeleteFunc(parts, func(p llm.Part) bool {
			_, thinking := p.(llm.Thinking)
			return thinking
		})
	}
	said := slices.ContainsFunc(parts, says)
	return m.WithParts(parts), said
}

// says reports whether a part says anything to a model on its own.
func says(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Text:
		return !blank(p.Text)
	case llm.Thinking:
		return false
	}
	return true
}
