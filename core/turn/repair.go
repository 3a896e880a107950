package turn

import "github.com/plimsoll-dev/plimsoll/core/llm"

// InterruptedText is what a model is told about a call whose result never came.
const InterruptedText = "This tool call was interrupted before it returned a result. What it has already changed is unknown; check before you repeat it."

// Interrupted returns a stated result for each call that never ended,
// one message per call in the order given. Appended to the conversation before
// anything else, they leave no call open. An empty text means [InterruptedText].
func Interrupted(open []Call, text string) []llm.Message {
	if text == "" {
		text = InterruptedText
	}
	messages := make([]llm.Message, 0, len(open))
	for _, c := range open {
		messages = append(messages, llm.Message{
			Role:   llm.RoleTool,
			Origin: llm.ToolRun,
			Flags:  llm.FlagInterrupted,
			Parts: []llm.Part{llm.ToolResult{
				CallID:  c.CallID,
				Content: []llm.Part{llm.Text{Text: text}},
				IsError: true,
			}},
		})
	}
	return messages
}
