package formats

import "testing"

// TestEmptyReplyIsPaid: a reply of which the file has no content is a call, with the tokens
// that were paid for it, and the conversation goes on behind it.
func TestEmptyReplyIsPaid(t *testing.T) {
	for name, text := range map[string]string{
		"claude-code": `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Dig."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"m","content":[],"usage":{"input_tokens":900,"output_tokens":30}}}
{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"Deeper."}}`,
		"claude-code, the key twice": `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Dig."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"Yes."}],"content":[],"usage":{"input_tokens":900,"output_tokens":30}}}
{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"Deeper."}}`,
		"claude-code's stream": `{"type":"system","subtype":"init","session_id":"s","model":"m","uuid":"1"}
{"type":"user","message":{"role":"user","content":"Dig."},"parent_tool_use_id":null,"session_id":"s","uuid":"2"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[],"usage":{"input_tokens":900,"output_tokens":30}},"parent_tool_use_id":null,"session_id":"s","uuid":"3"}
{"type":"user","message":{"role":"user","content":"Deeper."},"parent_tool_use_id":null,"session_id":"s","uuid":"4"}`,
		"pi": `{"type":"session","id":"p","version":3,"timestamp":"","cwd":"/","provider":"p","modelId":"m"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Dig."}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[],"api":"anthropic-messages","model":"m","usage":{"input":900,"output":30},"stopReason":"stop"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":"Deeper."}}`,
		"qwen-code": `{"uuid":"1","parentUuid":null,"sessionId":"w","timestamp":"2026-01-02T10:00:00.000Z","type":"user","cwd":"/","version":"0.15.10","message":{"role":"user","parts":[{"text":"Dig."}]}}
{"uuid":"2","parentUuid":"1","sessionId":"w","timestamp":"2026-01-02T10:00:00.000Z","type":"assistant","cwd":"/","version":"0.15.10","message":{"role":"model","parts":[]},"model":"m","usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":30}}
{"uuid":"3","parentUuid":"2","sessionId":"w","timestamp":"2026-01-02T10:00:00.000Z","type":"user","cwd":"/","version":"0.15.10","message":{"role":"user","parts":[{"text":"Deeper."}]}}`,
		"gemini-cli": `{"sessionId":"g","projectHash":"h","startTime":"2026-01-02T10:00:00.000Z","lastUpdated":"2026-01-02T10:00:00.000Z","messages":[
{"id":"1","timestamp":"","type":"user","content":"Dig."},
{"id":"2","timestamp":"","type":"gemini","content":"","model":"m","tokens":{"input":900,"output":30}},
{"id":"3","timestamp":"","type":"user","content":"Deeper."}]}`,
		"opencode": `{"info":{"id":"o","directory":"/","version":"1.18.33","time":{"created":1,"updated":2}},"messages":[
{"info":{"id":"1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"Dig."}]},
{"info":{"id":"2","role":"assistant","modelID":"m","providerID":"p","time":{"created":2},"tokens":{"input":900,"output":30}},"parts":[]},
{"info":{"id":"3","role":"user","time":{"created":3}},"parts":[{"type":"text","text":"Deeper."}]}]}`,
		"mini-swe-agent": `{"info":{"mini_version":"2.0","config":{"model":{"model_name":"m"}}},"trajectory_format":"mini-swe-agent-1.1","messages":[
{"role":"user","content":"Dig."},
{"role":"assistant","content":null,"extra":{"response":{"model":"m","usage":{"prompt_tokens":900,"completion_tokens":30}}}},
{"role":"user","content":"Deeper."}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := readText(t, text)
			if len(s.Segments) != 1 || len(s.Segments[0].Entries) != 3 {
				t.Fatalf("want three messages, got\n%s", show(s))
			}
			reply := s.Segments[0].Entries[1]
			if reply.Step == nil || reply.Step.Usage.Prompt() != 900 || reply.Step.Usage.Output != 30 {
				t.Errorf("want a call of 900 and 30 tokens, got\n%s", show(s))
			}
			if got := s.Segments[0].NotInFile(); len(got) != 1 {
				t.Errorf("want one line that says that the reply is not in the file, got %q", got)
			}
		})
	}
}
