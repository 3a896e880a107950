package check_test

import (
	"fmt"
	"strings"
	"testing"
)

// sse frames payloads as the named events of a stream.
func sse(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		_, rest, _ := strings.Cut(p, `"type":"`)
		kind, _, _ := strings.Cut(rest, `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, p)
	}
	return b.String()
}

const (
	mStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`
	mEnd   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`
	mTool  = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`
	mStop  = `{"type":"message_stop"}`
	ping   = `{"type":"ping"}`
)

func bText(i int) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, i)
}

func bThink(i int) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, i)
}

func bCall(i int) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"toolu_a","name":"read","input":{}}}`, i)
}

func bDelta(i int, kind, member string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":"x"}}`, i, kind, member)
}
func bStop(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

// told is a whole text reply with one piece replaced.
func told(old, to string) string {
	return strings.Replace(sse(mStart, bText(0), bDelta(0, "text_delta", "text"), bStop(0), mEnd, mStop), old, to, 1)
}

const message = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"},` + callA + `],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

func TestMessagesReplyGood(t *testing.T) {
	clean(t, map[string]ruleCase{
		"a message": {judge: reply("anthropic"), body: message},
		"a text":    {judge: stream("anthropic"), body: told("", "")},
		"thinking, a call and pings": {judge: stream("anthropic"), body: sse(mStart, ping, bThink(0), bDelta(0, "thinking_delta", "thinking"), bDelta(0, "signature_delta", "signature"), bStop(0),
			bCall(1), ping, bDelta(1, "input_json_delta", "partial_json"), bStop(1), mTool, mStop)},
		"blocks without deltas":   {judge: stream("anthropic"), body: sse(mStart, `{"type":"content_block_start","index":0,"content_block":{"type":"fallback"}}`, bStop(0), mEnd, mStop)},
		"an error after a start":  {judge: stream("anthropic"), body: sse(mStart, bText(0), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
		"events that are unknown": {judge: stream("anthropic"), body: sse(mStart, `{"type":"weather"}`, mEnd, mStop)},
		"lines with returns":      {judge: stream("anthropic"), body: strings.ReplaceAll(told("", ""), "\n", "\r\n")},
	})
}

func messagesReplyCases() []ruleCase {
	r := func(old, to string) string { return strings.Replace(message, old, to, 1) }
	cases := []ruleCase{
		{rule: "required", name: "usage", judge: reply("anthropic"), body: r(`,"usage":{"input_tokens":1,"output_tokens":1}`, "")},
		{rule: "required", name: "input_tokens", judge: reply("anthropic"), body: r(`"input_tokens":1,`, "")},
		{rule: "required", name: "content", judge: reply("anthropic"), body: strings.Replace(strings.Replace(message, `"content":[{"type":"text","text":"a"},`+callA+`],`, "", 1), "tool_use", "end_turn", 1)},
		{rule: "role", name: "user", judge: reply("anthropic"), body: r(`"assistant"`, `"user"`)},
		{rule: "value", name: "an error", judge: reply("anthropic"), body: r(`"type":"message"`, `"type":"error"`)},
		{rule: "block-role", name: "result", judge: reply("anthropic"), body: r(`{"type":"text","text":"a"}`, resultA)},
		{rule: "stop-call", name: "none", judge: reply("anthropic"), body: r(`,`+callA, "")},
	}
	for name, body := range map[string]string{
		"no usage in the start": told(`,"usage":{"input_tokens":1,"output_tokens":1}`, ""),
		"no usage at the end":   told(`,"usage":{"output_tokens":2}`, ""),
		"no index":              told(`"type":"content_block_stop","index":0`, `"type":"content_block_stop"`),
		"no text in the delta":  told(`"text_delta","text":"x"`, `"text_delta"`),
	} {
		cases = append(cases, ruleCase{rule: "required", name: name, judge: stream("anthropic"), body: body})
	}
	for name, c := range map[string]struct{ rule, body string }{
		"start is missing":           {"stream-order", sse(bText(0), bStop(0), mEnd, mStop)},
		"two starts":                 {"stream-order", sse(mStart, mStart, mEnd, mStop)},
		"delta of no block":          {"stream-order", sse(mStart, bDelta(0, "text_delta", "text"), mEnd, mStop)},
		"stop of no block":           {"stream-order", sse(mStart, bStop(0), mEnd, mStop)},
		"block is open at the end":   {"stream-order", sse(mStart, bText(0), mEnd, bStop(0), mStop)},
		"block after the delta":      {"stream-order", sse(mStart, mEnd, bText(0), bStop(0), mStop)},
		"no message_delta":           {"stream-order", sse(mStart, mStop)},
		"thinking after signature":   {"stream-order", sse(mStart, bThink(0), bDelta(0, "signature_delta", "signature"), bDelta(0, "thinking_delta", "thinking"), bStop(0), mEnd, mStop)},
		"two blocks at once":         {"stream-order", sse(mStart, bText(0), bText(0), bStop(0), mEnd, mStop)},
		"index is skipped":           {"block-index", sse(mStart, bText(0), bStop(0), bText(2), bStop(1), mEnd, mStop)},
		"delta of another block":     {"block-index", sse(mStart, bText(0), bDelta(1, "text_delta", "text"), bStop(0), mEnd, mStop)},
		"delta of another kind":      {"delta-kind", sse(mStart, bText(0), bDelta(0, "input_json_delta", "partial_json"), bStop(0), mEnd, mStop)},
		"thinking without sign":      {"thinking-signature", sse(mStart, bThink(0), bDelta(0, "thinking_delta", "thinking"), bStop(0), mEnd, mStop)},
		"cut":                        {"stream-end", sse(mStart, bText(0), bStop(0), mEnd)},
		"more after the end":         {"stream-end", sse(mStart, mEnd, mStop, mEnd)},
		"no reason":                  {"stop-missing", sse(mStart, `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":2}}`, mStop)},
		"tool_use without a call":    {"stop-call", sse(mStart, mTool, mStop)},
		"event of another name":      {"event-name", told("event: content_block_stop", "event: ping")},
		"event without a name":       {"event-name", told("event: message_stop\n", "")},
		"last line is cut":           {"framing", strings.TrimSuffix(told("", ""), "\n\n")},
		"id of a call":               {"call-id", sse(mStart, strings.Replace(bCall(0), "toolu_a", "a b", 1), bStop(0), mTool, mStop)},
		"an input that is no object": {"type", sse(mStart, strings.Replace(bCall(0), `{}`, `""`, 1), bStop(0), mTool, mStop)},
	} {
		cases = append(cases, ruleCase{rule: c.rule, name: name, judge: stream("anthropic"), body: c.body})
	}
	return cases
}

func TestMessagesReplyRules(t *testing.T) { run(t, messagesReplyCases()) }
