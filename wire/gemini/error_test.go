package gemini

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func errorBody(code, message, status, details string) string {
	return `{"error":{"code":` + code + `,"message":"` + message + `","status":"` + status + `"` + details + `}}`
}

func TestDecodeError(t *testing.T) {
	const missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance."
	info := func(kind, fields string) string {
		return `,"details":[{"@type":"type.googleapis.com/google.rpc.` + kind + `",` + fields + `}]`
	}
	tests := []struct {
		name   string
		status int
		body   string
		want   wire.Error
	}{
		{"too long", 400, errorBody("400", "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.TooLong, Used: 1200293, Window: 1048576, Type: "INVALID_ARGUMENT"}},
		{"too long, in an array", 400, "[" + errorBody("400", "The input token count (5) exceeds the maximum number of tokens allowed (4).", "INVALID_ARGUMENT", "") + "]", wire.Error{Class: wire.TooLong, Used: 5, Window: 4, Type: "INVALID_ARGUMENT"}},
		{"too long, only the window", 400, errorBody("400", "The input token count exceeds the maximum number of tokens allowed 1048576.", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.TooLong, Window: 1048576, Type: "INVALID_ARGUMENT"}},
		{"too long, Vertex", 400, errorBody("400", "Unable to submit request because the input token count is 1,196,265 but model only supports up to 1048576. Reduce the input token count and try again.", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.TooLong, Used: 1196265, Window: 1048576, Type: "INVALID_ARGUMENT"}},
		{"too long, inside a message", 400, `{"error":{"message":"{\n  \"error\": {\n \"code\": 400,\n \"message\": \"The input token count (7) exceeds the maximum number of tokens allowed (6).\",\n \"status\": \"INVALID_ARGUMENT\"\n }\n}\n","code":400,"status":"Bad Request"}}`, wire.Error{Class: wire.TooLong, Used: 7, Window: 6, Type: "INVALID_ARGUMENT"}},
		{"too long, wrapped", 400, `{"response":null,"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","errors":[{"reason":"badRequest"}],"status":"INVALID_ARGUMENT"}}`, wire.Error{Class: wire.TooLong, Used: 9, Window: 8, Type: "INVALID_ARGUMENT"}},
		{"too large", 400, errorBody("400", "Request payload size exceeds the limit: 20971520 bytes.", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.TooLarge, Type: "INVALID_ARGUMENT"}},
		{"signature missing", 400, errorBody("400", missing, "INVALID_ARGUMENT", ""), wire.Error{Class: wire.BadThinking, Type: "INVALID_ARGUMENT"}},
		{"signature missing, Vertex", 400, errorBody("400", "Unable to submit request because function call `Bash` in the 3. content block is missing a `thought_signature`.", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.BadThinking, Type: "INVALID_ARGUMENT"}},
		{"signature damaged", 400, errorBody("400", "Corrupted thought signature.", "INVALID_ARGUMENT", ""), wire.Error{Class: wire.BadThinking, Type: "INVALID_ARGUMENT"}},
		{"quota", 429, errorBody("429", "You exceeded your current quota.", "RESOURCE_EXHAUSTED", info("RetryInfo", `"retryDelay":"34.4s"`)), wire.Error{Class: wire.RateLimited, RetryAfter: 34400 * time.Millisecond, Type: "RESOURCE_EXHAUSTED"}},
		{"quota, wait in the message", 429, errorBody("429", "Quota exceeded. Please retry in 2.5s.", "RESOURCE_EXHAUSTED", ""), wire.Error{Class: wire.RateLimited, RetryAfter: 2500 * time.Millisecond, Type: "RESOURCE_EXHAUSTED"}},
		{"overloaded", 503, errorBody("503", "The model is overloaded. Please try again later.", "UNAVAILABLE", ""), wire.Error{Class: wire.Overloaded, Type: "UNAVAILABLE"}},
		{"key", 400, errorBody("400", "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", info("ErrorInfo", `"reason":"API_KEY_INVALID"`)), wire.Error{Class: wire.Auth, Type: "INVALID_ARGUMENT", Code: "API_KEY_INVALID"}},
		{"no key", 403, errorBody("403", "Method doesn't allow unregistered callers.", "PERMISSION_DENIED", ""), wire.Error{Class: wire.Auth, Type: "PERMISSION_DENIED"}},
		{"old token", 401, errorBody("401", "Request had invalid authentication credentials.", "UNAUTHENTICATED", ""), wire.Error{Class: wire.Auth, Type: "UNAUTHENTICATED"}},
		{"billing", 403, errorBody("403", "This API method requires billing to be enabled.", "PERMISSION_DENIED", info("ErrorInfo", `"reason":"BILLING_DISABLED"`)), wire.Error{Class: wire.Billing, Type: "PERMISSION_DENIED", Code: "BILLING_DISABLED"}},
		{"no model", 404, errorBody("404", "models/x is not found for API version v1beta.", "NOT_FOUND", ""), wire.Error{Class: wire.NotFound, Type: "NOT_FOUND"}},
		{"field", 400, errorBody("400", "Invalid JSON payload received.", "INVALID_ARGUMENT", info("BadRequest", `"fieldViolations":[{"field":"contents[0]"}]`)), wire.Error{Class: wire.BadRequest, Type: "INVALID_ARGUMENT", Param: "contents[0]"}},
		{"deadline", 504, errorBody("504", "Deadline expired.", "DEADLINE_EXCEEDED", ""), wire.Error{Class: wire.Timeout, Type: "DEADLINE_EXCEEDED"}},
		{"internal", 500, errorBody("500", "An internal error has occurred.", "INTERNAL", ""), wire.Error{Class: wire.ServerFault, Type: "INTERNAL"}},
		{"inside a stream", 0, errorBody("503", "m", "UNAVAILABLE", ""), wire.Error{Class: wire.Overloaded, Type: "UNAVAILABLE"}},
		{"inside a stream, status unknown", 0, errorBody("429", "m", "", ""), wire.Error{Class: wire.RateLimited}},
		{"a gateway's page", 502, "<html>Bad Gateway</html>", wire.Error{Class: wire.ServerFault}},
		{"text", 404, `{"error":"no such page"}`, wire.Error{Class: wire.NotFound}},
		{"nothing", 413, "", wire.Error{Class: wire.TooLarge}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := DecodeError(test.status, []byte(test.body))
			got := *e
			if got.Status != test.status || string(got.Body) != test.body || got.Message == "" && test.body != "" && test.body[0] != '<' {
				t.Errorf("got %+v", got)
			}
			got.Status, got.Body, got.Message = 0, nil, ""
			if d := codectest.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEncodeError(t *testing.T) {
	t.Run("its own body goes back", func(t *testing.T) {
		body := errorBody("503", "m", "UNAVAILABLE", "")
		if status, got := EncodeError(DecodeError(503, []byte(body))); status != 503 || string(got) != body {
			t.Errorf("got %d %s", status, got)
		}
	})
	for class := wire.TooLong; class <= wire.ServerFault; class++ {
		t.Run(class.String(), func(t *testing.T) {
			e := &wire.Error{Class: class, Message: "m", Used: 9, Window: 8, RetryAfter: 1500 * time.Millisecond}
			status, body := EncodeError(e)
			got := DecodeError(status, body)
			switch class {
			case wire.TooLarge, wire.BadThinking: // only their words tell them
				if got.Class != wire.BadRequest {
					t.Errorf("got %v", got.Class)
				}
			case wire.Billing:
				if got.Class != wire.RateLimited {
					t.Errorf("got %v", got.Class)
				}
			default:
				if got.Class != class || got.RetryAfter != e.RetryAfter {
					t.Errorf("got %v %v from %s", got.Class, got.RetryAfter, body)
				}
			}
			if class == wire.TooLong && (got.Used != 9 || got.Window != 8) {
				t.Errorf("got %d of %d", got.Used, got.Window)
			}
		})
	}
}

// Failures of other programs that concern this format, by repository and number.
func TestPastFailures(t *testing.T) {
	one := func(t *testing.T, parts string) llm.Message {
		t.Helper()
		r, err := DecodeResponse([]byte(`{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"finishReason":"STOP"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return r.Message
	}
	t.Run("bifrost-3443_no-argument_tools", func(t *testing.T) {
		if c := one(t, `{"functionCall":{"name":"f"}}`).Calls()[0]; c.Args != "{}" {
			t.Errorf("want {}, got %q", c.Args)
		}
		events, err := codectest.Feed(Codec{}, []byte(sseOf(partsOf(`{"functionCall":{"name":"f","willContinue":true}}`, `{"functionCall":{}}`), last)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if c, ok := e.Part.(llm.ToolCall); ok && e.Kind == llm.EventPartEnd && c.Args != "{}" {
				t.Errorf("want {}, got %q", c.Args)
			}
		}
	})
	t.Run("Antigravity-Manager-1513_missing_thought_signature", func(t *testing.T) {
		m := one(t, `{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"}`)
		r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[{"parts":[{"text":"a"}]}]}`))
		r.Messages = append(r.Messages, m)
		got, err := EncodeRequest(r)
		if err != nil || !strings.Contains(string(got), `"thoughtSignature":"c2ln"`) {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("CLIProxyAPI-570_placeholder_signatures_only_where_there_is_none", func(t *testing.T) {
		r := otherDialect()
		r.Messages = append(r.Messages, one(t, `{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"}`))
		got, err := EncodeRequest(r)
		if err != nil || strings.Count(string(got), skipCheck) != 1 || !strings.Contains(string(got), "c2ln") {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("open-webui-29860_signature_dropped_in_conversion", func(t *testing.T) {
		m := one(t, `{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"so","thoughtSignature":"c2lo"}`)
		if m.Parts[0].(llm.Thinking).Signature != "c2ln" || !strings.Contains(string(m.Parts[1].Bytes()), "c2lo") {
			t.Errorf("got %+v", m.Parts)
		}
	})
	t.Run("bifrost-3441_parallel_calls_in_one_chunk", func(t *testing.T) {
		events, err := codectest.Feed(Codec{}, []byte(sseOf(partsOf(`{"functionCall":{"name":"f"}}`, `{"functionCall":{"name":"f"}}`, `{"functionCall":{"name":"g"}}`), last)))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, e := range events {
			if c, ok := e.Part.(llm.ToolCall); ok && e.Kind == llm.EventPartEnd {
				ids[c.CallID] = true
			}
		}
		if len(ids) != 3 {
			t.Errorf("want three calls, got %v", ids)
		}
	})
	t.Run("claude-code-router-1672_UTF-8_split_across_chunks", func(t *testing.T) {
		stream := []byte(sseOf(partsOf(`{"text":"grün 😀"}`), last))
		at := strings.Index(string(stream), "ü") + 1
		events, err := codectest.Feed(Codec{}, stream, at)
		if err != nil || events[2].Text != "grün 😀" {
			t.Errorf("got %+v, %v", events, err)
		}
	})
	t.Run("CLIProxyAPI-5854_cached_tokens_counted_once", func(t *testing.T) {
		r, err := DecodeResponse([]byte(`{"candidates":[],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5}}`))
		if err != nil || r.Usage != (llm.Usage{Input: 40, CacheRead: 60, Output: 5}) {
			t.Errorf("got %+v, %v", r.Usage, err)
		}
	})
	t.Run("CLIProxyAPI-5617_cached_tokens_in_a_stream", func(t *testing.T) {
		events, err := codectest.Feed(Codec{}, []byte(sseOf(strings.Replace(last, `"promptTokenCount":9`, `"promptTokenCount":9,"cachedContentTokenCount":4`, 1))))
		if err != nil || events[len(events)-1].Usage != (llm.Usage{Input: 5, CacheRead: 4, Output: 6, Reasoning: 2}) {
			t.Errorf("got %+v, %v", events, err)
		}
	})
	t.Run("tool_call_is_the_reason_to_stop", func(t *testing.T) {
		events, err := codectest.Feed(Codec{}, []byte(sseOf(partsOf(`{"functionCall":{"name":"f"}}`), last)))
		if err != nil || events[len(events)-1].Stop != llm.StopTool {
			t.Errorf("got %+v, %v", events, err)
		}
	})
	t.Run("empty_tool_result", func(t *testing.T) {
		r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[{"parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"f","response":{}}}]}]}`))
		got := r.Messages[0].Results()
		if len(got) != 2 || len(got[0].Content) != 0 || got[1].Text() != "{}" || got[0].CallID == got[1].CallID {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("empty_tools_list", func(t *testing.T) {
		r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[],"tools":[{"functionDeclarations":[]}]}`))
		r.Tools = append(r.Tools, llm.Tool{Name: "f"})
		if got, err := EncodeRequest(r); err != nil || string(got) != `{"contents":[],"tools":[{"functionDeclarations":[{"name":"f"}]}]}` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("refusal", func(t *testing.T) {
		r, err := DecodeResponse([]byte(`{"candidates":[{"finishReason":"SAFETY","index":0}]}`))
		if err != nil || r.Stop != llm.StopRefusal || r.Reason != "SAFETY" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

func TestEncodeResponse(t *testing.T) {
	laws.EachChange(t, oddReplies()[0], []codectest.Change{
		{Name: "id", Edit: func(r *llm.Response) { r.ID = "q" }, Old: `"responseId":"r"`, New: `"responseId":"q"`},
		{Name: "model", Edit: func(r *llm.Response) { r.Model = "n" }, Old: `"modelVersion":"m"`, New: `"modelVersion":"n"`},
		{Name: "stop", Edit: func(r *llm.Response) { r.Stop, r.Reason = llm.StopLength, "max_tokens" }, Old: `"STOP"`, New: `"MAX_TOKENS"`},
		{Name: "usage", Edit: func(r *llm.Response) { r.Usage.Input = 20 }, Old: `"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12`, New: `"promptTokenCount":20,"candidatesTokenCount":2,"totalTokenCount":22`},
		{Name: "a part more", Edit: func(r *llm.Response) {
			r.Message.Parts = append(r.Message.Parts[:1:1], llm.ToolCall{CallID: "a", Name: "f"})
		}, Old: `}],"role":"model"`, New: `},{"functionCall":{"id":"a","name":"f","args":{}}}],"role":"model"`},
	})
	t.Run("of another dialect", func(t *testing.T) {
		got, err := EncodeResponse(llm.Response{ID: "i", Model: "m", Stop: llm.StopTool, Reason: "tool_use", Dialect: "other", Raw: []byte("{}"), Usage: llm.Usage{Input: 1, Output: 2}, Message: llm.Message{
			Parts: []llm.Part{llm.Thinking{Text: "hm", Signature: "-"}, llm.Text{Text: "a"}, llm.ToolCall{CallID: "c", Name: "f"}},
		}})
		want := `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"},{"functionCall":{"id":"c","name":"f","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3},"modelVersion":"m","responseId":"i"}`
		if err != nil || string(got) != want {
			t.Errorf("want %s\ngot  %s, %v", want, got, err)
		}
	})
}
