package anthropic

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// wholeReplies calls f with every reply that was not streamed.
func wholeReplies(t *testing.T, f func(t *testing.T, body []byte, r llm.Response)) {
	pick := func(e recording.Exchange) bool {
		return e.JSON() && !countsTokens(e) && bytes.Contains(e.Response, []byte(`"content"`))
	}
	fixtures(t, replies, pick, func(t *testing.T, body []byte) {
		r, err := DecodeResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		f(t, body, r)
	})
}

func encoded(t *testing.T, r llm.Response) []byte {
	t.Helper()
	b, err := EncodeResponse(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLaw4UntouchedResponseIsByteIdentical(t *testing.T) {
	wholeReplies(t, func(t *testing.T, body []byte, _ llm.Response) { laws.UntouchedReply(t, body) })
}

func TestLaw4EditedResponseChangesOnlyItsOwnBytes(t *testing.T) {
	wholeReplies(t, func(t *testing.T, body []byte, _ llm.Response) { laws.EachReplyEdit(t, body) })
}

// A part taken out takes one comma along; the others keep their bytes.
func TestLaw4PartsGoAlone(t *testing.T) {
	wholeReplies(t, func(t *testing.T, _ []byte, r llm.Response) {
		for i := range r.Message.Parts {
			less := r
			less.Message.Parts = slices.Delete(slices.Clone(r.Message.Parts), i, i+1)
			got := encoded(t, less)
			again, err := DecodeResponse(got)
			if err != nil {
				t.Fatalf("%v in %s", err, got)
			}
			again.Raw, less.Raw = nil, nil
			if len(less.Message.Parts) == 0 {
				less.Message.Parts = nil
			}
			if !reflect.DeepEqual(again, less) {
				t.Fatal(cmp.Diff(less, again))
			}
		}
	})
}

// A reply that was appended to a transcript goes back as the blocks that it came as.
func TestLaw4RepliesGoBackByteStable(t *testing.T) {
	back := func(t *testing.T, m llm.Message) {
		b, err := EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, p := range m.Parts {
			if text, ok := p.(llm.Text); ok && text.Text == "" {
				continue // never sent
			}
			k := bytes.Index(b[at:], p.Bytes())
			if k < 0 {
				t.Fatalf("part %d, %s, is not in %s", i, p.Bytes(), b)
			}
			at += k + len(p.Bytes())
		}
	}
	wholeReplies(t, func(t *testing.T, _ []byte, r llm.Response) { back(t, r.Message) })
	wholeStreams(t, func(t *testing.T, stream []byte) {
		back(t, codectest.Told(Dialect, codectest.Events(t, Codec{}, stream)).Message)
	})
}

// What a reply says survives the way through its neutral fields.
func TestResponseFromNeutralFields(t *testing.T) {
	wholeReplies(t, func(t *testing.T, _ []byte, r llm.Response) {
		r.Raw = nil
		if r.ID == "" {
			r.ID = "msg_x"
		}
		body := encoded(t, r)
		again, err := DecodeResponse(body)
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		again.Raw = nil
		for i, p := range r.Message.Parts {
			if raw.IsString(p.Bytes()) { // content that was a string becomes a list
				block, err := DecodeBlock(replyBlock(p, true))
				if err != nil {
					t.Fatal(err)
				}
				r.Message.Parts[i] = block
			}
		}
		if !reflect.DeepEqual(again, r) {
			t.Error(cmp.Diff(r, again))
		}
	})
}

// A reply and its events tell the same.
func TestEventsOfAResponse(t *testing.T) {
	wholeReplies(t, func(t *testing.T, _ []byte, r llm.Response) {
		if r.ID == "" {
			return // a stream gets one
		}
		events := wire.Events(r)
		stream := codectest.Encoded(t, Codec{}, events)
		got := codectest.Events(t, Codec{}, stream)
		if want := bare(events); !reflect.DeepEqual(want, bare(got)) {
			t.Errorf("%s\n%s", cmp.Diff(want, bare(got)), stream)
		}
	})
}

func TestDecodeResponse(t *testing.T) {
	r, err := DecodeResponse([]byte(replies["all kinds"]))
	if err != nil {
		t.Fatal(err)
	}
	opaque := func(kind string) llm.Part { return llm.Opaque{Kind: kind} }
	want := []llm.Part{
		llm.Thinking{Text: "hm", Signature: "s"},
		llm.Thinking{Signature: "d", Redacted: true},
		llm.ToolCall{CallID: "srvtoolu_1", Name: "bash_code_execution", Args: `{"command":"ls"}`, Hosted: true},
		opaque("bash_code_execution_tool_result"),
		llm.ToolCall{CallID: "mcptoolu_1", Name: "e", Args: "{}", Hosted: true},
		opaque("mcp_tool_result"), opaque("container_upload"),
		llm.Opaque{Kind: "compaction", Compacts: "anthropic"},
		opaque("fallback"),
		llm.Text{Text: "t"},
	}
	if d := codectest.Diff(want, r.Message.Parts); d != "" {
		t.Error(d)
	}
	usage := llm.Usage{Input: 682, CacheRead: 7, CacheWrite5m: 10, CacheWrite1h: 20, Output: 90, Reasoning: 40}
	if r.ID != "msg_2" || r.Model != "c" || r.Stop != llm.StopPause || r.Reason != "pause_turn" || r.Usage != usage || !r.Extra.IsZero() {
		t.Errorf("got %+v", r)
	}
	if len(r.Message.Envelope.Raw) > 0 || r.Message.Role != llm.RoleAssistant || r.Message.Origin != llm.Model {
		t.Errorf("got %+v", r.Message)
	}
}

func TestStopReasons(t *testing.T) {
	tests := map[string]llm.Stop{
		"end_turn": llm.StopEnd, "max_tokens": llm.StopLength, "stop_sequence": llm.StopSequence, "tool_use": llm.StopTool,
		"pause_turn": llm.StopPause, "refusal": llm.StopRefusal, "model_context_window_exceeded": llm.StopWindow,
		"compaction": llm.StopCompaction, "brand_new": llm.StopUnknown,
	}
	for reason, want := range tests {
		body := []byte(`{"content":[],"stop_reason":"` + reason + `"}`)
		r, err := DecodeResponse(body)
		if err != nil || r.Stop != want || r.Reason != reason {
			t.Errorf("%s: got %v %q, %v", reason, r.Stop, r.Reason, err)
		}
		r.Raw = nil
		if got := encoded(t, r); !strings.Contains(string(got), `"stop_reason":"`+reason+`"`) {
			t.Errorf("%s: got %s", reason, got)
		}
		events := []llm.Event{{Kind: llm.EventStart, ID: "m"}, {Kind: llm.EventEnd, Stop: r.Stop, Reason: r.Reason}}
		if got := codectest.Told(Dialect, codectest.Events(t, Codec{}, codectest.Encoded(t, Codec{}, events))); got.Stop != want || got.Reason != reason {
			t.Errorf("%s: a stream says %v %q", reason, got.Stop, got.Reason)
		}
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want, extra llm.Usage
	}{
		{"plain", `{"input_tokens":3,"output_tokens":4}`, llm.Usage{Input: 3, Output: 4}, llm.Usage{}},
		{
			"cache writes without a split are short", `{"input_tokens":3,"cache_creation_input_tokens":9,"cache_read_input_tokens":5,"output_tokens":4}`,
			llm.Usage{Input: 3, CacheWrite5m: 9, CacheRead: 5, Output: 4},
			llm.Usage{},
		},
		{
			"split", `{"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7}}`,
			llm.Usage{CacheWrite5m: 2, CacheWrite1h: 7},
			llm.Usage{},
		},
		{"split without total", `{"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7}}`, llm.Usage{CacheWrite5m: 2, CacheWrite1h: 7}, llm.Usage{}},
		{"nulls", `{"input_tokens":3,"cache_creation_input_tokens":null,"cache_creation":null,"output_tokens_details":null,"iterations":null}`, llm.Usage{Input: 3}, llm.Usage{}},
		{"thinking", `{"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}`, llm.Usage{Output: 9, Reasoning: 4}, llm.Usage{}},
		{
			"compaction is beside", `{"input_tokens":612,"output_tokens":28,"iterations":[{"type":"compaction","input_tokens":60385,"output_tokens":522},{"type":"message","input_tokens":612,"output_tokens":28}]}`,
			llm.Usage{Input: 612, Output: 28, Cleared: 60385 - 612},
			llm.Usage{Input: 60385, Output: 522},
		},
		{
			"an advisor is beside, rounds of server tools are not", `{"input_tokens":30,"output_tokens":9,"iterations":[{"type":"message","input_tokens":10,"output_tokens":4},{"type":"advisor_message","input_tokens":70,"output_tokens":80},{"type":"message","input_tokens":20,"output_tokens":5}]}`,
			llm.Usage{Input: 30, Output: 9},
			llm.Usage{Input: 70, Output: 80},
		},
		{
			"an attempt that another model redid is beside if the top level leaves it out", `{"input_tokens":20,"output_tokens":5,"iterations":[{"type":"message","input_tokens":20,"output_tokens":1},{"type":"fallback_message","input_tokens":20,"output_tokens":5}]}`,
			llm.Usage{Input: 20, Output: 5},
			llm.Usage{Input: 20, Output: 1},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeResponse([]byte(`{"content":[],"usage":` + test.usage + `}`))
			if err != nil || r.Usage != test.want || r.Extra != test.extra {
				t.Errorf("got %+v and %+v, %v", r.Usage, r.Extra, err)
			}
		})
	}
}

func TestEncodeResponse(t *testing.T) {
	text := llm.Message{Parts: []llm.Part{llm.Text{Text: "a"}}}
	tests := []struct {
		name string
		r    llm.Response
		want string
	}{
		{
			"another dialect",
			llm.Response{
				ID: "r1", Model: "gpt", Dialect: "other", Stop: llm.StopTool, Reason: "tool_calls", Raw: []byte(`{"choices":[]}`),
				Usage: llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, Output: 5, Reasoning: 4},
				Message: llm.Message{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{
					llm.Thinking{Text: "hm", Signature: "enc", Raw: llm.Raw{Data: []byte(`{"type":"reasoning"}`)}},
					llm.Text{Text: "hi", Raw: llm.Raw{Data: []byte(`"hi"`)}},
					llm.ToolCall{CallID: "c", Name: "patch", Args: `{"looks":"like JSON"}`, Custom: true},
					llm.ToolCall{CallID: "w", Name: "web_search", Hosted: true},
					llm.Opaque{Kind: "compaction", Raw: llm.Raw{Data: []byte(`{"type":"compaction"}`)}},
					llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte(`{"type":"input_image","image_url":"data:image/png;base64,QUJD"}`)}},
				}},
			},
			`{"id":"r1","type":"message","role":"assistant","model":"gpt","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"c","name":"patch","input":{"input":"{\"looks\":\"like JSON\"}"}},{"type":"text","text":"[image/png left out: it cannot be sent to this provider]"}],` +
				`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":0},"output_tokens":5,"output_tokens_details":{"thinking_tokens":4},"server_tool_use":null,"service_tier":null}}`,
		},
		{
			"no id, no end",
			llm.Response{Model: "m", Message: text},
			`{"id":"msg_` + strings.TrimPrefix(derived(text), "msg_") + `","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":0,"server_tool_use":null,"service_tier":null}}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := encoded(t, test.r); string(got) != test.want {
				t.Errorf("want %s\ngot  %s", test.want, got)
			}
		})
	}
}

func derived(m llm.Message) string {
	d := llm.DigestOf(m)
	return derivedID(d[:])
}

// Changed members are written into the body; all else stays.
func TestEditedResponse(t *testing.T) {
	r, err := DecodeResponse([]byte(replies["odd layout"]))
	if err != nil {
		t.Fatal(err)
	}
	r.ID, r.Model, r.Stop, r.Usage.CacheRead = "m2", "y", llm.StopEnd, 8
	got := string(encoded(t, r))
	want := " \n{ \"usage\" : {\"output_tokens\":10, \"input_tokens\":2,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":8,\"cache_creation\":{\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":0}} ,\r\n \"content\":[ {\"text\":\"x\",\"type\":\"text\"} ,\n" +
		`{"type":"tool_use","id":"t","name":"f","input":{ "n": 1.0e+3 },"caller":{"type":"direct"}} , {"type":"text","text":"y"} ], "role":"assistant","unknown":{"a":[1, 2]}, "id":"m2","model":"y","type":"message","stop_reason":"end_turn" } `
	if got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	r, err = DecodeResponse([]byte(replies["nothing"]))
	if err != nil {
		t.Fatal(err)
	}
	r.ID = "new"
	if got := string(encoded(t, r)); got != strings.TrimSuffix(replies["nothing"], "}")+`,"id":"new"}` {
		t.Errorf("got %s", got)
	}
}

func TestDecodeResponseErrors(t *testing.T) {
	tests := []struct{ body, want string }{
		{`{`, "anthropic: decode response: JSON text"},
		{`[]`, "want an object, got array"},
		{`{"id":"skill_1"}`, "content (byte 0), want an array, got nothing"},
		{`{"content":5}`, "content (byte 11), want a string or an array, got number"},
		{`{"content":["a"]}`, "content[0] (byte 12), want an object, got string"},
		{`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, "provider: overloaded (overloaded_error): busy"},
	}
	for _, test := range tests {
		if _, err := DecodeResponse([]byte(test.body)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want %q, got %v", test.body, test.want, err)
		}
	}
	if _, err := EncodeResponse(llm.Response{Dialect: Dialect, Raw: []byte("x")}); err == nil {
		t.Error("want an error for a body that is none")
	}
}

func TestCountTokens(t *testing.T) {
	if n, err := DecodeCount([]byte(` {"input_tokens":2095,"context_management":{"original_input_tokens":3000}}`)); n != 2095 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if b := EncodeCount(2095); string(b) != `{"input_tokens":2095}` {
		t.Errorf("got %s", b)
	}
	for _, bad := range []string{`{}`, `{"input_tokens":-1}`, `{"input_tokens":"5"}`, `5`, ``} {
		if n, err := DecodeCount([]byte(bad)); err == nil {
			t.Errorf("%s: want an error, got %d", bad, n)
		}
	}
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[]}`
	r, err := DecodeRequest([]byte(body))
	if err != nil || r.MaxOutput != 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if got, err := EncodeRequest(r); err != nil || string(got) != body {
		t.Errorf("got %s, %v", got, err)
	}
	recorded(t, func(t *testing.T, e recording.Exchange) {
		if e.JSON() && countsTokens(e) {
			if n, err := DecodeCount(e.Response); err != nil || n == 0 {
				t.Errorf("got %d, %v", n, err)
			}
		}
	})
}
