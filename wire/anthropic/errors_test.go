package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// envelope is an error body of the API.
func envelope(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

func TestDecodeError(t *testing.T) {
	const bad = "invalid_request_error"
	tests := []struct {
		name   string
		status int
		body   string
		want   wire.Error // Class, Type, Used, Window
	}{
		{"prompt too long", 400, envelope(bad, "prompt is too long: 213462 tokens > 200000 maximum"), wire.Error{Class: wire.TooLong, Type: bad, Used: 213462, Window: 200000}},
		{"prompt too long, commas", 400, envelope(bad, "Prompt is too long: 1,213,462 tokens > 1,000,000 maximum"), wire.Error{Class: wire.TooLong, Type: bad, Used: 1213462, Window: 1000000}},
		{"prompt too long, no figures", 400, envelope(bad, "Prompt is too long"), wire.Error{Class: wire.TooLong, Type: bad}},
		{"with the output limit", 400, envelope(bad, "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again"), wire.Error{Class: wire.TooLong, Type: bad, Used: 180000, Window: 200000}},
		{"output limit of the model is no long prompt", 400, envelope(bad, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x"), wire.Error{Class: wire.BadRequest, Type: bad}},
		{"bad request", 400, envelope(bad, "messages.0.content: Field required"), wire.Error{Class: wire.BadRequest, Type: bad}},
		{"results missing", 400, envelope(bad, "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."), wire.Error{Class: wire.BadRequest, Type: bad}},
		{"signature, other conversation", 400, envelope(bad, "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\""), wire.Error{Class: wire.BadThinking, Type: bad}},
		{"signature, damaged", 400, envelope(bad, "messages.1.content.0: Invalid `signature` in `thinking` block"), wire.Error{Class: wire.BadThinking, Type: bad}},
		{"signature missing", 400, envelope(bad, "messages.1.content.0.thinking.signature: Field required"), wire.Error{Class: wire.BadThinking, Type: bad}},
		{"thinking changed", 400, envelope(bad, "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."), wire.Error{Class: wire.BadThinking, Type: bad}},
		{"thinking missing is another thing", 400, envelope(bad, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."), wire.Error{Class: wire.BadRequest, Type: bad}},
		{"binding field without its beta", 400, envelope(bad, "block_binding: Extra inputs are not permitted"), wire.Error{Class: wire.BadRequest, Type: bad}},
		{"image too big", 400, envelope(bad, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes"), wire.Error{Class: wire.TooLarge, Type: bad}},
		{"no credit", 400, envelope(bad, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."), wire.Error{Class: wire.Billing, Type: bad}},
		{"usage limit", 400, envelope(bad, "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."), wire.Error{Class: wire.Billing, Type: bad}},
		{"key", 401, envelope("authentication_error", "invalid x-api-key"), wire.Error{Class: wire.Auth, Type: "authentication_error"}},
		{"billing", 402, envelope("billing_error", "x"), wire.Error{Class: wire.Billing, Type: "billing_error"}},
		{"permission", 403, envelope("permission_error", "x"), wire.Error{Class: wire.Auth, Type: "permission_error"}},
		{"not found", 404, envelope("not_found_error", "model: claude-x"), wire.Error{Class: wire.NotFound, Type: "not_found_error"}},
		{"conflict", 409, envelope("conflict_error", "x"), wire.Error{Class: wire.BadRequest, Type: "conflict_error"}},
		{"too large", 413, envelope("request_too_large", "Request exceeds the maximum size"), wire.Error{Class: wire.TooLarge, Type: "request_too_large"}},
		{"too large, from the edge", 413, "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n", wire.Error{Class: wire.TooLarge}},
		{"rate", 429, envelope("rate_limit_error", "This request would exceed your organization's rate limit of 30,000 input tokens per minute"), wire.Error{Class: wire.RateLimited, Type: "rate_limit_error"}},
		{"rate, about long prompts", 429, envelope("rate_limit_error", "Extra usage is required for long context requests."), wire.Error{Class: wire.Billing, Type: "rate_limit_error"}}, // to wait is of no use
		{"fault", 500, envelope("api_error", "Internal server error"), wire.Error{Class: wire.ServerFault, Type: "api_error"}},
		{"timeout", 504, envelope("timeout_error", "x"), wire.Error{Class: wire.Timeout, Type: "timeout_error"}},
		{"overloaded", 529, envelope("overloaded_error", "Overloaded"), wire.Error{Class: wire.Overloaded, Type: "overloaded_error"}},
		{"overloaded inside a stream", 0, envelope("overloaded_error", "Overloaded"), wire.Error{Class: wire.Overloaded, Type: "overloaded_error"}},
		{"unknown inside a stream", 0, `{"type":"error","error":{"message":"boom"}}`, wire.Error{Class: wire.ServerFault}},
		{"Bedrock, too long", 400, `{"message":"Input is too long for requested model."}`, wire.Error{Class: wire.TooLong}},
		{"Bedrock, in its words", 400, `{"__type":"com.amazon.coral.service#ValidationException","message":"The model returned the following errors: prompt is too long: 205114 tokens > 200000 maximum"}`, wire.Error{Class: wire.TooLong, Type: "ValidationException", Used: 205114, Window: 200000}},
		{"Bedrock, throttled", 429, `{"message":"Too many tokens, please wait before trying again."}`, wire.Error{Class: wire.RateLimited}},
		{"Bedrock, key", 403, `{"Message":"User is not authorized to perform: bedrock:InvokeModel"}`, wire.Error{Class: wire.Auth}},
		{"Bedrock, model not ready", 429, `{"__type":"ModelNotReadyException","message":"x"}`, wire.Error{Class: wire.Overloaded, Type: "ModelNotReadyException"}},
		{"Vertex, too long", 400, envelope(bad, "Prompt is too long"), wire.Error{Class: wire.TooLong, Type: bad}},
		{"Vertex, quota", 429, `[{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model","status":"RESOURCE_EXHAUSTED"}}]`, wire.Error{Class: wire.RateLimited, Type: "RESOURCE_EXHAUSTED"}},
		{"Vertex, key", 401, `{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}`, wire.Error{Class: wire.Auth, Type: "UNAUTHENTICATED"}},
		{"a gateway around it", 400, `{"error":{"message":"litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}","type":null,"param":null,"code":"400"}}`, wire.Error{Class: wire.TooLong, Used: 9, Window: 8}},
		{"OpenRouter", 400, envelope(bad, "This endpoint's maximum context length is 200000 tokens. However, you requested about 250313 tokens (240000 of text input, 10313 in the output)."), wire.Error{Class: wire.TooLong, Type: bad, Used: 240000, Window: 200000}},
		{"vLLM", 400, envelope("BadRequestError", "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages."), wire.Error{Class: wire.TooLong, Type: "BadRequestError", Used: 9000, Window: 8192}},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, wire.Error{Class: wire.TooLong, Type: "exceed_context_size_error", Used: 5000, Window: 4096}},
		{"Moonshot", 400, envelope(bad, "Your request exceeded model token limit: 131072 (requested: 140001)"), wire.Error{Class: wire.TooLong, Type: bad, Used: 140001, Window: 131072}},
		{"MiniMax", 400, envelope(bad, "invalid params, context window exceeds limit (2013)"), wire.Error{Class: wire.TooLong, Type: bad}},
		{"nothing", 502, "", wire.Error{Class: wire.ServerFault}},
		{"a text", 404, "no such route\n", wire.Error{Class: wire.NotFound}},
		{"the error is a text", 400, `{"error":"model is required"}`, wire.Error{Class: wire.BadRequest}},
		{"a list without a class", 400, `[]`, wire.Error{Class: wire.BadRequest}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := DecodeError(test.status, []byte(test.body))
			want := test.want
			if got.Class != want.Class || got.Type != want.Type || got.Used != want.Used || got.Window != want.Window {
				t.Errorf("want %v %q %d %d, got %v %q %d %d", want.Class, want.Type, want.Used, want.Window, got.Class, got.Type, got.Used, got.Window)
			}
			if got.Status != test.status || string(got.Body) != test.body {
				t.Errorf("got status %d, body %s", got.Status, got.Body)
			}
			if strings.Contains(test.body, "req_1") && got.RequestID != "req_1" {
				t.Errorf("got request id %q", got.RequestID)
			}
		})
	}
}

func TestErrorMessage(t *testing.T) {
	tests := []struct{ body, want string }{
		{envelope("api_error", "boom"), "boom"},
		{"<html><head><title> 413 Request Entity Too Large </title></head></html>", "413 Request Entity Too Large"},
		{"<html><body>nothing</body></html>", ""},
		{"upstream\nrequest failed", "upstream request failed"},
		{`"just text"`, "just text"},
		{`{"detail":"Not Found"}`, "Not Found"},
	}
	for _, test := range tests {
		if got := DecodeError(500, []byte(test.body)); got.Message != test.want {
			t.Errorf("%s: want %q, got %q", test.body, test.want, got.Message)
		}
	}
}

func TestEncodeError(t *testing.T) {
	tests := []struct {
		name   string
		e      wire.Error
		status int
		body   string
	}{
		{"its body", wire.Error{Class: wire.TooLong, Status: 418, Body: []byte(" {}")}, 418, " {}"},
		{"too long, in the words that clients look for", wire.Error{Class: wire.TooLong, Message: "context_length_exceeded", Used: 9, Window: 8}, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`},
		{"too long, without figures", wire.Error{Class: wire.TooLong}, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`},
		{"too long, its own words", wire.Error{Class: wire.TooLong, Message: "input length and `max_tokens` exceed context limit: 5 + 4 > 8"}, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 5 + 4 > 8"}}`},
		{"a type of its own", wire.Error{Class: wire.Auth, Status: 403, Type: "permission_error", Message: "no", RequestID: "req_1"}, 403, `{"type":"error","error":{"type":"permission_error","message":"no"},"request_id":"req_1"}`},
		{"a type of another dialect", wire.Error{Class: wire.RateLimited, Status: 429, Type: "RESOURCE_EXHAUSTED", Message: "slow"}, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`},
		{"nothing known", wire.Error{}, 500, `{"type":"error","error":{"type":"api_error","message":"unclassified"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := EncodeError(&test.e)
			if status != test.status || string(body) != test.body {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
}

// What EncodeError writes DecodeError reads as the same.
func TestErrorsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := wire.Error{
			Class:   wire.Class(rapid.IntRange(int(wire.TooLong), int(wire.ServerFault)).Draw(t, "class")),
			Message: rapid.String().Draw(t, "message"), RequestID: rapid.String().Draw(t, "id"),
		}
		if e.Class == wire.TooLong {
			e.Used, e.Window = rapid.IntRange(1, 1<<40).Draw(t, "used"), rapid.IntRange(1, 1<<40).Draw(t, "window")
		}
		if e.Class == wire.BadThinking {
			e.Message = "messages.0.content.0: Invalid `signature` in `thinking` block"
		}
		status, body := EncodeError(&e)
		got := DecodeError(status, body)
		if got.Class != e.Class || got.Used != e.Used || got.Window != e.Window || !json.Valid(body) {
			t.Fatalf("want %+v, got %+v", e, got)
		}
		_, err := codectest.Feed(Codec{}, new(encoder).AppendError([]byte(framed(startPayload)), &e))
		var streamed *wire.Error
		if !errors.As(err, &streamed) || streamed.Class != e.Class || streamed.Used != e.Used {
			t.Fatalf("in a stream: got %v", err)
		}
	})
}

func FuzzError(f *testing.F) {
	f.Add(400, envelope("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"))
	f.Add(413, "<html><head><title>413")
	f.Add(429, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]`)
	f.Add(400, `{"error":{"n_ctx":1e99,"message":"request (99999999999999999999 tokens) exceeds the available context size (1,,2 tokens)"}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := DecodeError(status, []byte(body))
		if e == nil || e.Used < 0 || e.Window < 0 || e.Error() == "" || string(e.Body) != body {
			t.Fatalf("got %+v", e)
		}
		if s, b := EncodeError(&wire.Error{Class: e.Class, Type: e.Type, Message: e.Message, Used: e.Used, Window: e.Window}); s < 400 || !json.Valid(b) {
			t.Fatalf("got %d %s", s, b)
		}
	})
}
