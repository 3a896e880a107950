package anthropic

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func reply(t *testing.T, stream string) llm.Response {
	t.Helper()
	return codectest.Told(Dialect, codectest.Events(t, Codec{}, []byte(stream)))
}

// Mistakes of programs before this one, by repository and number.
func TestPastFailures(t *testing.T) {
	for _, group := range []func(*testing.T){pastStarts, pastCalls, pastUsage, pastLosses, pastRequests} {
		group(t)
	}
}

func pastStarts(t *testing.T) {
	second := strings.Replace(startPayload, "msg_1", "msg_2", 1)
	t.Run("bifrost-4556_duplicate_message_start", func(t *testing.T) {
		got := codectest.Events(t, Codec{}, []byte(framed(startPayload, startPayload, textStart, startPayload, textStop, endPayload, stopPayload)))
		if kinds(got) != "start, other, part start, other, part end, end" {
			t.Errorf("got %s", kinds(got))
		}
	})
	// Two generations in one body: the first is lost, and parts of both in one message
	// would be refused for good. Asking again is the only way on.
	t.Run("vercel-18331_spliced_message_start", func(t *testing.T) {
		events, err := codectest.Feed(Codec{}, []byte(framed(startPayload, textStart, second, textStart, textStop, endPayload, stopPayload)))
		if !errors.Is(err, wire.ErrCut) || kinds(events) != "start, part start" {
			t.Errorf("got %v after %s", err, kinds(events))
		}
		recorded(t, func(t *testing.T, e recording.Exchange) {
			if !strings.Contains(e.Name, "spliced") {
				return
			}
			if _, err := codectest.Feed(Codec{}, e.Response); !errors.Is(err, wire.ErrCut) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func pastCalls(t *testing.T) {
	t.Run("bifrost-3443_no-argument_tools", func(t *testing.T) {
		r := reply(t, blockStream(`{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":""}`))
		if c := r.Message.Parts[0].(llm.ToolCall); c.Args != "{}" {
			t.Errorf("got %q", c.Args)
		}
		none := llm.ToolCall{CallID: "a", Name: "f"}
		out := string(codectest.Encoded(t, Codec{}, append(append([]llm.Event{{Kind: llm.EventStart}}, part(0, none, none)...), llm.Event{Kind: llm.EventEnd})))
		if strings.Count(out, `"type":"input_json_delta"`) != 1 || !strings.Contains(out, `"partial_json":"{}"`) {
			t.Errorf("got %s", out)
		}
	})
	t.Run("bifrost-3441_overlapping_blocks", func(t *testing.T) {
		r := reply(t, streams["interleaved"])
		calls := r.Message.Calls()
		if len(calls) != 2 || calls[0].Args != `{"a":1}` || calls[1].Args != `{"b":2}` || calls[1].CallID != "b" {
			t.Fatalf("got %+v", calls)
		}
		out := codectest.Encoded(t, Codec{}, codectest.Events(t, Codec{}, []byte(streams["interleaved"])))
		open := false
		for _, p := range payloads(t, out) {
			switch {
			case strings.HasPrefix(p, `{"type":"content_block_start"`):
				if open {
					t.Errorf("blocks overlap: %s", out)
				}
				open = true
			case strings.HasPrefix(p, `{"type":"content_block_stop"`):
				open = false
			}
		}
	})
	t.Run("bifrost-5169_delta_without_start", func(t *testing.T) {
		w := Codec{}.NewEncoder()
		out, err := w.Append(nil, llm.Event{Kind: llm.EventStart})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Append(out, llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "x"}); err == nil {
			t.Errorf("want an error, got %s", got)
		}
	})
	t.Run("ccrelay-119_arguments_as_input_json_delta", func(t *testing.T) {
		c := llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":1}`}
		out := string(codectest.Encoded(t, Codec{}, append(append([]llm.Event{{Kind: llm.EventStart}}, part(0, c, c)...), llm.Event{Kind: llm.EventEnd})))
		if !strings.Contains(out, `"input":{}}`) || !strings.Contains(out, `"type":"input_json_delta","partial_json":"{\"x\":1}"`) {
			t.Errorf("got %s", out)
		}
	})
}

func pastUsage(t *testing.T) {
	t.Run("litellm-24176_usage_in_message_start", func(t *testing.T) {
		out := string(codectest.Encoded(t, Codec{}, []llm.Event{{Kind: llm.EventStart}}))
		for _, field := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "output_tokens"} {
			if !strings.Contains(out, `"`+field+`":`) {
				t.Errorf("%s is missing: %s", field, out)
			}
		}
	})
	usages := func(start, end string) llm.Usage {
		s := `{"type":"message_start","message":{"id":"m","usage":` + start + `}}`
		return reply(t, framed(s, `{"type":"message_delta","delta":{},"usage":`+end+`}`, stopPayload)).Usage
	}
	t.Run("cline-4346_usage_in_message_delta", func(t *testing.T) {
		if got := usages(`{"input_tokens":43,"output_tokens":1}`, `{"input_tokens":61,"output_tokens":2}`); got != (llm.Usage{Input: 61, Output: 2}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("lobehub-18612_usage_in_message_delta_alone", func(t *testing.T) {
		if got := usages(`null`, `{"input_tokens":61,"cache_read_input_tokens":7,"output_tokens":2}`); got != (llm.Usage{Input: 61, CacheRead: 7, Output: 2}) {
			t.Errorf("got %+v", got)
		}
		out := payloads(t, codectest.Encoded(t, Codec{}, []llm.Event{{Kind: llm.EventStart}, {Kind: llm.EventEnd, Usage: llm.Usage{Input: 61, CacheRead: 7}}}))
		if !strings.Contains(out[1], `"input_tokens":61`) || !strings.Contains(out[1], `"cache_read_input_tokens":7`) {
			t.Errorf("got %s", out[1])
		}
	})
	t.Run("headroom-1132_no_input_tokens_in_message_start", func(t *testing.T) {
		if got := usages(`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":61,"output_tokens":2}`); got.Input != 61 {
			t.Errorf("got %+v", got)
		}
		if got := usages(`{"input_tokens":61,"cache_read_input_tokens":5,"output_tokens":0}`, `{"input_tokens":0,"output_tokens":2}`); got.Input != 61 || got.CacheRead != 5 {
			t.Errorf("taken back: got %+v", got)
		}
	})
	t.Run("CLIProxyAPI-5617_cache_tokens_of_streams", func(t *testing.T) {
		if got := reply(t, streams["text"]).Usage; got != (llm.Usage{Input: 5, CacheRead: 100, CacheWrite5m: 10, CacheWrite1h: 20, Output: 42}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("CLIProxyAPI-5854_cached_tokens_counted_once", func(t *testing.T) {
		if got := reply(t, streams["text"]).Usage.Prompt(); got != 135 {
			t.Errorf("want 135, got %d", got)
		}
	})
}

func pastLosses(t *testing.T) {
	t.Run("headroom-2438(2)_server_tool_use_input", func(t *testing.T) {
		p := reply(t, streams["everything"]).Message.Parts[2]
		if !strings.Contains(string(p.Bytes()), `"input":{"query": "tide"}`) {
			t.Errorf("got %s", p.Bytes())
		}
	})
	t.Run("open-webui-29860_signature_kept", func(t *testing.T) {
		stream := codectest.Encoded(t, Codec{}, codectest.Events(t, Codec{}, []byte(streams["everything"])))
		if p := reply(t, string(stream)).Message.Parts[0].(llm.Thinking); p.Signature != "c2ln" || !strings.Contains(string(p.Bytes()), `"signature":"c2ln"`) {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("claude-mem-3198_foreign_thinking", func(t *testing.T) {
		m := llm.Message{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{llm.Thinking{Text: "t", Signature: "enc"}, llm.Text{Text: "a"}}}
		if b, err := EncodeMessage(m); err != nil || strings.Contains(string(b), "thinking") {
			t.Errorf("got %s, %v", b, err)
		}
	})
	t.Run("claude-code-router-1672_UTF-8_split_across_chunks", func(t *testing.T) {
		stream := []byte(oneText(`"ä€😀"`))
		for cut := range stream {
			got, err := codectest.Feed(Codec{}, stream, cut)
			if err != nil || codectest.Told(Dialect, got).Message.Text() != "ä€😀" {
				t.Fatalf("cut at %d: got %q, %v", cut, codectest.Told(Dialect, got).Message.Text(), err)
			}
		}
	})
	t.Run("bitrouter-422_pings_pass", func(t *testing.T) {
		events := codectest.Events(t, Codec{}, []byte(framed(`{"type":"ping"}`, startPayload, `{"type":"ping"}`, endPayload, stopPayload)))
		if got := strings.Count(string(codectest.Encoded(t, Codec{}, events)), "event: ping\n"); got != 2 {
			t.Errorf("want 2 pings, got %d", got)
		}
	})
	t.Run("headroom-3055_empty_reply_of_pings", func(t *testing.T) {
		if events, err := codectest.Feed(Codec{}, []byte(framed(`{"type":"ping"}`, `{"type":"ping"}`))); !errors.Is(err, wire.ErrCut) {
			t.Errorf("want a cut, got %v after %s", err, kinds(events))
		}
	})
}

func pastRequests(t *testing.T) {
	t.Run("tool_search_round_trip", func(t *testing.T) {
		body := `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"tool_search_tool_bm25","input":{"query":"w"}},{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"g"}]}},` +
			`{"type":"tool_use","id":"a","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"h"}]}]}]}`
		r := codectest.Decoded(t, Codec{}, []byte(body))
		if calls := r.Messages[0].Calls(); len(calls) != 2 || !calls[0].Hosted || calls[1].Hosted {
			t.Errorf("got %+v", calls)
		}
		if got, err := EncodeRequest(r); err != nil || string(got) != body {
			t.Errorf("got %s, %v", got, err)
		}
		r.Messages[1] = codectest.With(r.Messages[1], 0, codectest.Stubbed)
		if got, err := EncodeRequest(r); err != nil || !strings.Contains(string(got), `"tool_references":[{"type":"tool_reference","tool_name":"g"}]`) {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("mid-conversation_system_message", func(t *testing.T) {
		body := `{"messages":[{"role":"user","content":"a"},{"role":"system","content":"note"},{"role":"user","content":"b"}]}`
		r := codectest.Decoded(t, Codec{}, []byte(body))
		r.Messages[0] = codectest.With(r.Messages[0], 0, codectest.Retold("A"))
		if got, err := EncodeRequest(r); err != nil || string(got) != strings.Replace(body, `"a"`, `"A"`, 1) {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("documents_in_tool_results", func(t *testing.T) {
		m := decoded(t, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"},{"type":"text","text":"x"}]}]}`)
		r := m.Results()[0]
		if len(r.Content) != 2 || r.Content[0].(llm.Media).Type != "text/plain" {
			t.Errorf("got %+v", r.Content)
		}
	})
	t.Run("typeless_tool_schema_and_empty_tool_list", func(t *testing.T) {
		body := `{"tools":[{"name":"f","input_schema":{}}],"messages":[]}`
		r := codectest.Decoded(t, Codec{}, []byte(body))
		r.Messages = []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "x"}}}}
		if got, err := EncodeRequest(r); err != nil || !strings.Contains(string(got), `"input_schema":{}`) {
			t.Errorf("got %s, %v", got, err)
		}
		if got, err := EncodeRequest(llm.Request{Dialect: "other"}); err != nil || strings.Contains(string(got), "tools") {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("headroom-1042_edit_leaves_the_prefix_alone", func(t *testing.T) {
		body := `{ "system":"s\u0065","messages":[ {"role":"user","content":"a\/b"} ,{"role":"user","content":"c"}],"x":1.50 }`
		r := codectest.Decoded(t, Codec{}, []byte(body))
		r.Messages[1] = codectest.With(r.Messages[1], 0, codectest.Retold("C"))
		if got, err := EncodeRequest(r); err != nil || string(got) != strings.Replace(body, `"c"`, `"C"`, 1) {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

// A reply whose message_delta never came is not whole: nobody said why it stopped, and what
// it cost.
func TestStopWithoutMessageDelta(t *testing.T) {
	for name, stream := range map[string]string{
		"nothing": framed(startPayload, stopPayload),
		"text":    framed(startPayload, textStart, textStop, stopPayload),
	} {
		if events, err := codectest.Feed(Codec{}, []byte(stream)); !errors.Is(err, wire.ErrCut) {
			t.Errorf("%s: want %v, got %v after %s", name, wire.ErrCut, err, kinds(events))
		}
	}
}
