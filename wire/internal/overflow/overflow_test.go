package overflow

import "testing"

func TestRead(t *testing.T) {
	tests := []struct {
		name         string
		e            Error
		ok           bool
		used, window int
	}{
		{"Anthropic", Error{Message: "Prompt is too long: 1,213,462 tokens > 1,000,000 maximum"}, true, 1213462, 1000000},
		{"Anthropic, with the output", Error{Message: "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length"}, true, 180000, 200000},
		{"OpenAI", Error{Message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."}, true, 9000, 8192},
		{"OpenAI, with the output", Error{Message: "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion)."}, true, 4000, 4097},
		{"OpenAI, its code", Error{Code: "context_length_exceeded", Message: "no"}, true, 0, 0},
		{"OpenRouter", Error{Message: "maximum context length is 200000 tokens. However, you requested about 250313 tokens (240000 of text input, 10313 in the output)."}, true, 240000, 200000},
		{"Gemini", Error{Message: "The input token count (12) exceeds the maximum number of tokens allowed (8)."}, true, 12, 8},
		{"Vertex", Error{Message: "the input token count is 1,196,265 but model only supports up to 1048576."}, true, 1196265, 1048576},
		{"Ollama", Error{Message: "the input length exceeds the context length"}, true, 0, 0},
		{"llama.cpp", Error{Message: "request (5000 tokens) exceeds the available context size (4096 tokens)"}, true, 5000, 4096},
		{"another thing", Error{Message: "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}, false, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var used, window int
			if ok := test.e.Read(&used, &window); ok != test.ok || used != test.used || window != test.window {
				t.Errorf("want %v %d %d, got %v %d %d", test.ok, test.used, test.window, ok, used, window)
			}
		})
	}
	used, window := 3, 0
	if ok := (Error{Message: "prompt is too long: 9 tokens > 8 maximum"}).Read(&used, &window); !ok || used != 3 || window != 8 {
		t.Errorf("want what is known kept and the rest read, got %v %d %d", ok, used, window)
	}
}
