package formats

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFailures reads a made session of each format that can record it, which ends with a
// call that came to nothing.
func TestFailures(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			s := readText(t, strings.Join(c.lines, "\n")+"\n")
			if len(s.Segments) == 0 {
				t.Fatal("want a segment")
			}
			last := s.Segments[len(s.Segments)-1]
			var got []string
			for _, f := range last.Failures {
				got = append(got, showFailure(f))
				if f.After != last.Steps() {
					t.Errorf("%v: want it after all %d Steps, got %d", f.Error, last.Steps(), f.After)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
			if end, ok := last.Last(); !ok || last.Final != end.TooLong() {
				t.Errorf("want a request without a reply exactly if it was refused for its length, got %v (ends with a failure: %v)", last.Final, ok)
			}
		})
	}
}

const (
	claudeAsked = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Ring the bell."}}`
	codexMeta   = `{"timestamp":"2026-09-01T10:00:00.000Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-09-01T10:00:00.000Z","cli_version":"0.99.0"}}`
	codexAsked  = `{"timestamp":"2026-09-01T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ring the bell."}]}}`
)

func claudeFailed(words, more string) string {
	return `{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","isApiErrorMessage":true` + more +
		`,"message":{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":` + words + `}],"usage":{"input_tokens":0,"output_tokens":0}}}`
}

func codexFailed(payload string) string {
	return `{"timestamp":"2026-09-01T10:00:05.000Z","type":"event_msg","payload":` + payload + `}`
}

var failures = []struct {
	name  string
	lines []string
	want  []string
}{
	{"claude code: too long, no figures", []string{claudeAsked, claudeFailed(`"Prompt is too long"`, `,"error":"invalid_request"`)}, []string{`too long: "Prompt is too long"`}},
	{
		"claude code: too long, with figures",
		[]string{claudeAsked, claudeFailed(`"API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}"`, "")},
		[]string{`too long (400) 213462 of 200000: "prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{
		"claude code: a limit of use",
		[]string{claudeAsked, claudeFailed(`"You've hit your session limit · resets 9:50pm"`, `,"error":"rate_limit","apiErrorStatus":429`)},
		[]string{`rate limited (429): "You've hit your session limit · resets 9:50pm"`},
	},
	{"claude code: overloaded", []string{claudeAsked, claudeFailed(`"API Error: 529 Overloaded."`, `,"error":"server_error","apiErrorStatus":529`)}, []string{`overloaded (529): "529 Overloaded."`}},
	{
		"claude code: stopped",
		[]string{claudeAsked, `{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`},
		[]string{`stopped: "[Request interrupted by user]"`},
	},
	{
		"claude code's stream",
		[]string{
			`{"type":"system","subtype":"init","session_id":"s","uuid":"i"}`,
			`{"type":"user","uuid":"1","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":"Ring the bell."}}`,
			`{"type":"assistant","uuid":"2","session_id":"s","parent_tool_use_id":null,"error":"invalid_request","message":{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}]}}`,
		},
		[]string{`too long: "Prompt is too long"`},
	},
	{
		"codex: too long",
		[]string{codexMeta, codexAsked, codexFailed(`{"type":"error","message":"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.","codex_error_info":"context_window_exceeded"}`)},
		[]string{`too long: "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."`},
	},
	{
		"codex: tried again, then given up",
		[]string{
			codexMeta, codexAsked,
			codexFailed(`{"type":"stream_error","message":"Reconnecting... 1/5","codex_error_info":{"response_stream_disconnected":{"http_status_code":503}}}`),
			codexFailed(`{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests","codex_error_info":{"response_too_many_failed_attempts":{"http_status_code":429}}}`),
		},
		[]string{`overloaded (503): "Reconnecting... 1/5"`, `rate limited (429): "exceeded retry limit, last status: 429 Too Many Requests"`},
	},
	{"codex: stopped", []string{codexMeta, codexAsked, codexFailed(`{"type":"turn_aborted","turn_id":"t","reason":"interrupted"}`)}, []string{`stopped: "interrupted"`}},
	{
		"codex exec",
		[]string{
			`{"type":"thread.started","thread_id":"s"}`, `{"type":"turn.started"}`,
			`{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"I ring."}}`,
			`{"type":"error","message":"Codex ran out of room in the model's context window."}`,
			`{"type":"turn.failed","error":{"message":"Codex ran out of room in the model's context window."}}`,
		},
		[]string{`too long: "Codex ran out of room in the model's context window."`},
	},
	{
		"gemini cli",
		[]string{
			`{"sessionId":"s","projectHash":"0","startTime":"2026-09-01T10:00:00.000Z","lastUpdated":"2026-09-01T10:01:00.000Z","messages":[` +
				`{"id":"m1","timestamp":"2026-09-01T10:00:00.000Z","type":"user","content":"Ring the bell."},` +
				`{"id":"e1","timestamp":"2026-09-01T10:00:31.000Z","type":"error","content":"[API Error: The input token count (1058724) exceeds the maximum number of tokens allowed (1048576).]"}]}`,
		},
		[]string{`too long 1058724 of 1048576: "The input token count (1058724) exceeds the maximum number of tokens allowed (1048576)."`},
	},
	{
		"qwen code",
		[]string{
			`{"uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-02T10:00:01.000Z","type":"user","cwd":"/w","version":"0.9.0","message":{"role":"user","parts":[{"text":"Ring the bell."}]}}`,
			`{"uuid":"e1","parentUuid":"u1","sessionId":"s","timestamp":"2026-01-02T10:00:02.000Z","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","auth_type":"openai","error_message":"400 This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.","error_type":"BadRequestError","status_code":400}}}`,
		},
		[]string{`too long (400) 140000 of 131072: "400 This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."`},
	},
	{
		"pi",
		[]string{
			`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T10:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-02T10:00:01.000Z","message":{"role":"user","content":"Ring the bell.","timestamp":1767348001000}}`,
			`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-02T10:00:03.000Z","message":{"role":"assistant","content":[],"api":"anthropic-messages","provider":"anthropic","model":"beam-2","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"stopReason":"error","errorMessage":"prompt is too long: 213462 tokens > 200000 maximum","timestamp":1767348003000}}`,
		},
		[]string{`too long 213462 of 200000: "prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{
		"opencode",
		[]string{`{"info":{"id":"s","directory":"/w","version":"1.0.0","time":{"created":1,"updated":2}},"messages":[` +
			`{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"id":"p1","type":"text","text":"Ring the bell."}]},` +
			`{"info":{"id":"m2","role":"assistant","modelID":"beam-2","time":{"created":1},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"error":{"name":"APIError","data":{"message":"prompt is too long: 213462 tokens > 200000 maximum","statusCode":400,"isRetryable":false}}},"parts":[]}]}`},
		[]string{`too long (400) 213462 of 200000: "prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{
		"copilot cli",
		[]string{
			`{"type":"session.start","data":{"sessionId":"s","version":1,"copilotVersion":"0.0.400","startTime":"2026-01-02T10:00:00.000Z"},"id":"i0","timestamp":"2026-01-02T10:00:00.000Z","parentId":null}`,
			`{"type":"user.message","data":{"content":"Ring the bell.","attachments":[]},"id":"i1","timestamp":"2026-01-02T10:00:01.000Z","parentId":"i0"}`,
			`{"type":"session.error","data":{"errorType":"query","message":"prompt token count of 140000 exceeds the limit of 128000","statusCode":400},"id":"i2","timestamp":"2026-01-02T10:00:02.000Z","parentId":"i1"}`,
		},
		[]string{`too long (400) 140000 of 128000: "prompt token count of 140000 exceeds the limit of 128000"`},
	},
	{
		"cline, what was shown",
		[]string{
			`[{"ts":1767348001000,"type":"say","say":"task","text":"Ring the bell."},` +
				`{"ts":1767348002000,"type":"say","say":"api_req_started","text":"{\"request\":\"x\",\"tokensIn\":900,\"tokensOut\":12}"},` +
				`{"ts":1767348003000,"type":"say","say":"text","text":"I ring."},` +
				`{"ts":1767348004000,"type":"ask","ask":"api_req_failed","text":"{\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\",\"status\":400}"}]`,
		},
		[]string{`too long 213462 of 200000: "prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{
		"openhands",
		[]string{
			`[{"id":0,"timestamp":"2026-01-02T10:00:01.000","source":"user","message":"Ring the bell.","action":"message","args":{"content":"Ring the bell.","image_urls":null}},` +
				`{"id":1,"timestamp":"2026-01-02T10:00:02.000","source":"environment","message":"","observation":"agent_state_changed","content":"","extras":{"agent_state":"error","reason":"LLMContextWindowExceedError: Conversation history longer than LLM context window limit. Consider turning on enable_history_truncation config to avoid this error"}}]`,
		},
		[]string{`too long: "LLMContextWindowExceedError: Conversation history longer than LLM context window limit. Consider turning on enable_history_truncation config to avoid this error"`},
	},
	{
		"aider",
		[]string{
			"# aider chat started at 2026-01-02 10:00:00", "", "> Aider v0.86.0  ", "> Model: beam-2 with whole edit format  ", "", "#### Ring the bell.  ", "",
			"> litellm.InternalServerError: AnthropicException - Overloaded. Handle with `litellm.InternalServerError`.  ",
			"> Model beam-2 has hit a token limit!  ", "> Total tokens: ~140,000 of 131,072 -- possibly exhausted context window!  ",
		},
		[]string{
			"overloaded: \"litellm.InternalServerError: AnthropicException - Overloaded. Handle with `litellm.InternalServerError`.\"",
			`too long 140000 of 131072: "prompt is too long: 140,000 tokens > 131,072 maximum"`,
		},
	},
	{
		"swe-agent",
		[]string{`{"trajectory":[],"history":[{"role":"system","content":"You ring bells.","agent":"main"},{"role":"user","content":"Ring the bell.","agent":"main"}],"info":{"exit_status":"submitted (exit_context)","model_stats":{}},"environment":"e"}`},
		[]string{`too long: "submitted (exit_context)"`},
	},
	{
		"mini-swe-agent: too long",
		[]string{`{"info":{"mini_version":"1.17.0","exit_status":"ContextWindowExceededError","submission":"litellm.ContextWindowExceededError: prompt is too long: 213462 tokens > 200000 maximum","config":{"model":{"model_name":"acme/hull"}}},` +
			`"messages":[{"role":"system","content":"You ring bells."},{"role":"user","content":"Ring the bell."},{"role":"user","content":"litellm.ContextWindowExceededError: prompt is too long: 213462 tokens > 200000 maximum"}]}`},
		[]string{`too long 213462 of 200000: "ContextWindowExceededError: litellm.ContextWindowExceededError: prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{
		"mini-swe-agent 2: a limit of use",
		[]string{`{"info":{"mini_version":"2.3.0","exit_status":"RateLimitError"},"trajectory_format":"mini-swe-agent-1.1",` +
			`"messages":[{"role":"user","content":"Ring the bell."},{"role":"exit","content":"litellm.RateLimitError: too many requests","extra":{"exit_status":"RateLimitError"}}]}`},
		[]string{`rate limited (429): "RateLimitError: litellm.RateLimitError: too many requests"`},
	},
	{
		"mini-swe-agent: its own limit",
		[]string{`{"info":{"mini_version":"2.3.0","exit_status":"LimitsExceeded"},"messages":[{"role":"user","content":"Ring the bell."},{"role":"exit","content":"","extra":{"exit_status":"LimitsExceeded"}}]}`},
		[]string{`limit: "LimitsExceeded"`},
	},
	{
		"inspect: the limit of the context",
		[]string{inspectOf(`"limit":{"type":"context","limit":1}`, "")},
		[]string{`too long: "context length exceeded"`},
	},
	{
		"inspect: a stand-in for a reply",
		[]string{inspectOf(`"events":[{"event":"model","output":{"model":"moon-1","choices":[{"message":{"id":"m2","content":"Sorry, but your prompt is too long."},"stop_reason":"model_length"}],"error":"prompt is too long: 213462 tokens > 200000 maximum"}}]`,
			`,{"id":"m2","role":"assistant","source":"generate","content":"Sorry, but your prompt is too long."}`)},
		[]string{`too long 213462 of 200000: "prompt is too long: 213462 tokens > 200000 maximum"`},
	},
	{"inspect: a limit of messages", []string{inspectOf(`"limit":{"type":"message","limit":50}`, "")}, []string{`limit: "message limit 50"`}},
	{"inspect: the operator", []string{inspectOf(`"limit":{"type":"operator","limit":1}`, "")}, []string{`stopped: "by the operator"`}},
	{"inspect: an error", []string{inspectOf(`"error":{"message":"RateLimitError: 429 too many requests","traceback":""}`, "")}, []string{`rate limited: "RateLimitError: 429 too many requests"`}},
}

// inspectOf is a log of one sample with more fields and messages.
func inspectOf(fields, messages string) string {
	return `{"version":2,"status":"success","eval":{"run_id":"s","task_id":"t","task":"bells","model":"acme/moon"},"samples":[{"id":1,"epoch":1,"messages":[{"id":"m1","role":"user","content":"Ring the bell."}` +
		messages + `],` + fields + `}]}`
}
