package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A frame is what a chat template puts around messages, in tokens; the zero frame: it is not
// known.
type frame struct {
	exact               bool // the counter is the model's own tokenizer, so that texts are counted as the server does
	system, user, model int  // around a message of that role, with the name of the role
	opening             int  // behind the last message
	joined              bool
	line                int // between two messages that are joined
}

// framing is what the template puts around the messages of a view.
type framing struct {
	last   llm.Role // of the newest message; empty: there is none
	tokens int
}

// frameOf returns the frame of a calibration's family, by c.
func frameOf(cal *token.Calibration, c token.Counter) frame {
	if cal == nil || cal.Frame().Message == 0 {
		return frame{}
	}
	f := cal.Frame()
	model := c.Text("assistant")
	line := c.Text("\n\nx") - c.Text("x") // by itself it may be one token, and two before a word
	return frame{
		exact: c.Kind() == token.Exact, system: f.Message + c.Text("system"), user: f.Message + c.Text("user"), model: f.Message + model,
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

// add takes in the next message.
func (f frame) add(g framing, msg llm.Message) framing {
	if f.joined && msg.Role == g.last {
		g.tokens += f.line
	} else {
		g.tokens += f.around(msg)
	}
	g.last = msg.Role
	return g
}

// framing takes in all messages of a view.
func (f frame) framing(items []edit.Item) (g framing) {
	if f == (frame{}) {
		return g
	}
	for i := range items {
		g = f.add(g, items[i].Message)
	}
	return g
}
