package anthropic

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// shapeOf returns how messages become wire messages. list is the message list of the body
// that they came in.
func shapeOf(list *raw.List) round.Shape[block] {
	return round.Shape[block]{
		Model: "assistant", User: "user",
		Blocks: func(m llm.Message, _ []llm.Message) []block { return blocks(m) },
		Start: func(m llm.Message, _ []llm.Message) round.Unit[block] {
			if !enveloped(m) {
				return round.Unit[block]{Role: wireRole(m.Role), Built: blocks(m), At: -1}
			}
			at := list.Find(m.Envelope.Raw)
			if m.Mark != llm.NoMark {
				m, _ = Marked(m, spelled(m.Mark))
			}
			u := round.Unit[block]{Role: wireRole(m.Role), At: at, Bytes: patch(m)}
			if m.Role == llm.RoleSystem {
				u.Role = "system"
			}
			return u
		},
	}
}
