package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// asides says what the branches of a session are and hold: lines, whose, and of each call
// its id, model, prompt and output.
func asides(s *sessionfile.Session) []string {
	var all []string
	for _, b := range s.Abandoned {
		text := fmt.Sprintf("%d-%d (%d) %s %q:", b.First, b.Last, b.Messages, strings.Fields(b.Why)[0], b.Agent)
		for _, c := range b.Calls {
			text += fmt.Sprintf(" %s %s %d+%d", c.MessageID, c.Model, c.Usage.Prompt(), c.Usage.Output)
		}
		all = append(all, text)
	}
	return all
}

// TestCallsAside: the calls of sub-agents inside a file, and those of other lines that lead
// nowhere, are read with what they used, each once, and are Steps of no segment.
func TestCallsAside(t *testing.T) {
	said := func(uuid, parent, more, id, text string, in, out int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q,"sessionId":"s","version":"1.0.30"%s,"message":{"id":%q,"role":"assistant","model":"beam-2","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`, uuid, parent, more, id, text, in, out)
	}
	asked := func(uuid, parent, more string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%s,"sessionId":"s","version":"1.0.30"%s,"message":{"role":"user","content":"Sound the bar."}}`, uuid, parent, more)
	}
	const side = `,"isSidechain":true`
	streamed := func(uuid, agent, message string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"session_id":"s","parent_tool_use_id":%s,"message":%s}`, uuid, agent, message)
	}
	for _, c := range []struct {
		name  string
		lines []string
		steps int
		want  []string
	}{
		{
			"claude code: two sub-agents by turns, a reply on two lines, an error of the client's, a reply that was asked again",
			[]string{
				asked("u1", "null", ""),
				asked("x1", "null", side),
				asked("y1", "null", side+`,"agentId":"quay"`),
				said("x2", "x1", side, "mx", "I look", 700, 1),
				said("x3", "x2", side, "mx", " at the quay.", 700, 30),
				said("y2", "y1", side+`,"agentId":"quay"`, "my", "None.", 900, 20),
				said("x4", "x3", side+`,"isApiErrorMessage":true`, "me", "Overloaded.", 0, 0),
				said("a0", "u1", "", "m0", "Three.", 1100, 12),
				said("a1", "u1", "", "m1", "Four.", 1200, 12),
			},
			1,
			[]string{
				`2-2 (1) a "x1":`, `3-3 (1) a "quay":`, `4-5 (2) a "x1": mx beam-2 700+30`, `6-6 (1) a "quay": my beam-2 900+20`, `7-7 (1) a "x1":`,
				`8-8 (1) abandoned: "": m0 beam-2 1100+12`,
			},
		},
		{
			"claude code's stream",
			[]string{
				`{"type":"system","subtype":"init","session_id":"s","uuid":"i"}`,
				streamed("1", "null", `{"id":"m1","role":"assistant","model":"beam-2","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}],"usage":{"input_tokens":500,"output_tokens":9}}`),
				streamed("2", `"t1"`, `{"id":"x1","role":"assistant","model":"beam-1","content":[{"type":"text","text":"I look"}],"usage":{"input_tokens":70,"output_tokens":1}}`),
				streamed("3", `"t1"`, `{"id":"x1","role":"assistant","model":"beam-1","content":[{"type":"text","text":"."}],"usage":{"input_tokens":70,"output_tokens":4}}`),
				`{"type":"user","uuid":"4","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"None."}]}}`,
				streamed("5", `"t1"`, `{"id":"x2","role":"assistant","model":"beam-1","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":80,"output_tokens":5}}`),
			},
			1,
			[]string{`3-4 (2) a "t1": x1 beam-1 70+4`, `6-6 (1) a "t1": x2 beam-1 80+5`},
		},
		{
			"copilot: the log has no prompts, and the model may be another one than the session's",
			[]string{
				`{"type":"session.start","data":{"sessionId":"s","selectedModel":"beam-2"},"id":"e0","timestamp":"2026-01-02T10:00:00.000Z","parentId":null}`,
				`{"type":"user.message","data":{"content":"Sound the bar."},"id":"e1","timestamp":"2026-01-02T10:00:00.000Z","parentId":"e0"}`,
				`{"type":"assistant.message","data":{"messageId":"x","apiCallId":"c1","content":"None.","parentToolCallId":"t1","toolRequests":[],"outputTokens":3},"id":"e2","timestamp":"2026-01-02T10:00:00.000Z","parentId":"e1"}`,
				`{"type":"assistant.message","data":{"messageId":"a","content":"Two fathoms.","toolRequests":[],"outputTokens":5},"id":"e3","timestamp":"2026-01-02T10:00:00.000Z","parentId":"e2"}`,
			},
			1,
			[]string{`3-3 (1) a "t1": c1  0+3`},
		},
		{
			"qwen code: a reply in two pieces",
			[]string{
				`{"uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-02T10:00:00.000Z","type":"user","cwd":"/w","version":"0.9.0","message":{"role":"user","parts":[{"text":"Sound the bar."}]}}`,
				`{"uuid":"x1","parentUuid":"u1","isSidechain":true,"sessionId":"s","timestamp":"2026-01-02T10:00:01.000Z","type":"assistant","cwd":"/w","version":"0.9.0","model":"beam-1","message":{"role":"model","parts":[{"text":"I look."}]}}`,
				`{"uuid":"x1","parentUuid":"u1","isSidechain":true,"sessionId":"s","timestamp":"2026-01-02T10:00:01.000Z","type":"assistant","cwd":"/w","version":"0.9.0","model":"beam-1","message":{"role":"model","parts":[{"text":"None."}]},"usageMetadata":{"promptTokenCount":60,"candidatesTokenCount":7,"totalTokenCount":67},"contextWindowSize":9}`,
				`{"uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-01-02T10:00:02.000Z","type":"assistant","cwd":"/w","version":"0.9.0","model":"beam-2","message":{"role":"model","parts":[{"text":"Two fathoms."}]},"usageMetadata":{"promptTokenCount":90,"candidatesTokenCount":8,"totalTokenCount":98}}`,
			},
			1,
			[]string{`2-3 (2) a "":  beam-1 60+7`},
		},
		{
			"pi: a reply that was stopped has been paid for",
			[]string{
				`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T10:00:00.000Z","cwd":"/w"}`,
				`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-02T10:00:01.000Z","message":{"role":"user","content":"Sound the bar.","timestamp":1767348001000}}`,
				`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-02T10:00:02.000Z","message":{"role":"assistant","content":[],"api":"anthropic-messages","provider":"anthropic","model":"beam-2","usage":{"input":40,"output":1,"cacheRead":300,"cacheWrite":0},"stopReason":"aborted","timestamp":1767348002000}}`,
				`{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-01-02T10:00:03.000Z","message":{"role":"assistant","content":[],"api":"anthropic-messages","provider":"anthropic","model":"beam-2","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"stopReason":"error","timestamp":1767348003000}}`,
			},
			0,
			[]string{`3-3 (1) cut "":  beam-2 340+1`, `4-4 (1) cut "":`},
		},
		{
			"opencode: so has one that failed",
			[]string{`{"info":{"id":"s","directory":"/w","version":"1.0.0","time":{"created":1,"updated":2}},"messages":[` +
				`{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"id":"p1","type":"text","text":"Sound the bar."}]},` +
				`{"info":{"id":"m2","role":"assistant","modelID":"beam-2","time":{"created":1},"cost":0.01,"tokens":{"input":40,"output":1,"reasoning":0,"cache":{"read":300,"write":0}},"error":{"name":"APIError"}},"parts":[]}]}`},
			0,
			[]string{`1-1 (1) cut "":  beam-2 340+1`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readText(t, strings.Join(c.lines, "\n")+"\n")
			if diff := cmp.Diff(c.want, asides(s)); diff != "" {
				t.Errorf("asides (-want +got):\n%s", diff)
			}
			steps := 0
			for _, segment := range s.Segments {
				steps += segment.Steps()
				if segment.Window != 0 {
					t.Errorf("the window of a sub-agent is not the session's, got %d", segment.Window)
				}
			}
			if steps != c.steps {
				t.Errorf("want %d Steps, got %d", c.steps, steps)
			}
		})
	}
}
