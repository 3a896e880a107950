package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

const chatBody = " {\n \"id\": \"c1\",\"object\":\"chat.completion\",\"created\":1.0e+3,\"model\":\"m\",\"choices\":[{\"index\":1,\"message\":{\"role\":\"assistant\",\"content\":\"other\"},\"finish_reason\":\"stop\"}," +
	`{"index":0,"message":{"role":"assistant", "content" : "Hello \ud83d\ude00 \"\n","refusal":null,"reasoning_content":"let me","annotations":[],` +
	`"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}} , {"id":"b","type":"function","function":{"name":"g","arguments":""},"extra_content":{"s":"sig"}}]},"logprobs":null,"finish_reason":"tool_calls"}],` +
	`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}},"service_tier":"default"}` + "\n"

const responsesBody = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","error":null,"incomplete_details":null,"model":"m","output":[` +
	`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc"},` + "\n" +
	` {"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hel\u006co","annotations":[]}],"phase":"final_answer"},` +
	`{"id":"fc_1","type":"function_call","status":"completed","arguments":"","call_id":"a","name":"f"},` +
	`{"id":"sh_1","type":"shell_call","status":"completed","call_id":"s","action":{"commands":["ls"]}},` +
	`{"type":"shell_call_output","call_id":"s","output":[{"stdout":"x"}]},` +
	`{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},{"id":"new_1","type":"brand_new","x":1.50}],` +
	`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}}`

const compactedBody = `{"id":"resp_c","object":"response.compaction","created_at":1,"output":[{"id":"msg_1","type":"message","status":"completed","role":"user","content":[{"type":"input_text","text":"go"}]},{"id":"cmp_1","type":"compaction","encrypted_content":"zzz"}],"usage":{"input_tokens":156,"input_tokens_details":{"cached_tokens":0},"output_tokens":190,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":346}}`

// eachReply calls f for every reply that was not streamed, of this file and of the corpus.
func eachReply(t *testing.T, f func(t *testing.T, c codectest.Laws, body []byte)) {
	own := []streamed{{"chat", chatLaws, []byte(chatBody)}, {"responses", responsesLaws, []byte(responsesBody)}, {"compacted", responsesLaws, []byte(compactedBody)}}
	for _, x := range exchanges(t) {
		if x.JSON() {
			own = append(own, streamed{x.Name, lawsOf(x.Dialect), x.Response})
		}
	}
	for _, s := range own {
		t.Run(s.name, func(t *testing.T) { f(t, s.codec, s.bytes) })
	}
}

func TestLaw4UntouchedReplyIsByteIdentical(t *testing.T) {
	eachReply(t, func(t *testing.T, c codectest.Laws, body []byte) { c.UntouchedReply(t, body) })
}

// An edited part changes, every other part and member keeps its bytes.
func TestLaw4EditedReplyChangesOnlyItsPart(t *testing.T) {
	eachReply(t, func(t *testing.T, c codectest.Laws, body []byte) { c.EachReplyEdit(t, body) })
}

// A reply that is appended to a transcript goes back with the bytes of its parts.
func TestLaw4ReplyIsSentBackAsItCame(t *testing.T) {
	eachReply(t, func(t *testing.T, c codectest.Laws, body []byte) {
		r := codectest.Reply(t, c, body)
		if r.Message.Role != llm.RoleAssistant || r.Message.Origin != llm.Model || r.Message.Dialect != c.Dialect() || r.Message.Envelope.Raw != nil {
			t.Errorf("got message %+v", r.Message)
		}
		sent, err := c.EncodeRequest(llm.Request{Model: "m", Dialect: c.Dialect(), Messages: []llm.Message{r.Message}})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range r.Message.Parts {
			if !bytes.Contains(sent, p.Bytes()) {
				t.Errorf("part %d: want %s in %s", i, p.Bytes(), sent)
			}
		}
		if _, err := c.DecodeRequest(sent); err != nil {
			t.Errorf("%v in %s", err, sent)
		}
	})
}

// Written from its neutral fields a reply says the same, and the same bytes every time.
func TestLawReplyWithoutItsBytesSaysTheSame(t *testing.T) {
	eachReply(t, func(t *testing.T, c codectest.Laws, body []byte) {
		r := codectest.Reply(t, c, body)
		fresh := r
		fresh.Raw = nil
		b, err := c.EncodeResponse(fresh)
		if err != nil {
			t.Fatal(err)
		}
		again := codectest.Reply(t, c, b)
		if d := codectest.Diff(r, again); d != "" {
			t.Errorf("%s\n%s", d, b)
		}
		var flat bytes.Buffer // a stream has no line ends within a payload
		if err := json.Compact(&flat, body); err != nil {
			t.Fatal(err)
		}
		r = codectest.Reply(t, c, flat.Bytes())
		known := r
		known.Message.Parts = slices.DeleteFunc(slices.Clone(r.Message.Parts), func(p llm.Part) bool {
			o, ok := p.(llm.Opaque) // events do not say whose an unknown item is
			return ok && o.Kind == "brand_new"
		})
		r = known
		events := codectest.Events(t, c, codectest.Encoded(t, c, wire.Events(r)))
		c.InOrder(t, events)
		got := codectest.Told(c.Dialect(), events)
		got.Raw = r.Raw
		if r.Stop == llm.StopCompaction { // is no reply that streams
			got.Stop, got.Reason = r.Stop, r.Reason
		}
		if d := codectest.Diff(r, got); d != "" {
			t.Error(d)
		}
	})
}

// A streamed reply has the parts, with the bytes, of the same reply in one piece.
func TestStreamedPartsAreThoseOfTheReply(t *testing.T) {
	stream := chunksOf(`{"role":"assistant","content":""}`, `{"reasoning_content":"let "}`, `{"reasoning_content":"me"}`, `{"content":"Hello \ud83d"}`, `{"content":"\ude00 \"\n"}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
		`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""},"extra_content":{"s":"sig"}}]}`) + finished("tool_calls")
	want, got := codectest.Reply(t, Chat{}, []byte(chatBody)), codectest.Told(DialectChat, codectest.Events(t, Chat{}, []byte(stream)))
	want.Raw = nil
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
	for i, p := range want.Message.Parts {
		if g := got.Message.Parts[i].Bytes(); !bytes.Equal(p.Bytes(), g) {
			t.Errorf("part %d: want %s, got %s", i, p.Bytes(), g)
		}
	}
}

func TestLaw4RecordedRequestsAreByteIdentical(t *testing.T) {
	for _, x := range exchanges(t) {
		if len(x.Request) == 0 {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			lawsOf(x.Dialect).Untouched(t, x.Request)
		})
	}
}

// A request for a compaction has the shape of any other; it keeps what only the server knows.
func TestCompactRequest(t *testing.T) {
	body := `{"model":"m","previous_response_id":"resp_0","store":false,"include":["reasoning.encrypted_content"],"context_management":[{"type":"compaction","compact_threshold":1000}],"input":[{"role":"user","content":"go"}],"instructions":"sum up"}`
	r := must(Responses{}.DecodeRequest([]byte(body)))
	if len(r.Messages) != 1 || len(r.Sections) != 1 {
		t.Errorf("got %+v", r)
	}
	r.Messages = nil
	want := strings.Replace(body, `{"role":"user","content":"go"}`, "", 1)
	if got := must(Responses{}.EncodeRequest(r)); string(got) != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestReplyFields(t *testing.T) {
	usage := llm.Usage{Input: 30, CacheRead: 60, CacheWrite5m: 10, Output: 20, Reasoning: 5}
	chat := codectest.Reply(t, Chat{}, []byte(chatBody))
	want := llm.Response{
		ID: "c1", Model: "m", Stop: llm.StopTool, Reason: "tool_calls", Usage: usage, Dialect: DialectChat,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectChat, Parts: []llm.Part{
			llm.Thinking{Text: "let me"},
			llm.Text{Text: "Hello \U0001F600 \"\n"},
			llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":1}`},
			llm.ToolCall{CallID: "b", Name: "g", Args: "{}"},
		}},
	}
	if d := codectest.Diff(want, chat); d != "" {
		t.Error(d)
	}
	responses := codectest.Reply(t, Responses{}, []byte(responsesBody))
	want = llm.Response{
		ID: "resp_1", Model: "m", Stop: llm.StopTool, Reason: "completed", Usage: usage, Dialect: DialectResponses,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectResponses, Parts: []llm.Part{
			llm.Thinking{Text: "hm", Signature: "enc"},
			llm.Text{Text: "Hello"},
			llm.ToolCall{CallID: "a", Name: "f", Args: "{}"},
			llm.ToolCall{CallID: "s", Name: "shell", Args: `{"commands":["ls"]}`},
			llm.ToolResult{CallID: "s", Content: []llm.Part{llm.Opaque{}}},
			llm.ToolCall{CallID: "ws_1", Name: "web_search", Args: `{"type":"search","query":"q"}`, Hosted: true},
			llm.Opaque{Kind: "brand_new"},
		}},
	}
	if d := codectest.Diff(want, responses); d != "" {
		t.Error(d)
	}
	compacted := codectest.Reply(t, Responses{}, []byte(compactedBody))
	if compacted.Stop != llm.StopCompaction || compacted.Usage.Total() != 346 || len(compacted.Message.Parts) != 2 {
		t.Errorf("got %+v", compacted)
	}
	msgs, err := DecodeCompacted([]byte(compactedBody))
	if err != nil || len(msgs) != 2 || msgs[0].Origin != llm.Human || msgs[0].Text() != "go" || !msgs[1].Flags.Has(llm.FlagSummary) {
		t.Errorf("got %+v, %v", msgs, err)
	}
}

func TestReplyErrors(t *testing.T) {
	tests := []struct {
		name string
		c    codectest.Codec
		body string
		want string
	}{
		{"not JSON", Chat{}, `{"choices":[}`, "byte"},
		{"no choices", Chat{}, `{"id":"x"}`, "choices, want an array, got nothing"},
		{"empty choices", Chat{}, `{"choices":[]}`, "choices[0], want an object, got nothing"},
		{"no message", Chat{}, `{"choices":[{"index":0}]}`, "choices[0].message, want an object, got nothing"},
		{"content of a wrong kind", Chat{}, `{"choices":[{"message":{"content":5}}]}`, "choices[0].message.content"},
		{"no output", Responses{}, `{"id":"x"}`, "output, want an array, got nothing"},
		{"item of a wrong kind", Responses{}, `{"output":[5]}`, "output[0], want an object, got number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.c.DecodeResponse([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
	for _, body := range []string{`{"error":{"message":"Rate limit reached","code":429}}`, `{"choices":[{"index":0,"error":{"code":429,"message":"slow"}}]}`, `{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`} {
		_, err := Chat{}.DecodeResponse([]byte(body))
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != wire.RateLimited {
			t.Errorf("%s: want a rate limit, got %v", body, err)
		}
	}
	_, err := Responses{}.DecodeResponse([]byte(`{"status":"failed","output":[],"error":{"code":"server_error","message":"x"}}`))
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != wire.ServerFault || e.Code != "server_error" {
		t.Errorf("want a server fault, got %v", err)
	}
}
