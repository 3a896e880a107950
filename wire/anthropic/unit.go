package anthropic

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// shapeOf returns how messages become wire messages, with these marks. list is the message
// list of the body that they came in.
func shapeOf(list *raw.List, marks llm.Marks) round.Shape[block] {
	return round.Shape[block]{
		Model: "assistant", User: "user",
		Blocks: func(m llm.Message, before []llm.Message) []block {
			return blocks(m, marks.On(llm.OnMessage, len(before)))
		},
		Start: func(m llm.Message, before []llm.Message) round.Unit[block] {
			mark := marks.On(llm.OnMessage, len(before))
			if !enveloped(m) {
				return round.Unit[block]{Role: wireRole(m.Role), Built: blocks(m, mark), At: -1}
			}
			at := list.Find(m.Envelope.Raw)
			if mark != llm.NoMark {
				m, _ = Marked(m, spelled(mark))
			}
			u := round.Unit[block]{Role: wireRole(m.Role), At: at, Bytes: patch(m, mark)}
			if m.Role == llm.RoleSystem {
				u.Role = "system"
			}
			return u
		},
	}
}
