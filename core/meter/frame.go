package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A frame is what a chat template puts around messages, in tokens; the zero frame: it is not
// known, and nothing is added.
type frame struct {
	known               bool
	system, user, model int // around a message of that role, with the name of the role
	opening             int // behind the last message
	joined              bool
	line                int // between two messages that are joined
}

// joins are what messages take less as a server joins them.
type joins struct {
	last  llm.Role // of the newest message; empty: there is none
	saved int      // tokens
}

// frameOf returns the frame of a calibration's family, if c is the model's own tokenizer.
func frameOf(cal *token.Calibration, c token.Counter) frame {
	if cal == nil || c.Kind() != token.Exact {
		return frame{}
	}
	f, ok := cal.Frame()
	if !ok {
		return frame{}
	}
	model := c.Text("assistant")
	line := c.Text("\n\nx") - c.Text("x") // by itself it may be one token, and two before a word
	return frame{
		known: true, system: f.Message + c.Text("system"), user: f.Message + c.Text("user"), model: f.Message + model,
		opening: f.Opening + model, joined: f.Joined, line: line,
	}
}

// around returns what the template puts around a message.
func (f frame) around(msg llm.Message) int {
	switch msg.Role {
	case llm.RoleAssistant:
		return f.model
	case llm.RoleSystem:
		return f.system
	}
	return f.user
}

// join takes in the next message.
func (f frame) join(j joins, msg llm.Message) joins {
	if f.joined && msg.Role == j.last {
		j.saved += f.around(msg) - f.line
	}
	j.last = msg.Role
	return j
}

// joinsOf takes in all messages of a view.
func (f frame) joinsOf(items []edit.Item) (j joins) {
	if !f.joined {
		return j
	}
	for i := range items {
		j = f.join(j, items[i].Message)
	}
	return j
}
