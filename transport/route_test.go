package transport_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/transport"
)

// TestRouteOf: a request asks a model by its address; what only looks alike does not.
func TestRouteOf(t *testing.T) {
	for path, dialect := range map[string]string{
		"/v1/messages": "anthropic", "/gateway/v1/messages/": "anthropic", "/v1/chat/completions": "openai-chat", "/v1/responses": "openai-responses",
		"/api/chat": "ollama", "/v1beta/models/m:generateContent": "gemini", "/v1beta/models/m:countTokens": "",
		"/v1/messages/count_tokens": "", "/v1/messages/batches": "", "/v1/responses/resp_1/cancel": "",
		"/v1/threads/thread_abc/messages": "", "/openai/threads/thread_abc/messages": "", // OpenAI's Assistants
	} {
		if r, ok := transport.RouteOf("POST", path); string(r.Dialect) != dialect || ok != (dialect != "") {
			t.Errorf("%s: want %q, got %+v, %t", path, dialect, r, ok)
		}
	}
}
