package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// payloads returns what stands behind "data: " in a stream and checks the framing: each
// event is named as its payload says.
func payloads(t *testing.T, stream []byte) []string {
	t.Helper()
	var out []string
	for _, event := range strings.Split(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(event, "\ndata: ")
		var p struct{ Type string }
		if err := json.Unmarshal([]byte(data), &p); err != nil || !ok || name != "event: "+p.Type {
			t.Fatalf("%v in %q", err, event)
		}
		out = append(out, data)
	}
	return out
}

func part(i int, begins llm.Part, ends llm.Part, deltas ...llm.Event) []llm.Event {
	events := []llm.Event{{Kind: llm.EventPartStart, Index: i, Part: begins}}
	for _, d := range deltas {
		d.Kind, d.Index = llm.EventDelta, i
		events = append(events, d)
	}
	return append(events, llm.Event{Kind: llm.EventPartEnd, Index: i, Part: ends})
}

func told(kind llm.DeltaKind, text string) llm.Event { return llm.Event{Delta: kind, Text: text} }

// Everything that a stream of another dialect may tell, in the shapes of this one.
func TestEncodeStream(t *testing.T) {
	foreign := func(kind string) llm.Raw { return llm.Raw{Data: []byte(`{"type":"` + kind + `"}`)} }
	call := llm.ToolCall{CallID: "c", Name: "f"}
	custom := llm.ToolCall{CallID: "p", Name: "patch", Custom: true}
	tests := []struct {
		name   string
		events []llm.Event
		want   []string // between message_start and message_delta
	}{
		{"text", part(0, llm.Text{}, llm.Text{Text: "a\n"}, told(llm.DeltaText, "a\n")), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\n"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"text that no delta told", part(0, llm.Text{}, llm.Text{Text: "a"}), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"a signature that comes early and in pieces", part(0, llm.Thinking{}, llm.Thinking{Text: "t", Signature: "si"}, told(llm.DeltaSignature, "s"), told(llm.DeltaText, "t"), told(llm.DeltaSignature, "i")), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"si"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"redacted, known at its end", part(0, llm.Thinking{Redacted: true}, llm.Thinking{Redacted: true, Signature: "d"}), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"d"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"a call", part(0, call, llm.ToolCall{CallID: "c", Name: "f", Args: `{"a":1}`}, told(llm.DeltaArgs, `{"a"`), told(llm.DeltaArgs, `:1}`)), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"free text becomes an object", part(0, custom, llm.ToolCall{CallID: "p", Name: "patch", Custom: true, Args: "a\"b\n"}, told(llm.DeltaArgs, `a"`), told(llm.DeltaArgs, "b\n")), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"p","name":"patch","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"input\":\"a\\\""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"b\\n"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"}"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"no free text", part(0, custom, custom), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"p","name":"patch","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"input\":\""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"}"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"a picture leaves a line", part(0, llm.Media{Type: "image/png"}, llm.Media{Type: "image/png", Raw: foreign("input_image")}), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[image/png left out: it cannot be sent to this provider]"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"a stub", part(0, llm.Stub{}, llm.Stub{Text: "see"}), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"see"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"what belongs to another provider", append(append(append(append(
			part(0, llm.Opaque{Kind: "web_search_call", Raw: foreign("web_search_call")}, llm.Opaque{Kind: "web_search_call", Raw: foreign("web_search_call")}),
			part(1, llm.Opaque{Kind: "compaction", Raw: foreign("compaction")}, llm.Opaque{Kind: "compaction", Raw: foreign("compaction")}, told(llm.DeltaText, "x"))...),
			part(2, llm.ToolCall{Hosted: true, Raw: foreign("code_interpreter_call")}, llm.ToolCall{Hosted: true}, told(llm.DeltaArgs, "{}"))...),
			part(3, llm.Thinking{Raw: foreign("reasoning")}, llm.Thinking{Text: "t"}, told(llm.DeltaText, "t"))...),
			part(4, llm.Opaque{Kind: "executableCode", Raw: llm.Raw{Data: []byte(`{"executableCode":{}}`)}}, llm.Opaque{Kind: "executableCode"})...), nil},
		{"the index counts what is written", append(part(0, llm.ToolResult{}, llm.ToolResult{}), part(1, llm.Text{}, llm.Text{Text: "a"}, told(llm.DeltaText, "a"), told(llm.DeltaOther, `{"type":"url_citation"}`))...), []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":0}`,
		}},
		{"line ends between the values of a block", part(0, llm.Opaque{Kind: "x", Raw: llm.Raw{Data: []byte("{\r\n\"type\":\"x\"}")}}, llm.Opaque{Kind: "x"}), []string{
			"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{  \"type\":\"x\"}}",
			`{"type":"content_block_stop","index":0}`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := append([]llm.Event{{Kind: llm.EventStart, ID: "m"}}, test.events...)
			got := payloads(t, codectest.Encoded(t, Codec{}, append(events, llm.Event{Kind: llm.EventEnd, Stop: llm.StopEnd})))
			got = got[1 : len(got)-2]
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("want %s\ngot  %s", strings.Join(test.want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

// The frame around the blocks, with every member that clients insist on.
func TestEncodeStreamFrame(t *testing.T) {
	usage := llm.Usage{Input: 5, CacheRead: 100, CacheWrite5m: 10, CacheWrite1h: 20, Output: 1}
	events := []llm.Event{
		{Kind: llm.EventStart, ID: "m", Model: "x", Usage: usage},
		{Kind: llm.EventOther, Raw: []byte("anything")},
		{Kind: llm.EventEnd, Stop: llm.StopTool, Reason: "STOP", Usage: llm.Usage{Input: 5, CacheRead: 100, CacheWrite5m: 11, CacheWrite1h: 20, Output: 9, Reasoning: 3}},
		{Kind: llm.EventOther},
	}
	want := []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":30,"cache_read_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1,"server_tool_use":null,"service_tier":null}}}`,
		`{"type":"ping"}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":5,"cache_creation_input_tokens":31,"cache_read_input_tokens":100,"output_tokens":9,"output_tokens_details":{"thinking_tokens":3}}}`,
		`{"type":"message_stop"}`,
	}
	if got := payloads(t, codectest.Encoded(t, Codec{}, events)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("want %s\ngot  %s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	events[0].ID = ""
	first, again := codectest.Encoded(t, Codec{}, events), codectest.Encoded(t, Codec{}, events)
	if string(first) != string(again) || !strings.Contains(string(first), `"id":"msg_`) {
		t.Errorf("want the same derived id twice, got %s", first)
	}
}

func TestEncodeStreamErrors(t *testing.T) {
	start, end := llm.Event{Kind: llm.EventStart}, llm.Event{Kind: llm.EventEnd}
	begins := llm.Event{Kind: llm.EventPartStart, Part: llm.Text{}}
	tests := []struct {
		name   string
		events []llm.Event // the last one is wrong
	}{
		{"no start", []llm.Event{begins}},
		{"two starts", []llm.Event{start, start}},
		{"a part that is open", []llm.Event{start, begins, begins}},
		{"a delta of no part", []llm.Event{start, {Kind: llm.EventDelta, Text: "x"}}},
		{"an end of no part", []llm.Event{start, {Kind: llm.EventPartEnd}}},
		{"an end with a part open", []llm.Event{start, begins, end}},
		{"something after the end", []llm.Event{start, end, begins}},
		{"no kind", []llm.Event{start, {}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := Codec{}.NewEncoder()
			var out []byte
			for i, e := range test.events {
				got, err := w.Append(out, e)
				if wrong := i == len(test.events)-1; wrong != (err != nil) {
					t.Fatalf("event %d: got %v", i, err)
				}
				if err != nil && string(got) != string(out) {
					t.Errorf("want nothing written, got %s", got[len(out):])
				}
				out = got
			}
		})
	}
}
