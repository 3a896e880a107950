package crosscheck

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// TestQuestionBehindOpenCalls: a question behind calls that nobody has answered is refused by the providers; behind the messages as
// they are prepared it is not.
func TestQuestionBehindOpenCalls(t *testing.T) {
	read := llm.ToolCall{CallID: "c1", Name: "read", Args: "{}"}
	more := llm.ToolCall{CallID: "c2", Name: "read", Args: "{}"}
	question := llm.NoteText("Summarise.")
	tools := []llm.Tool{{Name: "read", Description: "Reads.", Schema: `{"type":"object","properties":{}}`}}
	for name, msgs := range map[string][]llm.Message{
		"R001-16_R001-22_calls_at_the_end":          {llm.UserText("Go."), llm.AssistantText("I read.", read)},
		"R001-16_R001-22_calls_alone_at_the_end":    {llm.UserText("Go."), llm.AssistantText("", read)},
		"R001-16_R001-22_some_of_several_answered":  {llm.UserText("Go."), llm.AssistantText("I read.", read, more), llm.ToolText("c1", "abc")},
		"R001-16_R001-22_open_ones_in_the_middle":   {llm.UserText("Go."), llm.AssistantText("I read.", read), llm.UserText("No, stop.")},
		"R001-16_R001-22_a_result_without_its_call": {llm.UserText("Go."), llm.ToolText("c1", "abc"), llm.AssistantText("Well.")},
	} {
		for _, d := range []llm.Dialect{anthropic.Dialect, openai.DialectChat} {
			t.Run(name+"_"+string(d), func(t *testing.T) {
				faults := func(msgs []llm.Message) []check.Fault {
					t.Helper()
					codec, _ := codecs.For(d)
					body, err := codec.EncodeRequest(llm.Request{Model: "m", MaxOutput: 100, Tools: tools, Messages: append(msgs, question)})
					if err != nil {
						t.Fatal(err)
					}
					return check.Request(d, body)
				}
				if len(faults(msgs)) == 0 {
					t.Error("as they are they do not break, so that this shows nothing")
				}
				if got := faults(summary.Prepare(msgs)); len(got) > 0 {
					t.Errorf("prepared: %v", got)
				}
			})
		}
	}
}
