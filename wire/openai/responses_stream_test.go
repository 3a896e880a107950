package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// What servers of the dialect leave out, tell twice or tell otherwise.
func TestResponsesStreams(t *testing.T) {
	const (
		created = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`
		message = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}`
		done    = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}`
	)
	added := func(item string) string {
		return `{"type":"response.output_item.added","output_index":0,"item":` + item + `}`
	}
	itemDone := func(item string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	}
	empty := `{"id":"msg_1","type":"message","role":"assistant","content":[]}`
	delta := func(kind, text string) string {
		return `{"type":"response.` + kind + `.delta","output_index":0,"delta":"` + text + `"}`
	}
	hello := []llm.Part{llm.Text{Text: "Hello"}}
	tests := []struct {
		name     string
		payloads []string
		want     []llm.Part
	}{
		{"only the whole response", []string{`{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[` + message + `]}}`}, hello},
		{"no item added", []string{created, itemDone(message), done}, hello},
		{"no deltas", []string{created, added(empty), itemDone(message), done}, hello},
		{"deltas that tell less", []string{created, added(empty), delta("output_text", "Hel"), itemDone(message), done}, hello},
		{"bifrost-5169_deltas without an item", []string{created, delta("output_text", "Hel"), delta("output_text", "lo"), done}, hello},
		{"thinking without an item", []string{created, delta("reasoning_text", "Hello"), done}, []llm.Part{llm.Thinking{Text: "Hello"}}},
		{"no item done", []string{created, added(empty), delta("output_text", "Hello"), done}, hello},
		{"done twice", []string{created, added(empty), itemDone(message), itemDone(message), `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[` + message + `]}}`}, hello},
		{"events of another kind", []string{created, `{"type":"codex.rate_limits","x":1}`, itemDone(message), `{"type":"response.brand_new.delta","delta":{}}`, done, `{"type":"keepalive"}`}, hello},
		{"no created", []string{added(empty), itemDone(message), done}, hello},
		{"open thinking", []string{created, added(`{"id":"rs","type":"reasoning","summary":[]}`), delta("reasoning_text", "hm"), itemDone(`{"id":"rs","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`), done}, []llm.Part{llm.Thinking{Text: "hm"}}},
		{"call without arguments", []string{created, added(`{"type":"function_call","call_id":"a","name":"f","arguments":""}`), itemDone(`{"type":"function_call","call_id":"a","name":"f","arguments":""}`), done}, []llm.Part{llm.ToolCall{CallID: "a", Name: "f", Args: "{}"}}},
		{"a refusal", []string{created, added(empty), delta("refusal", "No"), itemDone(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No"}]}`), done}, []llm.Part{llm.Text{Text: "No"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := replyOf(t, responsesLaws, framed(test.payloads...))
			if d := codectest.Diff(test.want, r.Message.Parts); d != "" {
				t.Error(d)
			}
			if want := map[string]llm.Stop{"call without arguments": llm.StopTool, "a refusal": llm.StopRefusal}[test.name]; r.Stop != want && (want != 0 || r.Stop != llm.StopEnd) {
				t.Errorf("got %v", r.Stop)
			}
		})
	}
}

// foreign are the events of a stream that another dialect told; two parts overlap.
func foreign(stop llm.Stop) []llm.Event {
	call := llm.ToolCall{CallID: "toolu_1", Name: "f"}
	whole := call
	whole.Args = `{"a":1}`
	return []llm.Event{
		{Kind: llm.EventOther},
		{Kind: llm.EventStart, ID: "msg_01", Model: "m", Usage: llm.Usage{Input: 5}},
		{Kind: llm.EventPartStart, Index: 0, Part: llm.Thinking{}},
		{Kind: llm.EventDelta, Index: 0, Delta: llm.DeltaText, Text: "hm"},
		{Kind: llm.EventDelta, Index: 0, Delta: llm.DeltaSignature, Text: "sig"},
		{Kind: llm.EventPartEnd, Index: 0, Part: llm.Thinking{Text: "hm", Signature: "sig", Raw: codectest.RawOf(`{"type":"thinking"}`)}},
		{Kind: llm.EventPartStart, Index: 1, Part: llm.ToolCall{CallID: "srv", Name: "web_search", Hosted: true}},
		{Kind: llm.EventDelta, Index: 1, Delta: llm.DeltaArgs, Text: "{}"},
		{Kind: llm.EventPartEnd, Index: 1, Part: llm.ToolCall{CallID: "srv", Name: "web_search", Args: "{}", Hosted: true, Raw: codectest.RawOf(`{"type":"server_tool_use"}`)}},
		{Kind: llm.EventPartStart, Index: 2, Part: llm.Text{}},
		{Kind: llm.EventDelta, Index: 2, Delta: llm.DeltaText, Text: "Hi\n"},
		{Kind: llm.EventPartStart, Index: 3, Part: call},
		{Kind: llm.EventDelta, Index: 3, Delta: llm.DeltaArgs, Text: `{"a":1}`},
		{Kind: llm.EventDelta, Index: 2, Delta: llm.DeltaText, Text: "there"},
		{Kind: llm.EventPartEnd, Index: 2, Part: llm.Text{Text: "Hi\nthere"}},
		{Kind: llm.EventPartEnd, Index: 3, Part: whole},
		{Kind: llm.EventPartStart, Index: 4, Part: llm.Opaque{Kind: "web_search_tool_result"}},
		{Kind: llm.EventPartEnd, Index: 4, Part: llm.Opaque{Kind: "web_search_tool_result", Raw: codectest.RawOf(`{"type":"web_search_tool_result"}`)}},
		{Kind: llm.EventPartStart, Index: 5, Part: llm.Media{Type: "image/png"}},
		{Kind: llm.EventPartEnd, Index: 5, Part: llm.Media{Type: "image/png"}},
		{Kind: llm.EventEnd, Stop: stop, Reason: "end_turn", Usage: llm.Usage{Input: 5, CacheRead: 2, Output: 3}},
	}
}

// payloads returns the events of an encoded stream as the types or chunks that they are.
func payloads(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.SplitSeq(string(stream), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		all = append(all, m)
	}
	return all
}

func TestResponsesEncoderOfAnotherDialect(t *testing.T) {
	stream := codectest.Encoded(t, Responses{}, foreign(llm.StopTool))
	var got []string
	for i, p := range payloads(t, stream) {
		if p["sequence_number"] != float64(i) {
			t.Errorf("event %d: want its number, got %v", i, p["sequence_number"])
		}
		s := strings.TrimPrefix(p["type"].(string), "response.")
		if n, ok := p["output_index"]; ok {
			s += fmt.Sprintf(" %v", n)
		}
		if id, ok := p["item_id"]; ok {
			s += fmt.Sprintf(" %v", id)
		}
		got = append(got, s)
	}
	want := []string{
		"created", "in_progress",
		"output_item.added 0", "reasoning_summary_part.added 0 rs_msg_01_0", "reasoning_summary_text.delta 0 rs_msg_01_0",
		"reasoning_summary_text.done 0 rs_msg_01_0", "reasoning_summary_part.done 0 rs_msg_01_0", "output_item.done 0",
		"output_item.added 1", "content_part.added 1 msg_msg_01_1", "output_text.delta 1 msg_msg_01_1",
		"output_item.added 2", "function_call_arguments.delta 2 fc_msg_01_2", "output_text.delta 1 msg_msg_01_1",
		"output_text.done 1 msg_msg_01_1", "content_part.done 1 msg_msg_01_1", "output_item.done 1",
		"function_call_arguments.done 2 fc_msg_01_2", "output_item.done 2",
		"output_item.added 3", "content_part.added 3 msg_msg_01_3", "output_text.delta 3 msg_msg_01_3", "output_text.done 3 msg_msg_01_3",
		"content_part.done 3 msg_msg_01_3", "output_item.done 3", "completed",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	r := replyOf(t, responsesLaws, string(stream))
	parts := []llm.Part{llm.Thinking{Text: "hm", Signature: "sig"}, llm.Text{Text: "Hi\nthere"}, llm.ToolCall{CallID: "toolu_1", Name: "f", Args: `{"a":1}`}, llm.Text{Text: "[image/png left out: it cannot be sent to this provider]"}}
	if d := codectest.Diff(parts, r.Message.Parts); d != "" {
		t.Error(d)
	}
	if r.ID != "msg_01" || r.Stop != llm.StopTool || r.Usage != (llm.Usage{Input: 5, CacheRead: 2, Output: 3}) {
		t.Errorf("got %+v", r)
	}
	end := payloads(t, stream)[len(got)-1]["response"].(map[string]any)
	if n := len(end["output"].([]any)); n != 4 || end["status"] != "completed" {
		t.Errorf("want the whole response at the end, got %v", end)
	}
	for stop, want := range map[llm.Stop]string{llm.StopLength: "response.incomplete max_output_tokens", llm.StopRefusal: "response.incomplete content_filter"} {
		all := payloads(t, codectest.Encoded(t, Responses{}, foreign(stop)))
		last := all[len(all)-1]
		details := last["response"].(map[string]any)["incomplete_details"].(map[string]any)
		if got := fmt.Sprint(last["type"], " ", details["reason"]); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestChatEncoderOfAnotherDialect(t *testing.T) {
	stream := codectest.Encoded(t, Chat{}, foreign(llm.StopTool))
	var got []string
	all := payloads(t, stream)
	for _, p := range all {
		if p["id"] != "msg_01" || p["object"] != "chat.completion.chunk" || p["model"] != "m" || p["created"] == nil {
			t.Errorf("got %v", p)
		}
		for _, c := range p["choices"].([]any) {
			c := c.(map[string]any)
			b, err := json.Marshal(c["delta"])
			if err != nil || c["index"] != 0.0 {
				t.Fatal(err, c)
			}
			s := string(b)
			if c["finish_reason"] != nil {
				s += " " + c["finish_reason"].(string)
			}
			got = append(got, s)
		}
	}
	want := []string{
		`{"content":"","role":"assistant"}`, `{"reasoning_content":"hm"}`, `{"reasoning_details":[{"index":0,"signature":"sig","type":"reasoning.text"}]}`,
		`{"content":"Hi\n"}`, `{"tool_calls":[{"function":{"arguments":"","name":"f"},"id":"toolu_1","index":0,"type":"function"}]}`,
		`{"tool_calls":[{"function":{"arguments":"{\"a\":1}"},"index":0}]}`, `{"content":"there"}`,
		`{"content":"\n[image/png left out: it cannot be sent to this provider]"}`, `{} tool_calls`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if last := all[len(all)-1]; len(last["choices"].([]any)) != 0 || last["usage"] == nil || !strings.HasSuffix(string(stream), "data: [DONE]\n\n") {
		t.Errorf("want the usage and the end mark last, got %s", stream)
	}
}

// An encoder says where events cannot come.
func TestEncodersWatchTheOrder(t *testing.T) {
	start, end := llm.Event{Kind: llm.EventStart}, llm.Event{Kind: llm.EventEnd}
	begin := llm.Event{Kind: llm.EventPartStart, Part: llm.Text{}}
	for name, events := range map[string][]llm.Event{
		"no start":         {end},
		"two starts":       {start, start},
		"after the end":    {start, end, begin},
		"delta of no part": {start, {Kind: llm.EventDelta, Text: "x", Delta: llm.DeltaText}},
		"end of no part":   {start, {Kind: llm.EventPartEnd, Part: llm.Text{}}},
		"begun twice":      {start, begin, begin},
		"end too early":    {start, begin, end},
		"no kind":          {start, {}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []codectest.Codec{Chat{}, Responses{}} {
				w := c.NewEncoder()
				for i, e := range events {
					dst, err := w.Append([]byte("x"), e)
					if last := i == len(events)-1; last != (err != nil) || err != nil && string(dst) != "x" {
						t.Errorf("event %d: got %q, %v", i, dst, err)
					}
				}
			}
		})
	}
}
