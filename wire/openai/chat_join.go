package openai

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// joinReplies puts what the model wrote in a row, in several messages, into one where the
// earlier ones have calls: results have to follow the message with their calls directly.
// Messages that both came in this format stay as they came. A message with nothing left is
// left out, for it is not sent, and what stands beside it is not written anew for it.
func joinReplies(msgs []llm.Message) []llm.Message {
	if slices.ContainsFunc(msgs, silent) {
		msgs = slices.DeleteFunc(slices.Clone(msgs), silent)
	}
	for i := 1; i < len(msgs); i++ {
		if goesOn(msgs[i-1], msgs[i]) {
			return joined(msgs)
		}
	}
	return msgs
}

func joined(msgs []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(msgs))
	for _, m := range msgs {
		if n := len(out) - 1; n >= 0 && goesOn(out[n], m) {
			out[n] = oneReply(out[n], m)
			continue
		}
		out = append(out, m)
	}
	return out
}

// goesOn reports whether b goes on with a reply whose calls wait for their results.
func goesOn(a, b llm.Message) bool {
	if a.Role != llm.RoleAssistant || b.Role != llm.RoleAssistant || fitting(a) && fitting(b) {
		return false
	}
	return slices.ContainsFunc(a.Calls(), func(c llm.ToolCall) bool { return !c.Hosted })
}

func fitting(m llm.Message) bool { return m.Dialect == DialectChat && raw.Fits(m) }

// silent reports whether m, which is not as it came, has nothing to say.
func silent(m llm.Message) bool {
	speaks := func(p llm.Part) bool { text, ok := textOf(p); return !ok || text != "" }
	return !fitting(m) && !slices.ContainsFunc(m.Parts, speaks)
}

// oneReply returns a and b as one message that is written anew. The bytes of parts are of
// use where both are of one format.
func oneReply(a, b llm.Message) llm.Message {
	switch a.Dialect {
	case b.Dialect:
	case "", DialectChat:
		a.Dialect = b.Dialect
	}
	a.Parts = slices.Concat(a.Parts, b.Parts)
	a.Envelope = llm.Envelope{}
	return a
}
