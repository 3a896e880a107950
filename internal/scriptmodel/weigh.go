package scriptmodel

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Scale counts in place of the script's estimator, by code that is not this module's: what
// a test of the module's own counts needs, since a judge must not share code with what it
// judges. The server asks it for one request at a time.
type Scale interface {
	// Prompt returns the tokens of the body of a request, as it came.
	Prompt(d llm.Dialect, model string, body []byte) int
	// Reply returns the tokens of what the model wrote, reasoning included; at least 0.
	Reply(model string, m llm.Message) int
}

// weigh sets the tokens of the prompt by the scale, if there is one. Each block has its
// share of them.
func (x *exchange) weigh() {
	if x.scale == nil {
		return
	}
	was, n := x.prompt.Tokens(), max(x.scale.Prompt(x.route.dialect, x.r.Model, x.body), 0)
	for i, b := range x.prompt {
		if was > 0 {
			b.Tokens = int(int64(b.Tokens) * int64(n) / int64(was))
		}
		x.prompt[i] = b
	}
	if last := len(x.prompt) - 1; last >= 0 {
		x.prompt[last].Tokens = n
	}
}

// written returns what counts replies.
func (x *exchange) written() token.Counter {
	if x.scale == nil {
		return x.count
	}
	return scaled{x.count, x.scale, x.r.Model}
}

// scaled is a counter whose messages and texts a scale counts, as those of a model.
type scaled struct {
	token.Counter
	scale Scale
	model string
}

// Message implements token.Counter.
func (s scaled) Message(m llm.Message) int { return s.scale.Reply(s.model, m) }

// Text implements token.Counter.
func (s scaled) Text(text string) int {
	return s.scale.Reply(s.model, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: text}}})
}
