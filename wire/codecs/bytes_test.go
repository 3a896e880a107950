package codecs

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// TestBytesOfWhatIsMade is law 1 for bytes: what is written for a message that has no bytes of its
// own is never more than it is counted with, in no dialect, and of one that came in another dialect either.
func TestBytesOfWhatIsMade(t *testing.T) {
	text := llm.Text{Text: "words \"quoted\"\n<b>"}
	call := llm.ToolCall{CallID: "call_1", Name: "read", Args: `{"path":"a.go"}`}
	result := func(content ...llm.Part) llm.ToolResult { return llm.ToolResult{CallID: "call_1", Content: content} }
	message := func(role llm.Role, origin llm.Origin, parts ...llm.Part) llm.Message {
		return llm.Message{Role: role, Origin: origin, Parts: parts}
	}
	ask := message(llm.RoleUser, llm.Human, llm.Text{Text: "ask"})
	called := message(llm.RoleAssistant, llm.Model, call)
	counter, err := token.NewCounter("chars/4", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, msgs := range map[string][]llm.Message{
		"a person's text":      {message(llm.RoleUser, llm.Human, text)},
		"two texts":            {message(llm.RoleUser, llm.Human, text, text)},
		"a note":               {message(llm.RoleUser, llm.Note, llm.Stub{Text: "note"})},
		"a model's text":       {ask, message(llm.RoleAssistant, llm.Model, text)},
		"two texts of a model": {ask, message(llm.RoleAssistant, llm.Model, text, text)},
		"a call":               {ask, called},
		"two calls":            {ask, message(llm.RoleAssistant, llm.Model, call, llm.ToolCall{CallID: "call_2", Name: "grep", Args: `{}`})},
		"a text and a call":    {ask, message(llm.RoleAssistant, llm.Model, text, call)},
		"thinking and a text":  {ask, message(llm.RoleAssistant, llm.Model, llm.Thinking{Text: "hm", Signature: "sig"}, text)},
		"a result":             {ask, called, message(llm.RoleTool, llm.ToolRun, result(text))},
		"a result in parts":    {ask, called, message(llm.RoleTool, llm.ToolRun, result(text, text))},
		"a failed result":      {ask, called, message(llm.RoleTool, llm.ToolRun, llm.ToolResult{CallID: "call_1", Content: []llm.Part{text}, IsError: true})},
		"an empty result":      {ask, called, message(llm.RoleTool, llm.ToolRun, result())},
		"a stub of a result":   {ask, called, message(llm.RoleTool, llm.ToolRun, result(llm.Stub{Text: "short"}))},
	} {
		for _, from := range append([]llm.Dialect{""}, dialects()...) {
			came := msgs
			if from != "" {
				came = decoded(t, from, encoded(t, from, convert.Request(llm.Request{Model: "m", Messages: msgs}, codectest.Known(t, from), convert.Options{}).Request)).Messages
			}
			for _, to := range dialects() {
				empty := len(encoded(t, to, llm.Request{Model: "m"}))
				for _, times := range []int{1, 20} {
					r, size := llm.Request{Model: "m"}, 0
					for range times {
						r.Messages = append(r.Messages, came...)
					}
					for _, m := range r.Messages {
						s := token.SizeOf(counter, m)
						size += s.Bytes + s.More
					}
					body := encoded(t, to, convert.Request(r, codectest.Known(t, to), convert.Options{}).Request)
					if got := len(body) - empty; got > size {
						t.Errorf("%s from %q to %s, %d times: counted with %d bytes, got %d: %s", name, from, to, times, size, got, body[:min(len(body), 600)])
					}
				}
			}
		}
	}
}

func dialects() (all []llm.Dialect) {
	for _, c := range All() {
		all = append(all, c.Dialect())
	}
	return all
}
