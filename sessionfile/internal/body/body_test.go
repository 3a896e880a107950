package body

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

func TestDetect(t *testing.T) {
	tests := map[string]sessionfile.Format{
		`{"model":"m","messages":[],"system":"s"}`:                                            sessionfile.FormatAnthropicRequest,
		`{"anthropic_version":"v","messages":[]}`:                                             sessionfile.FormatAnthropicRequest,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`:       sessionfile.FormatAnthropicRequest,
		`{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}],"max_tokens":1}`: sessionfile.FormatAnthropicRequest,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":1}`:             sessionfile.FormatChatRequest,
		`{"model":"m","messages":[],"tools":[{"type":"function","function":{}}]}`:             sessionfile.FormatChatRequest,
		`{"model":"m","messages":[{"role":"system","content":"x"}]}`:                          sessionfile.FormatChatRequest,
		`{"model":"claude","messages":[{"role":"assistant","tool_calls":[]}]}`:                sessionfile.FormatChatRequest,
		`{"model":"claude","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`:    sessionfile.FormatChatRequest,
		`{"model":"m","input":"x"}`:                                                           sessionfile.FormatResponsesRequest,
		`{"model":"m","input":[]}`:                                                            sessionfile.FormatResponsesRequest,
		`{"messages":[]}`:                                                                     "",
		`{"model":"m","prompt":"x"}`:                                                          "",
		`{"model":"m","input":{}}`:                                                            "",
		`{"contents":[],"model":"m"}`:                                                         "",
		`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`:                               sessionfile.FormatGeminiRequest,
		`{"model":"m","request":{"contents":[{"parts":[]}]}}`:                                 sessionfile.FormatGeminiRequest,
		`{"contents":[{"role":"user"}]}`:                                                      "",
		`{"contents":[{"parts":"x"}],"request":[]}`:                                           "",
	}
	for text, want := range tests {
		if got := detect([]byte(text)); got != want {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
}
