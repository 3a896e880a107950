package sdktest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	sdk "github.com/ollama/ollama/api"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// ollamaChat sends a conversation and returns the lines of the answer: one if not streamed.
func ollamaChat(t *testing.T, base string, stream bool, messages ...sdk.Message) ([]sdk.ChatResponse, error) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if messages == nil {
		messages = []sdk.Message{{Role: "user", Content: "Go on."}}
	}
	think := sdk.ThinkValue{Value: true}
	var lines []sdk.ChatResponse
	err = sdk.NewClient(u, http.DefaultClient).Chat(context.Background(), &sdk.ChatRequest{
		Model: "test-model-1", Messages: messages, Stream: &stream, Think: &think, Tools: ollamaTools(),
	}, func(r sdk.ChatResponse) error {
		lines = append(lines, r)
		return nil
	})
	return lines, err
}

func ollamaTools() sdk.Tools {
	var tools sdk.Tools
	for _, name := range []string{"read_file", "list_files"} {
		f := sdk.ToolFunction{Name: name, Description: "Works on files."}
		f.Parameters.Type = "object"
		f.Parameters.Properties = sdk.NewToolPropertiesMap()
		tools = append(tools, sdk.Tool{Type: "function", Function: f})
	}
	return tools
}

// ollamaMessage is what the lines of an answer say together.
func ollamaMessage(lines []sdk.ChatResponse) sdk.Message {
	m := sdk.Message{Role: "assistant"}
	for _, l := range lines {
		m.Content += l.Message.Content
		m.Thinking += l.Message.Thinking
		m.ToolCalls = append(m.ToolCalls, l.Message.ToolCalls...)
	}
	return m
}

// ollamaHeard reads an answer as a program would.
func ollamaHeard(t *testing.T, lines []sdk.ChatResponse) heard {
	t.Helper()
	last := lines[len(lines)-1]
	for i, l := range lines {
		if l.Done != (i == len(lines)-1) || l.Message.Role != "assistant" || l.CreatedAt.IsZero() {
			t.Errorf("line %d of %d, want a role, a date, and done on the last alone, got %+v", i, len(lines), l)
		}
	}
	m := ollamaMessage(lines)
	h := heard{Model: last.Model, Stop: last.DoneReason, Text: m.Content, Usage: llm.Usage{Input: last.PromptEvalCount, Output: last.EvalCount}}
	if m.Thinking != "" {
		h.Thoughts = append(h.Thoughts, thought{Text: m.Thinking})
	}
	for _, c := range m.ToolCalls {
		h.Calls = append(h.Calls, spoken{c.ID, c.Function.Name, sorted(t, c.Function.Arguments.String())})
	}
	return h
}

// ollamaExpected allows for what the format does not have: ids of replies, a reason for
// calls, counts of the cache and of thinking; and the SDK reads numbers as floats.
func ollamaExpected(t *testing.T, s said) heard {
	t.Helper()
	h := s.expected(t, "stop")
	if s.stop == llm.StopLength {
		h.Stop = "length"
	}
	h.ID = ""
	h.Usage = llm.Usage{Input: s.usage.Prompt(), Output: s.usage.Output}
	for i, c := range h.Calls {
		if h.Calls[i].Args = floats(t, c.Args); h.Calls[i].Args == "null" {
			h.Calls[i].Args = "{}"
		}
	}
	var all string
	for _, th := range h.Thoughts {
		all += th.Text
	}
	if h.Thoughts = nil; all != "" {
		h.Thoughts = []thought{{Text: all}}
	}
	return h
}

func ollamaCases() []said {
	return append(replies(), thinking(func(string) string { return "" })[:2]...)
}

func TestOllama(t *testing.T) {
	for _, c := range ollamaCases() {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: ollama.Codec{}, reply: c.response(ollama.Dialect)}
			base := p.start()
			want := ollamaExpected(t, c)
			for _, stream := range []bool{false, true} {
				p.chunk = chunkOf(p.streamed())
				lines, err := ollamaChat(t, base, stream)
				if err != nil {
					t.Fatalf("chat: %v", err)
				}
				same(t, map[bool]string{false: "whole", true: "streamed"}[stream], want, ollamaHeard(t, lines))
			}
		})
	}
}

func TestOllamaSecondTurn(t *testing.T) {
	for _, c := range ollamaCases() {
		if c.parts == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: ollama.Codec{}, reply: c.response(ollama.Dialect)}
			base := p.start()
			for i, stream := range []bool{false, true} {
				lines, err := ollamaChat(t, base, stream)
				if err != nil {
					t.Fatalf("chat: %v", err)
				}
				m := ollamaMessage(lines)
				if _, err := ollamaChat(t, base, stream, append([]sdk.Message{{Role: "user", Content: "Go on."}, m}, ollamaResults(m)...)...); err != nil {
					t.Fatalf("chat: %v", err)
				}
				accepted(t, p.codec, p.calls()[2*i+1].body, textFirst(asFloats(t, c.parts)))
			}
		})
	}
}

// textFirst returns parts in the order of the SDK's fields, which is that of the parts.
func textFirst(parts []llm.Part) []llm.Part {
	_, thinks := parts[0].(llm.Thinking)
	if len(parts) == 2 && thinks {
		if _, ok := parts[1].(llm.Text); ok {
			return []llm.Part{parts[1], parts[0]}
		}
	}
	return parts
}

func ollamaResults(m sdk.Message) []sdk.Message {
	var out []sdk.Message
	for _, c := range m.ToolCalls {
		out = append(out, sdk.Message{Role: "tool", ToolName: c.Function.Name, ToolCallID: c.ID, Content: resultOf(c.Function.Name)})
	}
	if out == nil {
		out = append(out, sdk.Message{Role: "user", Content: "And then?"})
	}
	return out
}

// TestOllamaCallsWithoutIDs: older servers give calls no ids; the made-up ones are the same
// in the reply and in the request that the SDK makes of it.
func TestOllamaCallsWithoutIDs(t *testing.T) {
	for name, args := range map[string]string{"compact": `{"path":"a"}`, "white space": `{"path": "a"}`, "escapes": `{"path":"<\u00e9>"}`} {
		t.Run(name, func(t *testing.T) {
			body := `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[` +
				`{"function":{"name":"read_file","arguments":` + args + `}}]},"done":true,"done_reason":"stop"}`
			p := &provider{t: t, codec: ollama.Codec{}, body: []byte(body)}
			base := p.start()
			lines, err := ollamaChat(t, base, false)
			if err != nil {
				t.Fatalf("chat: %v", err)
			}
			m := ollamaMessage(lines)
			if _, err := ollamaChat(t, base, false, append([]sdk.Message{{Role: "user", Content: "Go on."}, m}, ollamaResults(m)...)...); err != nil {
				t.Fatalf("chat: %v", err)
			}
			reply, err := p.codec.DecodeResponse([]byte(body))
			if err != nil {
				t.Fatalf("decode response: %v", err)
			}
			sameIDs(t, p, reply)
		})
	}
}

func TestOllamaErrors(t *testing.T) {
	for class, want := range map[wire.Class]int{
		wire.NotFound: 404, wire.BadRequest: 400, wire.ServerFault: 500, wire.Overloaded: 503, wire.TooLong: 400,
	} {
		t.Run(class.String(), func(t *testing.T) {
			p := &provider{t: t, codec: ollama.Codec{}, refusals: []*wire.Error{{Class: class, Message: other}, {Class: class, Message: other}}}
			base := p.start()
			for _, stream := range []bool{false, true} {
				_, err := ollamaChat(t, base, stream)
				var e sdk.StatusError
				if !errors.As(err, &e) || e.StatusCode != want || e.ErrorMessage == "" {
					t.Errorf("error (stream %v), want a status error with %d, got %T %v", stream, want, err, err)
				}
			}
		})
	}
}

// ollamaLoop is a [loop].
func ollamaLoop(t *testing.T, base string, stream bool) (tools []string, last string) {
	t.Helper()
	messages := []sdk.Message{{Role: "system", Content: "You look after ships."}, {Role: "user", Content: "Go on."}}
	for range rounds {
		lines, err := ollamaChat(t, base, stream, messages...)
		if err != nil {
			t.Fatalf("chat: %v", err)
		}
		m := ollamaMessage(lines)
		if len(m.ToolCalls) == 0 {
			return tools, m.Content
		}
		for _, c := range m.ToolCalls {
			tools = append(tools, c.Function.Name)
		}
		messages = append(append(messages, m), ollamaResults(m)...)
	}
	t.Errorf("loop, want an end, got none after %d rounds", rounds)
	return tools, ""
}
