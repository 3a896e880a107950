package codecs

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestDetect(t *testing.T) {
	tests := []struct {
		name, text string
		dialect    llm.Dialect
		kind       Kind
	}{
		{"messages by the system prompt", `{"model":"m","system":"s","messages":[]}`, "anthropic", KindRequest},
		{"messages by a block", `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "anthropic", KindRequest},
		{"messages by the model", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, "anthropic", KindRequest},
		{"messages by the model, with settings of both", `{"model":"claude-x","max_tokens":9,"temperature":1,"top_p":1,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, "anthropic", KindRequest},
		{"a gateway's model, no output limit", `{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, a path", `{"model":"anthropic/claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, a system message first", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, a setting", `{"model":"claude-x","max_tokens":9,"seed":1,"messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, stop", `{"model":"claude-x","max_tokens":9,"stop":["x"],"messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, a tool", `{"model":"claude-x","max_tokens":9,"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a gateway's model, the choice of a tool", `{"model":"claude-x","max_tokens":9,"tool_choice":"auto","messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"a system message and an image", `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi","images":["aQ=="]}]}`, "ollama", KindRequest},
		{"messages by a tool", `{"model":"m","messages":[],"tools":[{"name":"f","input_schema":{}}]}`, "anthropic", KindRequest},
		{"messages of nobody in particular", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, "openai-chat", KindRequest},
		{"messages by a call", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`, "openai-chat", KindRequest},
		{"messages by a list of calls", `{"model":"claude","messages":[{"role":"assistant","tool_calls":[]}]}`, "openai-chat", KindRequest},
		{"messages by a call's object", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]}]}`, "ollama", KindRequest},
		{"messages by options", `{"model":"m","messages":[],"options":{"num_ctx":1}}`, "ollama", KindRequest},
		{"messages by whether to think", `{"model":"llama3","think":true,"messages":[{"role":"user","content":"hi"}]}`, "ollama", KindRequest},
		{"input", `{"model":"m","input":"hi"}`, "openai-responses", KindRequest},
		{"contents", `{"contents":[]}`, "gemini", KindRequest},
		{"wrapped contents", `{"model":"m","request":{"contents":[]}}`, "gemini", KindRequest},
		{"a message", `{"type":"message","role":"assistant","content":[]}`, "anthropic", KindResponse},
		{"choices", `{"object":"chat.completion","choices":[]}`, "openai-chat", KindResponse},
		{"output", `{"object":"response","output":[]}`, "openai-responses", KindResponse},
		{"compaction", `{"object":"response.compaction","output":[]}`, "openai-responses", KindResponse},
		{"candidates", `{"candidates":[]}`, "gemini", KindResponse},
		{"a blocked prompt", `{"promptFeedback":{"blockReason":"SAFETY"}}`, "gemini", KindResponse},
		{"done", `{"model":"m","message":{"role":"assistant","content":""},"done":true}`, "ollama", KindResponse},
		{"events of messages", "event: message_start\ndata: {\"type\":\"message_start\"}\n\n", "anthropic", KindStream},
		{"events of responses", "event: response.created\ndata: {\"type\":\"response.created\"}\n\n", "openai-responses", KindStream},
		{"chunks", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", "openai-chat", KindStream},
		{"chunks after a comment", ": wait\n\ndata: {\"choices\":[]}\n\n", "openai-chat", KindStream},
		{"chunks of candidates", "data: {\"candidates\":[]}\r\n\r\n", "gemini", KindStream},
		{"an array of candidates", `[{"candidates":[]}]`, "gemini", KindStream},
		{"lines", "{\"message\":{},\"done\":false}\n{\"message\":{},\"done\":true}\n", "ollama", KindStream},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, k, err := Detect([]byte(" \n" + test.text))
			if err != nil || d != test.dialect || k != test.kind {
				t.Errorf("want %s, %s, got %s, %s, %v", test.dialect, test.kind, d, k, err)
			}
		})
	}
	for _, none := range []string{"", " ", "hello", "{}", "[]", "[1]", "5", `{"a":`, "data: x\n\n", `{"model":"m"}`, `{"model":"m","input":{}}`, "{\"a\":1}\n{\"a\":2}\n"} {
		if d, k, err := Detect([]byte(none)); err == nil {
			t.Errorf("%q: want an error, got %s, %s", none, d, k)
		}
	}
}

// A mark in front of the text is told by its name: it cannot be seen.
func TestByteOrderMark(t *testing.T) {
	for _, c := range All() {
		if _, err := c.DecodeRequest([]byte("\xef\xbb\xbf{}")); err == nil || !strings.Contains(err.Error(), "byte order mark") {
			t.Errorf("%s: request: got %v", c.Dialect(), err)
		}
		if _, err := c.DecodeResponse([]byte("\xef\xbb\xbf{}")); err == nil || !strings.Contains(err.Error(), "byte order mark") {
			t.Errorf("%s: response: got %v", c.Dialect(), err)
		}
	}
}

func TestFor(t *testing.T) {
	for _, c := range All() {
		if got, ok := For(c.Dialect()); !ok || got != c {
			t.Errorf("%s: got %v, %v", c.Dialect(), got, ok)
		}
	}
	if _, ok := For("nobody"); ok {
		t.Error("want no codec for an unknown dialect")
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{`{"messages":[{"content":[{}]}]}`, "data: {}\n\n", `[{"candidates":1}]`, "{}\n{}", `{"a`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, k, err := Detect(text)
		if (err == nil) != (d != "") || (err == nil) != (k != 0) {
			t.Fatalf("want an answer or an error, got %s, %s, %v", d, k, err)
		}
	})
}
