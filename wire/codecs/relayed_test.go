package codecs

import (
	"encoding/json"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// A gateway answers in one dialect with the words of the provider behind it: every codec
// knows the words of all, and means by Used the prompt alone.
func TestTooLongIsKnownInEveryDialect(t *testing.T) {
	texts := []struct {
		name, code, message string
		used, window        int
	}{
		{"Anthropic", "", "prompt is too long: 213462 tokens > 200000 maximum", 213462, 200000},
		{"Anthropic with the output", "", "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again", 180000, 200000},
		{"OpenAI", "", "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).", 4000, 4097},
		{"OpenAI by its code", "context_length_exceeded", "Please send less.", 0, 0},
		{"Gemini", "", "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", 1200293, 1048576},
		{"Ollama", "", "the input length exceeds the context length", 0, 0},
		{"llama.cpp", "", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 5000, 4096},
	}
	object := func(members map[string]any) []byte {
		b, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, test := range texts {
		inner := map[string]any{"message": test.message, "type": "invalid_request_error"}
		if test.code != "" {
			inner["code"] = test.code
		}
		bodies := map[string][]byte{"an object": object(map[string]any{"error": inner})}
		if test.code == "" {
			bodies["a text"] = object(map[string]any{"error": test.message})
			bodies["Google's"] = object(map[string]any{"error": map[string]any{"code": 400, "message": test.message, "status": "INVALID_ARGUMENT"}})
			bodies["Anthropic's"] = object(map[string]any{"type": "error", "error": inner})
		}
		for shape, body := range bodies {
			for _, c := range All() {
				for _, status := range []int{0, 400} {
					e := c.DecodeError(status, body)
					if e.Class != wire.TooLong || e.Used != test.used || e.Window != test.window {
						t.Errorf("%s, %s in %s, status %d: want %v %d %d, got %v %d %d", test.name, shape, c.Dialect(), status, wire.TooLong, test.used, test.window, e.Class, e.Used, e.Window)
					}
				}
			}
		}
	}
}
