package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// chunked returns payloads as a stream.
func chunked(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

func TestChatSplice(t *testing.T) {
	for _, x := range []struct {
		name   string
		rounds []string
		want   string
	}{
		{
			name: "later Rounds have the id, the time and the role of the first", rounds: []string{
				chunked(`{"id":"a","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
					`{"id":"a","created":1,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]}}]}`,
					`{"id":"a","created":1,"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`),
				chunked(`{"id":"b","created":2,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
					`{"id":"b","created":2,"choices":[{"index":0,"delta":{"content":"x"}}]}`,
					`{"id":"b","created":2,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
			},
			want: chunked(`{"id":"a","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
				`{"id":"a","created":1,"choices":[{"index":0,"delta":{"content":"x"}}]}`,
				`{"id":"a","created":1,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
		},
		{
			name: "parallel calls in one chunk, hidden ones in the middle", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"1","function":{"name":"f"}},{"index":1,"id":"2","function":{"name":"h"}}, {"index":2,"id":"3","function":{"name":"g"}}]}}]}`,
					`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":2,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":"{}"}}]}}]}`,
					`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":" "}}]}}]}`,
					`{"id":"a","choices":[{"delta":{},"finish_reason":"tool_calls"}]}`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}, {"index":1,"id":"3","function":{"name":"g"}}]}}]}`,
				`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}}]}`,
				`{"id":"a","choices":[{"delta":{},"finish_reason":"tool_calls"}]}`),
		},
		{
			name: "a server that gives all calls the index 0", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]}}]}`,
					`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"f","arguments":"{}"}}]}}]}`,
					`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"3","function":{"name":"g","arguments":"{}"}}]}}]}`, `[DONE]`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"f","arguments":"{}"}}]}}]}`,
				`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":1,"id":"3","function":{"name":"g","arguments":"{}"}}]}}]}`, `[DONE]`),
		},
		{
			name: "the end, the usage and the last words in one chunk; usage in every chunk", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`),
				chunked(`{"id":"b","choices":[{"delta":{"content":"y"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
					`{"id":"b","choices":[{"delta":{"content":"z"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":2}}}`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"content":"x"},"finish_reason":null}]}`,
				`{"id":"a","choices":[{"delta":{"content":"y"}}],"usage":{"prompt_tokens":4,"completion_tokens":3}}`,
				`{"id":"a","choices":[{"delta":{"content":"z"},"finish_reason":null}]}`,
				`{"id":"a","choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":2}}}`),
		},
		{
			name: "the older form of a call, and an end with hidden calls alone", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"role":"assistant","content":null,"function_call":{"name":"h","arguments":""}}}]}`,
					`{"id":"a","choices":[{"delta":{"function_call":{"arguments":"{}"}}}]}`,
					`{"id":"a","choices":[{"delta":{},"finish_reason":"function_call"}]}`, `{"id":"a","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `[DONE]`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"role":"assistant","content":null}}]}`,
				`{"id":"a","choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"id":"a","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `[DONE]`),
		},
		{
			name: "the usage in a chunk of its own, with an empty delta", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]}}]}`,
					`{"id":"a","choices":[{"delta":{"role":"assistant","content":""},"finish_reason":"tool_calls"}]}`,
					`{"id":"a","choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `[DONE]`),
				chunked(`{"id":"b","choices":[{"delta":{"role":"assistant","content":"x"}}]}`, `{"id":"b","choices":[{"delta":{},"finish_reason":"stop"}]}`,
					`{"id":"b","choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, `[DONE]`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"role":"assistant"}}]}`, `{"id":"a","choices":[{"delta":{"content":"x"}}]}`, `{"id":"a","choices":[{"delta":{},"finish_reason":"stop"}]}`,
				`{"id":"a","choices":[{"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":4,"completion_tokens":6}}`, `[DONE]`),
		},
		{
			name: "details of reasoning are numbered on", rounds: []string{
				chunked(`{"id":"a","choices":[{"delta":{"reasoning_details":[{"index":0,"text":"x"}]}}]}`,
					`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`),
				chunked(`{"id":"a","choices":[{"delta":{"reasoning_details":[{"index":0,"text":"y"}]}}]}`, `{"id":"a","choices":[{"delta":{},"finish_reason":"stop"}]}`),
			},
			want: chunked(`{"id":"a","choices":[{"delta":{"reasoning_details":[{"index":0,"text":"x"}]}}]}`,
				`{"id":"a","choices":[{"delta":{"reasoning_details":[{"index":1,"text":"y"}]}}]}`, `{"id":"a","choices":[{"delta":{},"finish_reason":"stop"}]}`),
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := codectest.Joined(t, Chat{}.NewSplice(codectest.Hides, true), codectest.AtOnce, x.rounds...); got != x.want {
				t.Errorf("want\n%s\ngot\n%s", x.want, got)
			}
		})
	}
}

// A reply that cannot be spliced passes as it came, and the host is told.
func TestChatSpliceOfWhatCannotBeSpliced(t *testing.T) {
	call := `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"h","arguments":"{}"}}]}}`
	for name, reply := range map[string]struct {
		body     string
		streamed bool
	}{
		"several choices": {chunked(`{"id":"a","choices":[{"index":0,"delta":{"content":"x"}}]}`, `{"id":"a","choices":[{"index":1,"delta":{"content":"x"}}]}`,
			`{"id":"a","choices":[`+call+`]}`, `{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`), true},
		"several choices, not streamed": {`{"id":"a","choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"1","function":{"name":"h","arguments":"{}"}}]}},{"index":1,"message":{}}]}`, false},
		"a name that comes late": {chunked(`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"arguments":""}}]}}]}`,
			`{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"h","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), true},
	} {
		s := Chat{}.NewSplice(codectest.Hides, reply.streamed)
		out, err := s.Write([]byte(reply.body))
		if err != nil {
			t.Fatal(err)
		}
		got := string(out)
		r, err := s.EndRound()
		if !errors.Is(err, wire.ErrUnspliced) || len(r.Message.Calls()) != 1 {
			t.Errorf("%s: want the reply beside %v, got %v, %v", name, wire.ErrUnspliced, r.Message.Parts, err)
		}
		if got += string(s.Finish()); got != reply.body {
			t.Errorf("%s: want\n%s\ngot\n%s", name, reply.body, got)
		}
	}
}

func TestChatSpliceOfWholeReplies(t *testing.T) {
	got := codectest.Joined(
		t, Chat{}.NewSplice(codectest.Hides, false), codectest.AtOnce,
		`{"id":"a","created":1,"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"x","reasoning":"r","tool_calls":[{"id":"1","function":{"name":"h","arguments":"{}"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"id":"b","created":2,"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":[{"type":"text","text":"y"}],"reasoning":"s","tool_calls":[{"id":"2","function":{"name":"h","arguments":"{}"}},{"id":"3","function":{"name":"f","arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
	)
	want := `{"id":"a","created":1,"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}],"reasoning":"rs","tool_calls":[{"id":"3","function":{"name":"f","arguments":"{}"}}]}}],"usage":{"prompt_tokens":4,"completion_tokens":6}}`
	if got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}
