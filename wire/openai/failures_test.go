package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// replyOf returns the reply that a stream tells.
func replyOf(t *testing.T, c codectest.Laws, stream string) llm.Response {
	t.Helper()
	events := codectest.Events(t, c, []byte(stream))
	c.InOrder(t, events)
	return codectest.Told(c.Dialect(), events)
}

// chatParts returns the parts that a stream of deltas tells.
func chatParts(t *testing.T, deltas ...string) []llm.Part {
	t.Helper()
	return replyOf(t, chatLaws, chunksOf(deltas...)+finished("tool_calls")).Message.Parts
}

// Each name is a failure of another project: its repository and the number of the report.
func TestPastFailures(t *testing.T) {
	call := func(id, name, args string) llm.Part { return llm.ToolCall{CallID: id, Name: name, Args: args} }
	f := func(index, id, name, args string) string {
		return `{"tool_calls":[{` + index + `"id":` + id + `,"type":"function","function":{"name":` + name + `,"arguments":"` + args + `"}}]}`
	}
	streams := []struct {
		name   string
		deltas []string
		want   []llm.Part
	}{
		{"bifrost-3443_no-argument_tools", []string{f(`"index":0,`, `"a"`, `"f"`, ``), f(`"index":0,`, `"a"`, `"f"`, ``)}, []llm.Part{call("a", "f", "{}")}},
		{"bifrost-3441_overlapping_calls_keep_their_ids", []string{
			f(`"index":0,`, `"a"`, `"f"`, `{\"x\"`), f(`"index":1,`, `"b"`, `"g"`, `{\"y\"`),
			`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":":2}"}}]}`,
		}, []llm.Part{call("a", "f", `{"x":1}`), call("b", "g", `{"y":2}`)}},
		{"every_call_at_index_0", []string{f(`"index":0,`, `"a"`, `"f"`, `{}`), f(`"index":0,`, `"b"`, `"g"`, `{}`)}, []llm.Part{call("a", "f", "{}"), call("b", "g", "{}")}},
		{"calls_without_an_index", []string{f(``, `"a"`, `"f"`, `{}`), f(``, `"b"`, `"f"`, `{\"z\":`), `{"tool_calls":[{"function":{"arguments":"1}"}}]}`}, []llm.Part{call("a", "f", "{}"), call("b", "f", `{"z":1}`)}},
		{"id_and_name_in_every_fragment", []string{f(`"index":0,`, `"a"`, `"f"`, `{\"x\":`), f(`"index":0,`, `"a"`, `"f"`, `1}`), f(`"index":0,`, `"a"`, `"f"`, `\n`)}, []llm.Part{call("a", "f", `{"x":1}`+"\n")}},
		{"null_name_and_id_later", []string{f(`"index":0,`, `"a"`, `"f"`, `{`), f(`"index":0,`, `null`, `null`, `}`)}, []llm.Part{call("a", "f", "{}")}},
		{"no_ids_at_all", []string{f(`"index":0,`, `null`, `"f"`, `{}`), f(`"index":1,`, `""`, `"f"`, `{}`)}, []llm.Part{call("call_c1_0", "f", "{}"), call("call_c1_1", "f", "{}")}},
		{"name_behind_the_arguments", []string{`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`, `{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`}, []llm.Part{call("a", "f", "{}")}},
		{"arguments_as_an_object", []string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}}]}`}, []llm.Part{call("a", "f", `{"x": 1}`)}},
		{"empty_deltas_are_no_parts", []string{`{"role":"assistant","content":"","reasoning_content":"","reasoning":null,"tool_calls":[]}`, `{}`, `{"content":"x"}`}, []llm.Part{llm.Text{Text: "x"}}},
		{"text_around_calls", []string{`{"content":"a"}`, f(`"index":0,`, `"a"`, `"f"`, `{}`), `{"content":"b"}`}, []llm.Part{llm.Text{Text: "a"}, call("a", "f", "{}"), llm.Text{Text: "b"}}},
		{"thinking_told_twice", []string{`{"reasoning":"hm","reasoning_content":"hm","content":""}`}, []llm.Part{llm.Thinking{Text: "hm"}}},
		{"mistral_thinking", []string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, `{"content":[{"type":"text","text":"ok"}]}`}, []llm.Part{llm.Thinking{Text: "hm"}, llm.Text{Text: "ok"}}},
		{"half_a_surrogate_pair_in_a_chunk", []string{`{"content":"a\ud83d"}`, `{"content":"\ude00b\ud83d"}`}, []llm.Part{llm.Text{Text: "a\U0001F600b\ufffd"}}},
		{"open-webui-29860_signature_is_kept", []string{`{"reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0}]}`}, []llm.Part{llm.Thinking{Text: "hm", Signature: "sig"}}},
	}
	for _, test := range streams {
		t.Run(test.name, func(t *testing.T) {
			got := chatParts(t, test.deltas...)
			if d := codectest.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("Antigravity-Manager-1513_unknown_members_of_a_call_are_kept", func(t *testing.T) {
		got := chatParts(t, `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"sig"}}}]}`)
		want := `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}`
		if string(got[0].Bytes()) != want {
			t.Errorf("want %s, got %s", want, got[0].Bytes())
		}
	})
	t.Run("text_cut_by_a_call_is_sent_back_whole", func(t *testing.T) {
		m := llm.Message{Role: llm.RoleAssistant, Dialect: DialectChat, Parts: chatParts(t, `{"reasoning_content":"x"}`, `{"content":"a"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `{"content":"b"}`, `{"reasoning_content":"y"}`)}
		want := `{"role":"assistant","content":"ab","reasoning_content":"xy","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`
		if b, err := EncodeChatMessage(m); err != nil || string(b) != want {
			t.Errorf("want %s, got %s, %v", want, b, err)
		}
	})
	t.Run("claude-code-router-1672_runes_split_across_chunks", func(t *testing.T) {
		stream := []byte(chunksOf(`{"content":"日本語 ✓"}`) + finished("stop"))
		for cut := range stream {
			events := codectest.Events(t, Chat{}, stream, cut)
			if events[2].Text != "日本語 ✓" && events[3].Text != "日本語 ✓" {
				t.Fatalf("cut at %d: got %+v", cut, events)
			}
		}
	})
	t.Run("CLIProxyAPI-5854_cached_tokens_counted_once", func(t *testing.T) {
		r := replyOf(t, chatLaws, chunksOf(`{"content":"x"}`)+finished("stop"))
		want := llm.Usage{Input: 30, CacheRead: 60, CacheWrite5m: 10, Output: 20, Reasoning: 5}
		if r.Usage != want || r.Usage.Prompt() != 100 {
			t.Errorf("want %+v, got %+v", want, r.Usage)
		}
	})
	t.Run("bitrouter-422_pings_are_passed_on", func(t *testing.T) {
		for _, c := range []codectest.Codec{Chat{}, Responses{}} {
			b, err := c.NewEncoder().Append(nil, llm.Event{Kind: llm.EventOther})
			if err != nil || !strings.HasPrefix(string(b), ":") || !strings.HasSuffix(string(b), "\n\n") {
				t.Errorf("want a comment, got %q, %v", b, err)
			}
		}
	})
	t.Run("codex-8119_encrypted_reasoning_comes_back_unmodified", func(t *testing.T) {
		r := replyOf(t, responsesLaws, string(ownStreamNamed("responses/everything")))
		b, err := EncodeResponses(llm.Request{Dialect: DialectResponses, Messages: []llm.Message{r.Message}})
		want := `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"enc"}`
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("want %s in %s, %v", want, b, err)
		}
	})
}

func ownStreamNamed(name string) []byte {
	for _, s := range ownStreams() {
		if s.name == name {
			return s.bytes
		}
	}
	return nil
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		read        func([]byte) llm.Usage
		want        llm.Usage
	}{
		{"xAI reasons outside of the completion", `{"prompt_tokens":307,"completion_tokens":26,"total_tokens":560,"prompt_tokens_details":{"cached_tokens":306},"completion_tokens_details":{"reasoning_tokens":227}}`, chatUsage, llm.Usage{Input: 1, CacheRead: 306, Output: 253, Reasoning: 227}},
		{"DeepSeek", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, chatUsage, llm.Usage{Input: 36, CacheRead: 64, Output: 5}},
		{"only totals", `{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":null}`, chatUsage, llm.Usage{Input: 7, Output: 2}},
		{"shares larger than the whole", `{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9},"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":9}}`, chatUsage, llm.Usage{CacheRead: 5, Output: 1, Reasoning: 1}},
		{"null", `null`, chatUsage, llm.Usage{}},
		{"responses", `{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":18}`, responsesUsage, llm.Usage{Input: 6, CacheRead: 4, Output: 8, Reasoning: 3}},
		{"negative", `{"input_tokens":-1,"output_tokens":"x"}`, responsesUsage, llm.Usage{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.read([]byte(test.usage)); got != test.want {
				t.Errorf("want %+v, got %+v", test.want, got)
			}
		})
	}
	u := llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 4, Output: 8, Reasoning: 3}
	if got := chatUsage(writeChatUsage(u)); got != u {
		t.Errorf("chat: want %+v, got %+v", u, got)
	}
	if got := responsesUsage(writeResponsesUsage(u)); got != u {
		t.Errorf("responses: want %+v, got %+v", u, got)
	}
}

func TestStops(t *testing.T) {
	for reason, want := range map[string]llm.Stop{"stop": llm.StopEnd, "length": llm.StopLength, "tool_calls": llm.StopTool, "function_call": llm.StopTool, "content_filter": llm.StopRefusal, "novel": llm.StopUnknown} {
		r := replyOf(t, chatLaws, chunksOf(`{"content":"x"}`)+finished(reason))
		if r.Stop != want || r.Reason != reason {
			t.Errorf("%s: want %v, got %v, %s", reason, want, r.Stop, r.Reason)
		}
	}
	call := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	if r := replyOf(t, chatLaws, chunksOf(call)+finished("stop")); r.Stop != llm.StopTool {
		t.Errorf("a call, and then stop: want %v, got %v", llm.StopTool, r.Stop)
	}
	if r := replyOf(t, chatLaws, string(ownStreamNamed("chat/refusal"))); r.Stop != llm.StopRefusal {
		t.Errorf("a refusal, and then stop: want %v, got %v", llm.StopRefusal, r.Stop)
	}
	if r := replyOf(t, responsesLaws, string(ownStreamNamed("responses/incomplete"))); r.Stop != llm.StopLength || r.Reason != "max_output_tokens" {
		t.Errorf("got %v, %s", r.Stop, r.Reason)
	}
	if r := replyOf(t, responsesLaws, string(ownStreamNamed("responses/everything"))); r.Stop != llm.StopTool {
		t.Errorf("got %v", r.Stop)
	}
}

// What a provider says inside a stream, and what is none of the dialect.
func TestStreamErrors(t *testing.T) {
	tests := []struct {
		name   string
		c      codectest.Codec
		stream string
		want   wire.Class // Unclassified for an error of ours
	}{
		{"error in a chunk", Chat{}, chunksOf(`{"content":"x"}`) + `data: {"id":"c1","error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n", wire.ServerFault},
		{"error in a choice", Chat{}, `data: {"choices":[{"index":0,"delta":{},"error":{"code":429,"message":"slow"}}]}` + "\n\n", wire.RateLimited},
		{"finish_reason error", Chat{}, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}` + "\n\n", wire.ServerFault},
		{"error event", Chat{}, "event: error\ndata: " + `{"message":"This model's maximum context length is 8 tokens"}` + "\n\n", wire.TooLong},
		{"error object", Chat{}, `data: {"object":"error","message":"x","type":"BadRequestError","code":400}` + "\n\n", wire.BadRequest},
		{"a base_resp", Chat{}, `data: {"id":"c1","choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}` + "\n\n", wire.RateLimited},
		{"not JSON", Chat{}, "data: {\"choices\":[}\n\n", 0},
		{"choices of a wrong kind", Chat{}, "data: {\"choices\":5}\n\n", 0},
		{"choice of a wrong kind", Chat{}, "data: {\"choices\":[5]}\n\n", 0},
		{"delta of a wrong kind", Chat{}, "data: {\"choices\":[{\"delta\":5}]}\n\n", 0},
		{"content of a wrong kind", Chat{}, "data: {\"choices\":[{\"delta\":{\"content\":5}}]}\n\n", 0},
		{"calls of a wrong kind", Chat{}, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[5]}}]}\n\n", 0},
		{"failed", Responses{}, framed(`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`), wire.TooLong},
		{"failed without a reason", Responses{}, framed(`{"type":"response.failed","response":{"status":"failed","error":null}}`), wire.ServerFault},
		{"flat error", Responses{}, framed(`{"type":"error","code":"rate_limit_exceeded","message":"x","param":null,"sequence_number":1}`), wire.RateLimited},
		{"nested error", Responses{}, framed(`{"type":"error","error":{"type":"invalid_request_error","code":"invalid_encrypted_content","message":"x"}}`), wire.BadThinking},
		{"item of a wrong kind", Responses{}, framed(`{"type":"response.output_item.added","output_index":0,"item":5}`), 0},
		{"response of a wrong kind", Responses{}, framed(`{"type":"response.completed"}`), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := test.c.NewDecoder()
			_, err := d.Feed([]byte(test.stream))
			if err == nil {
				t.Fatal("want an error, got none")
			}
			e, ok := err.(*wire.Error) //nolint:errorlint // Feed returns it as it is
			if ok != (test.want != wire.Unclassified) || ok && (e.Class != test.want || len(e.Body) == 0) {
				t.Errorf("want %v, got %v", test.want, err)
			}
			if events, again := d.Feed([]byte("data: [DONE]\n\n")); len(events) > 0 || !errors.Is(again, err) {
				t.Errorf("want the same error again and no events, got %v, %v", events, again)
			}
			if _, again := d.Close(); !errors.Is(again, err) {
				t.Errorf("want the same error at the end, got %v", again)
			}
		})
	}
}
