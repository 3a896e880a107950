package openai

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// fault is an error in OpenAI's own shape.
func fault(message, kind, code string) string {
	return `{"error":{"message":"` + message + `","type":"` + kind + `","param":null,"code":` + code + `}}`
}

func TestDecodeError(t *testing.T) {
	const invalid = "invalid_request_error"
	tests := []struct {
		name   string
		status int
		body   string
		want   wire.Error
	}{
		{
			"too long", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			wire.Error{Class: wire.TooLong, Type: invalid, Code: "context_length_exceeded", Param: "messages", Window: 128000, Used: 130500},
		},
		{
			"with the output", 400, fault("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.", invalid, `"context_length_exceeded"`),
			wire.Error{Class: wire.TooLong, Type: invalid, Code: "context_length_exceeded", Window: 8192, Used: 5000},
		},
		{
			"with functions", 400, fault("This model's maximum context length is 8192 tokens. However, you requested 9,100 tokens (5,000 in the messages, 100 in the functions, and 4,000 in the completion).", invalid, `"context_length_exceeded"`),
			wire.Error{Class: wire.TooLong, Type: invalid, Code: "context_length_exceeded", Window: 8192, Used: 5100},
		},
		{
			"sizes unknown", 400, fault("Your input exceeds the context window of this model. Please adjust your input and try again.", invalid, `"context_length_exceeded"`),
			wire.Error{Class: wire.TooLong, Type: invalid, Code: "context_length_exceeded"},
		},
		{
			"response.failed", 0, `{"type":"response.failed","response":{"error":null},"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`,
			wire.Error{Class: wire.TooLong, Code: "context_length_exceeded"},
		},
		{
			"vLLM, older", 400, `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`,
			wire.Error{Class: wire.TooLong, Type: "BadRequestError", Code: "400", Window: 16384, Used: 112946},
		},
		{
			"vLLM, newer", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","param":null,"code":400}}`,
			wire.Error{Class: wire.TooLong, Type: "BadRequestError", Code: "400", Window: 4096, Used: 5000},
		},
		{
			"vLLM, output", 400, `{"object":"error","message":"max_tokens must be at least 1, got -186.","type":"BadRequestError","param":null,"code":400}`,
			wire.Error{Class: wire.TooLong, Type: "BadRequestError", Code: "400"},
		},
		{
			"vLLM, decoder prompt", 400, `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","code":400}}`,
			wire.Error{Class: wire.TooLong, Type: "BadRequestError", Code: "400", Window: 4096, Used: 5000},
		},
		{
			"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`,
			wire.Error{Class: wire.TooLong, Type: "exceed_context_size_error", Code: "400", Window: 8192, Used: 14429},
		},
		{
			"llama-cpp-python", 400, fault("Requested tokens (2285) exceed context window of 2048", "", "null"),
			wire.Error{Class: wire.TooLong, Window: 2048, Used: 2285},
		},
		{
			"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (40000 of text input, 800 of tool input, 2032 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400}}`,
			wire.Error{Class: wire.TooLong, Code: "400", Window: 32768, Used: 40800},
		},
		{
			"OpenRouter, the provider behind it", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\",\"type\":\"invalid_request_error\"}}","provider_name":"P"}}}`,
			wire.Error{Class: wire.TooLong, Type: invalid, Code: "400", Window: 200000, Used: 210000},
		},
		{
			"xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`,
			wire.Error{Class: wire.TooLong, Code: "Client specified an invalid argument", Window: 131072, Used: 537812},
		},
		{
			"LM Studio", 400, `{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough."}`,
			wire.Error{Class: wire.TooLong, Window: 32768, Used: 111490},
		},
		{
			"per minute", 429, fault("Request too large for m in organization org-x on tokens per min (TPM): Limit 30000, Requested 40123. The input or output tokens must be reduced in order to run successfully.", "tokens", `"rate_limit_exceeded"`),
			wire.Error{Class: wire.TooLong, Type: "tokens", Code: "rate_limit_exceeded", Window: 30000, Used: 40123},
		},
		{
			"rate limit", 429, fault("Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500. Please try again in 1.2s. Visit the site.", "tokens", `"rate_limit_exceeded"`),
			wire.Error{Class: wire.RateLimited, Type: "tokens", Code: "rate_limit_exceeded", RetryAfter: 1200 * time.Millisecond},
		},
		{"minutes", 429, fault("Please try again in 6m0s.", "requests", `"rate_limit_exceeded"`), wire.Error{Class: wire.RateLimited, Type: "requests", Code: "rate_limit_exceeded", RetryAfter: 6 * time.Minute}},
		{"Azure", 429, `{"error":{"code":"429","message":"Requests have exceeded token rate limit of your tier. Please retry after 6 seconds."}}`, wire.Error{Class: wire.RateLimited, Code: "429", RetryAfter: 6 * time.Second}},
		{"Azure gateway", 429, `{"statusCode":429,"message":"Rate limit is exceeded. Try again in 24 seconds."}`, wire.Error{Class: wire.RateLimited, Code: "429", RetryAfter: 24 * time.Second}},
		{"Azure filter", 400, `{"error":{"code":"content_filter","message":"The response was filtered","param":"prompt","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, wire.Error{Class: wire.BadRequest, Type: "ResponsibleAIPolicyViolation", Code: "content_filter", Param: "prompt"}},
		{"quota", 429, fault("You exceeded your current quota, please check your plan.", "insufficient_quota", `"insufficient_quota"`), wire.Error{Class: wire.Billing, Type: "insufficient_quota", Code: "insufficient_quota"}},
		{"DeepSeek", 402, fault("Insufficient Balance", "unknown_error", `"invalid_request_error"`), wire.Error{Class: wire.Billing, Type: "unknown_error", Code: invalid}},
		{"encrypted", 400, fault("The encrypted content gAAA... could not be verified.", invalid, `"invalid_encrypted_content"`), wire.Error{Class: wire.BadThinking, Type: invalid, Code: "invalid_encrypted_content"}},
		{"reasoning alone", 400, fault("Item 'rs_1' of type 'reasoning' was provided without its required following item.", invalid, "null"), wire.Error{Class: wire.BadThinking, Type: invalid}},
		{"key", 401, fault("Incorrect API key provided: sk-x.", invalid, `"invalid_api_key"`), wire.Error{Class: wire.Auth, Type: invalid, Code: "invalid_api_key"}},
		{"model", 404, fault("The model `x` does not exist or you do not have access to it.", invalid, `"model_not_found"`), wire.Error{Class: wire.NotFound, Type: invalid, Code: "model_not_found"}},
		{"ollama", 404, `{"error":"model 'x' not found"}`, wire.Error{Class: wire.NotFound}},
		{"a text too long", 400, `{"error":{"message":"Invalid 'input[3].output': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.","type":"invalid_request_error","param":"input[3].output","code":"string_above_max_length"}}`, wire.Error{Class: wire.TooLarge, Type: invalid, Code: "string_above_max_length", Param: "input[3].output"}},
		{"too large", 413, `<html>413 Request Entity Too Large</html>`, wire.Error{Class: wire.TooLarge}},
		{"overloaded", 503, fault("The engine is currently overloaded, please try again later", "server_error", "null"), wire.Error{Class: wire.Overloaded, Type: "server_error"}},
		{"server", 500, fault("The server had an error", "server_error", "null"), wire.Error{Class: wire.ServerFault, Type: "server_error"}},
		{"parameter", 400, fault("Unsupported parameter: 'temperature' is not supported with this model.", invalid, "null"), wire.Error{Class: wire.BadRequest, Type: invalid}},
		{"detail", 422, `{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"}]}`, wire.Error{Class: wire.BadRequest}},
		{"detail text", 401, `{"detail":"Unauthorized"}`, wire.Error{Class: wire.Auth}},
		{"Google's list", 429, `[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]`, wire.Error{Class: wire.RateLimited, Type: "RESOURCE_EXHAUSTED", Code: "429"}},
		{"event", 0, `{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}}`, wire.Error{Class: wire.TooLong, Type: invalid, Code: "context_length_exceeded", Param: "input"}},
		{"flat event", 0, `{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null,"sequence_number":1}`, wire.Error{Class: wire.RateLimited, Type: "error", Code: "rate_limit_exceeded"}},
		{"code in a chunk", 0, `{"id":"x","error":{"code":502,"message":"upstream"},"choices":[]}`, wire.Error{Class: wire.ServerFault, Code: "502"}},
		{"gateway", 504, `upstream timed out`, wire.Error{Class: wire.Timeout}},
		{"nothing", 502, ``, wire.Error{Class: wire.ServerFault}},
		{"depth", 500, `[[[`, wire.Error{Class: wire.ServerFault}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := DecodeError(test.status, []byte(test.body))
			if got.Status != test.status || string(got.Body) != test.body {
				t.Errorf("got status %d, body %s", got.Status, got.Body)
			}
			if d := cmp.Diff(test.want, *got, cmpopts.IgnoreFields(wire.Error{}, "Status", "Body", "Message")); d != "" {
				t.Errorf("%s\n%s", d, got.Message)
			}
			status, body := EncodeError(got)
			if test.status >= 400 && (status != test.status || len(test.body) > 0 && !bytes.Equal(body, got.Body)) {
				t.Errorf("want it as it came, got %d %s", status, body)
			}
		})
	}
}

// What another dialect says in its own words is said in the words that clients look for.
func TestEncodeErrorOfAnotherDialect(t *testing.T) {
	for class := wire.TooLong; class <= wire.ServerFault; class++ {
		e := &wire.Error{Class: class, Message: "prompt is too long: 210000 tokens > 200000 maximum", Used: 210000, Window: 200000}
		if class != wire.TooLong {
			e = &wire.Error{Class: class, Message: "x"}
		}
		status, body := Chat{}.EncodeError(e)
		if got := (Responses{}).DecodeError(status, body); got.Class != class || got.Window != e.Window || got.Used != e.Used || status < 400 {
			t.Errorf("%v: got %d %s, read as %v %d/%d", class, status, body, got.Class, got.Used, got.Window)
		}
	}
	_, body := EncodeError(&wire.Error{Class: wire.TooLong, Used: 5, Window: 4})
	want := `{"error":{"message":"This model's maximum context length is 4 tokens. However, your messages resulted in 5 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`
	if string(body) != want {
		t.Errorf("want %s\ngot  %s", want, body)
	}
}
