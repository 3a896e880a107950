package check_test

import (
	"strings"
	"testing"
)

// talk is a Chat Completions request with these messages and further members.
func talk(messages string, members ...string) string { return talkTo("gpt-5.4", messages, members...) }

// talkTo is one for another model.
func talkTo(model, messages string, members ...string) string {
	return `{"model":"` + model + `","messages":[` + messages + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	cCallA   = `{"id":"call_a","type":"function","function":{"name":"read","arguments":"{}"}}`
	cCallB   = `{"id":"call_b","type":"custom","custom":{"name":"patch","input":"x"}}`
	cResultA = `{"role":"tool","tool_call_id":"call_a","content":"a"}`
	cResultB = `{"role":"tool","tool_call_id":"call_b","content":[{"type":"text","text":"b"}]}`
	cTools   = `"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}},{"type":"custom","custom":{"name":"patch"}}]`
	image    = `{"type":"image_url","image_url":{"url":"data:image/png;base64,aQ=="}}`
)

func cCalls(calls ...string) string {
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func cChunk(delta, reason string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + reason + `}]}` + "\n\n"
}

const (
	cUsage = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}` + "\n\n"
	cDone  = "data: [DONE]\n\n"
	cReply = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + cCallA + `]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
)

var (
	cStart = cChunk(`{"role":"assistant","content":""}`, "null")
	cText  = cChunk(`{"content":"x"}`, "null")
	cCall  = cChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]}`, "null")
	cMore  = cChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, "null")
	cStop  = cChunk(`{}`, `"stop"`)
)

func TestChatGood(t *testing.T) {
	clean(t, map[string]ruleCase{
		"a text":        {judge: request("openai-chat"), body: talk(hi)},
		"calls":         {judge: request("openai-chat"), body: talk(hi+`,`+cCalls(cCallA, cCallB)+`,`+cResultB+`,`+cResultA+`,`+hi, cTools, `"tool_choice":{"type":"function","function":{"name":"read"}}`)},
		"an id again":   {judge: request("openai-chat"), body: talk(hi + `,` + cCalls(cCallA) + `,` + cResultA + `,` + cCalls(cCallA) + `,` + cResultA)},
		"an image":      {judge: request("openai-chat"), body: talk(user(`{"type":"text","text":""}`, image))},
		"empty words":   {judge: request("openai-chat"), body: talk(hi + `,{"role":"assistant","content":""},` + hi)},
		"no parameters": {judge: request("openai-chat"), body: talk(hi, `"tools":[{"type":"function","function":{"name":"now"}}]`)},
		"a reply":       {judge: reply("openai-chat"), body: cReply},
		"defaults":      {judge: request("openai-chat"), body: talkTo("gpt-5", hi, `"temperature":1.0`, `"top_p":1`, `"presence_penalty":0`, `"logprobs":false`, `"logit_bias":{}`, `"stop":null`)},
		"unthinking":    {judge: request("openai-chat"), body: talkTo("gpt-6-luna", hi, `"temperature":0.2`, `"reasoning_effort":"none"`)},
		"settings":      {judge: request("openai-chat"), body: talk(hi, `"temperature":0.2`, `"top_p":0.9`, `"stop":"END"`)},
		"of no model":   {judge: request("openai-chat"), body: talkTo("nobody-knows", hi, `"temperature":0.2`, `"logprobs":true`)},
		"a misspelling": {judge: request("openai-chat"), body: talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpg;base64,/9j/"}}]}`)},
		"a stream":      {judge: stream("openai-chat"), body: ": waiting\n\n" + cStart + cText + cStop + cUsage + cDone},
		"a call":        {judge: stream("openai-chat"), body: cStart + cCall + cMore + cChunk(`{}`, `"tool_calls"`) + cDone},
		"an error":      {judge: stream("openai-chat"), body: cStart + "data: {\"error\":{\"message\":\"no\"}}\n\n"},
	})
}

func chatCases() []ruleCase {
	long := strings.Repeat("x", 65)
	cases := []ruleCase{
		{rule: "required", name: "messages", body: `{"model":"m"}`, message: "Missing required parameter: 'messages'."},
		{rule: "required", name: "call id of a result", body: talk(hi + `,` + cCalls(cCallA) + `,` + cResultA + `,{"role":"tool","content":"x"}`), message: "Missing required parameter: 'messages[3].tool_call_id'."},
		{rule: "type", name: "arguments", body: talk(hi + `,` + cCalls(strings.Replace(cCallA, `"{}"`, `{}`, 1)) + `,` + cResultA), message: "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead."},
		{rule: "role", name: "model", body: talk(`{"role":"model","content":"x"}`), message: "Invalid value: 'model'. Supported values are: 'system', 'developer', 'assistant', 'user', 'function' and 'tool'."},
		{rule: "value", name: "temperature", body: talk(hi, `"temperature":3`)},
		{rule: "output-limit", name: "two limits", body: talk(hi, `"max_tokens":5,"max_completion_tokens":5`)},
		{rule: "tool-choice", name: "auto without tools", body: talk(hi, `"tool_choice":"auto"`), message: "'tool_choice' is only allowed when 'tools' are specified."},
		{rule: "messages-empty", name: "none", body: talk(``), message: "Invalid 'messages': empty array"},
		{rule: "content-empty", name: "null", body: talk(`{"role":"user","content":null}`), message: "Invalid value for 'content': expected a string, got null."},
		{rule: "content-empty", name: "assistant", body: talk(hi + `,{"role":"assistant"}`)},
		{rule: "content-empty", name: "no parts", body: talk(`{"role":"user","content":[]}`)},
		{rule: "calls-empty", name: "none", body: talk(hi + `,` + `{"role":"assistant","content":"x","tool_calls":[]}`), message: "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1"},
		{rule: "call-id", name: "long", body: talk(hi + `,` + strings.ReplaceAll(cCalls(cCallA)+`,`+cResultA, "call_a", strings.Repeat("i", 41))), message: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead."},
		{rule: "call-id-unique", name: "in one message", body: talk(hi + `,` + cCalls(cCallA, cCallA) + `,` + cResultA)},
		{rule: "call-unanswered", name: "by a text", body: talk(hi + `,` + cCalls(cCallA, cCallB) + `,` + cResultA + `,` + hi), message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_b"},
		{rule: "call-unanswered", name: "at the end", body: talk(hi + `,` + cCalls(cCallA))},
		{rule: "result-orphan", name: "no call", body: talk(hi + `,` + cResultA), message: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"}, //nolint:misspell // the provider's own spelling
		{rule: "result-orphan", name: "another call", body: talk(hi + `,` + cCalls(cCallA) + `,` + cResultA + `,` + cResultB), message: "'tool_call_id' of 'call_b' not found"},
		{rule: "result-duplicate", name: "two", body: talk(hi + `,` + cCalls(cCallA) + `,` + cResultA + `,` + cResultA), message: "Duplicate value for 'tool_call_id' of 'call_a'"},
		{rule: "part-role", name: "image of an assistant", body: talk(hi + `,` + assistant(image)), message: "Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains an image URL."},
		{rule: "image", name: "the alphabet for addresses", body: talk(user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,a-_="}}`))},
		{rule: "image", name: "no padding", body: talk(user(`{"type":"input_audio","input_audio":{"data":"aQ","format":"wav"}}`))},
		{rule: "image", name: "a file", body: talk(user(`{"type":"file","file":{"file_data":"data:application/pdf;base64,a b="}}`))},
		{rule: "part-role", name: "refusal of a user", body: talk(user(`{"type":"refusal","refusal":"no"}`))},
		{rule: "tools-empty", name: "none", body: talk(hi, `"tools":[]`), message: "Invalid 'tools': empty array"},
		{rule: "tools-many", name: "129", body: talk(hi, `"tools":[`+strings.Repeat(`{"type":"function","function":{"name":"a"}},`, 128)+`{"type":"function","function":{"name":"a"}}]`), message: "array too long. Expected an array with maximum length 128, but got an array with length 129 instead."},
		{rule: "tool-name", name: "pattern", body: talk(hi, strings.Replace(cTools, "read", "a.b", 1)), message: "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."},
		{rule: "tool-name", name: "long", body: talk(hi, strings.Replace(cTools, "read", long, 1)), message: "Expected a string with maximum length 64, but got a string with length 65 instead."},
		{rule: "tool-schema", name: "no type", body: talk(hi, strings.Replace(cTools, `{"type":"object"}`, `{"properties":{}}`, 1)), message: `Invalid schema for function 'read': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`},
		{rule: "tool-schema", name: "alternatives at the root", body: talk(hi, strings.Replace(cTools, `"type":"object"`, `"type":"object","enum":[{}]`, 1)), message: `Invalid schema for function 'read': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`},
		{rule: "media-source", name: "type", body: talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/tiff;base64,SUkqAA=="}}]}`), message: "You uploaded an unsupported image."},
		{rule: "setting", name: "a temperature", body: talkTo("gpt-5-mini", hi, `"temperature":0.2`), message: "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."},
		{rule: "setting", name: "a penalty", body: talkTo("o3", hi, `"presence_penalty":0.5`), message: "Unsupported parameter: 'presence_penalty' is not supported with this model."},
		{rule: "setting", name: "a stop sequence", body: talkTo("gpt-5", hi, `"stop":["END"]`), message: "Unsupported parameter: 'stop' is not supported with this model."},
		{rule: "setting", name: "logprobs with an effort", body: talkTo("gpt-5.2", hi, `"reasoning_effort":"low"`, `"logprobs":true`), message: "Unsupported parameter: 'logprobs' is not supported with this model."},
		{rule: "setting", name: "without an effort", body: talkTo("openai/gpt-6-luna", hi, `"top_p":0.9`)},
		{rule: "setting", name: "without thinking where there is no such effort", body: talkTo("gpt-6.1-sol", hi, `"reasoning_effort":"none"`, `"temperature":0.2`)},
		{rule: "tool-choice", name: "word", body: talk(hi, cTools, `"tool_choice":"any"`)},
		{rule: "tool-choice", name: "without tools", body: talk(hi, `"tool_choice":"required"`), message: "'tool_choice' is only allowed when 'tools' are specified."},
		{rule: "tool-choice", name: "unknown tool", body: talk(hi, cTools, `"tool_choice":{"type":"function","function":{"name":"write"}}`), message: "Tool choice 'write' not found in 'tools' parameter."},
		{rule: "stop", name: "five", body: talk(hi, `"stop":["1","2","3","4","5"]`), message: "Invalid 'stop': array too long. Expected an array with maximum length 4"},
		{rule: "stream-options", name: "without a stream", body: talk(hi, `"stream_options":{"include_usage":true}`), message: "The 'stream_options' parameter is only allowed when 'stream' is enabled."},
	}
	for i := range cases {
		cases[i].judge = request("openai-chat")
	}
	r := func(old, to string) string { return strings.Replace(cReply, old, to, 1) }
	cases = append(cases,
		ruleCase{rule: "required", name: "finish_reason", judge: reply("openai-chat"), body: r(`,"finish_reason":"tool_calls"`, "")},
		ruleCase{rule: "value", name: "object", judge: reply("openai-chat"), body: r("chat.completion", "chat.completion.chunk")},
		ruleCase{rule: "choices-empty", name: "reply", judge: reply("openai-chat"), body: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[]}`},
		ruleCase{rule: "stop-call", name: "reply", judge: reply("openai-chat"), body: r(`,"tool_calls":[`+cCallA+`]`, "")},
	)
	for name, c := range map[string]struct{ rule, body string }{
		"no role":               {"required", cText + cStop + cDone},
		"no id of a call":       {"required", cStart + strings.Replace(cCall, `"id":"call_a",`, "", 1) + cStop + cDone},
		"no index of a call":    {"required", cStart + strings.Replace(cCall, `"index":0,"id"`, `"id"`, 1) + cStop + cDone},
		"arguments as object":   {"type", cStart + strings.Replace(cCall, `"arguments":""`, `"arguments":{}`, 1) + cStop + cDone},
		"no end mark":           {"stream-end", cStart + cStop},
		"more after the mark":   {"stream-end", cStart + cStop + cDone + cText},
		"no reason":             {"stream-order", cStart + cText + cDone},
		"two reasons":           {"stream-order", cStart + cStop + cStop + cDone},
		"text after the reason": {"stream-order", cStart + cStop + cText + cDone},
		"nothing":               {"choices-empty", cUsage + cDone},
		"a reason for calls":    {"stop-call", cStart + cChunk(`{}`, `"tool_calls"`) + cDone},
	} {
		cases = append(cases, ruleCase{rule: c.rule, name: "stream " + name, judge: stream("openai-chat"), body: c.body})
	}
	return cases
}

func TestChatRules(t *testing.T) { run(t, chatCases()) }

// respond is a Responses request with these items and further members.
func respond(items string, members ...string) string {
	return `{"model":"gpt-5.4","input":[` + items + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	rHi      = `{"role":"user","content":[{"type":"input_text","text":"hi"}]}`
	rSaid    = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}`
	rCall    = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{}"}`
	rOutput  = `{"type":"function_call_output","call_id":"call_1","output":"a"}`
	rCustom  = `{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"patch","input":"x"}`
	rPatched = `{"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"ok"}]}`
	rThought = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`
	rStored  = `{"type":"reasoning","id":"rs_1","summary":[]}`
	rTools   = `"tools":[{"type":"function","name":"read","parameters":{"type":"object"}},{"type":"web_search"}]`
	rReply   = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[` + rThought + `,` + rSaid + `,` + rCall + `],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`
)

var rEvents = []string{
	`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}`,
	`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}`,
	`{"type":"response.content_part.added","sequence_number":2,"output_index":0,"item_id":"msg_1","content_index":0,"part":{"type":"output_text","text":""}}`,
	`{"type":"response.output_text.delta","sequence_number":3,"output_index":0,"item_id":"msg_1","content_index":0,"delta":"a"}`,
	`{"type":"response.content_part.done","sequence_number":4,"output_index":0,"item_id":"msg_1","content_index":0,"part":{"type":"output_text","text":"a"}}`,
	`{"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":` + rSaid + `}`,
	`{"type":"response.completed","sequence_number":6,"response":{"id":"resp_1","status":"completed","usage":{"input_tokens":1,"output_tokens":1}}}`,
}

// spoken is a whole stream without some events, and with one piece replaced.
func spoken(old, to string, without ...int) string {
	events := append([]string(nil), rEvents...)
	for _, i := range without {
		events[i] = ""
	}
	var kept []string
	for _, e := range events {
		if e != "" {
			kept = append(kept, e)
		}
	}
	return strings.Replace(sse(kept...), old, to, 1)
}

func TestResponsesGood(t *testing.T) {
	clean(t, map[string]ruleCase{
		"a text":                  {judge: request("openai-responses"), body: `{"model":"m","input":"hi","instructions":"be brief"}`},
		"items":                   {judge: request("openai-responses"), body: respond(rHi+`,`+rThought+`,`+rCall+`,`+rCustom+`,`+rPatched+`,`+rOutput+`,`+rSaid, rTools, `"store":false`, `"include":["reasoning.encrypted_content"]`, `"tool_choice":{"type":"function","name":"read"}`)},
		"an id again":             {judge: request("openai-responses"), body: respond(rCall + `,` + rOutput + `,` + rCall + `,` + rOutput)},
		"a history at the server": {judge: request("openai-responses"), body: respond(rOutput, `"previous_response_id":"resp_1"`)},
		"a reference":             {judge: request("openai-responses"), body: respond(`{"type":"item_reference","id":"fc_1"},` + rOutput)},
		"stored reasoning":        {judge: request("openai-responses"), body: respond(rHi + `,` + rStored + `,` + rCall + `,` + rOutput)},
		"encrypted reasoning":     {judge: request("openai-responses"), body: respond(rHi+`,`+rThought, `"store":false`)},
		"kinds not known":         {judge: request("openai-responses"), body: respond(`{"type":"hologram"},`+rHi, `"x":[]`)},
		"a compaction asked for":  {judge: request("openai-responses"), body: respond(rHi, `"context_management":[{"type":"compaction","compact_threshold":1000}]`)},
		"a compaction sent back":  {judge: request("openai-responses"), body: respond(`{"type":"compaction","id":"cmp_1","encrypted_content":"e"},` + rHi)},
		"a reply":                 {judge: reply("openai-responses"), body: rReply},
		"a compaction":            {judge: reply("openai-responses"), body: `{"id":"resp_1","object":"response.compaction","created_at":1,"output":[` + rHiItem + `,{"type":"compaction","encrypted_content":"e"}]}`},
		"a stream":                {judge: stream("openai-responses"), body: spoken("", "")},
		"an error":                {judge: stream("openai-responses"), body: sse(rEvents[0], `{"type":"error","sequence_number":1,"message":"no"}`)},
		"an error and a failure":  {judge: stream("openai-responses"), body: sse(rEvents[0], `{"type":"error","sequence_number":1,"message":"no"}`, `{"type":"response.failed","sequence_number":2,"response":{"id":"resp_1","status":"failed"}}`)},
		"a failure":               {judge: stream("openai-responses"), body: sse(rEvents[0], rEvents[1], `{"type":"response.failed","sequence_number":2,"response":{"id":"resp_1","status":"failed"}}`)},
	})
}

const rHiItem = `{"type":"message","id":"msg_0","role":"user","content":[{"type":"input_text","text":"hi"}]}`

func responsesCases() []ruleCase {
	cases := []ruleCase{
		{rule: "required", name: "input", body: `{"model":"m"}`, message: "Missing required parameter: one of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided."},
		{rule: "required", name: "call_id", body: respond(strings.Replace(rPatched, `"call_id":"call_2",`, "", 1), `"conversation":"c"`), message: "Missing required parameter: 'input[0].call_id'."},
		{rule: "type", name: "instructions", body: respond(rHi, `"instructions":{}`), message: "Invalid type for 'instructions': expected a string, but got an object instead."},
		{rule: "role", name: "tool", body: respond(`{"role":"tool","content":"x"}`)},
		{rule: "value", name: "truncation", body: respond(rHi, `"truncation":"middle"`)},
		{rule: "part-role", name: "input of an assistant", body: respond(`{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."},
		{rule: "image", name: "the alphabet for addresses", body: respond(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,a-_="}]}`)},
		{rule: "image", name: "a file", body: respond(`{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,aQ"}]}`)},
		{rule: "part-role", name: "output of a user", body: respond(`{"role":"user","content":[{"type":"output_text","text":"x"}]}`)},
		{rule: "call-id", name: "long", body: respond(strings.Replace(rOutput, "call_1", strings.Repeat("i", 65), 1), `"previous_response_id":"r"`), message: "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead."},
		{rule: "call-unanswered", name: "function", body: respond(rHi + `,` + rCall), message: "No tool output found for function call call_1."},
		{rule: "call-unanswered", name: "by an output of another kind", body: respond(rCustom+`,`+strings.Replace(rOutput, "call_1", "call_2", 1), `"previous_response_id":"r"`)},
		{rule: "result-orphan", name: "function", body: respond(rHi + `,` + rOutput), message: "No tool call found for function call output with call_id call_1."},
		{rule: "result-orphan", name: "before its call", body: respond(rOutput + `,` + rCall + `,` + rOutput)},
		{rule: "item-id", name: "of a call", body: respond(strings.Replace(rCall, "fc_1", "call_1", 1) + `,` + rOutput), message: "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'."},
		{rule: "history-twice", name: "two", body: respond(rHi, `"previous_response_id":"r"`, `"conversation":"c"`)},
		{rule: "reasoning-unstored", name: "plain", body: respond(rHi+`,`+rStored+`,`+rSaid, `"store":false`), message: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."},
		{rule: "reasoning-alone", name: "before a user", body: respond(rHi + `,` + rStored + `,` + rHi), message: "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
		{rule: "reasoning-alone", name: "at the end", body: respond(rHi + `,` + rStored)},
		{rule: "tool-name", name: "pattern", body: respond(rHi, strings.Replace(rTools, "read", "a b", 1)), message: "Invalid 'tools[0].name': string does not match pattern."},
		{rule: "tool-schema", name: "list", body: respond(rHi, strings.Replace(rTools, `"type":"object"`, `"type":"array"`, 1)), message: `got 'type: "array"'`},
		{rule: "tool-schema", name: "alternatives at the root", body: respond(rHi, strings.Replace(rTools, `"type":"object"`, `"type":"object","oneOf":[{}]`, 1)), message: "at the top level"},
		{rule: "media-source", name: "type", body: respond(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/heic;base64,AAAA"}]}`), message: "You uploaded an unsupported image."},
		{rule: "setting", name: "a temperature with an effort", body: respond(rHi, `"reasoning":{"effort":"high"}`, `"temperature":0`), message: "'temperature' does not support 0 with this model"},
		{rule: "setting", name: "logprobs", body: strings.Replace(respond(rHi, `"include":["message.output_text.logprobs"]`), "gpt-5.4", "gpt-6-sol", 1), message: "'message.output_text.logprobs'"},
		{rule: "setting", name: "top_logprobs", body: strings.Replace(respond(rHi, `"top_logprobs":3`), "gpt-5.4", "gpt-6-sol", 1), message: "Unsupported parameter: 'top_logprobs' is not supported with this model."},
		{rule: "tool-choice", name: "unknown tool", body: respond(rHi, rTools, `"tool_choice":{"type":"function","name":"write"}`)},
		{rule: "required", name: "what a compaction holds", body: respond(`{"type":"compaction","id":"cmp_1"},` + rHi)},
		{rule: "value", name: "another way to manage", body: respond(rHi, `"context_management":[{"type":"clear"}]`)},
		{rule: "edit-trigger", name: "none", body: respond(rHi, `"context_management":[{"type":"compaction","compact_threshold":0}]`)},
	}
	for i := range cases {
		cases[i].judge = request("openai-responses")
	}
	r := func(old, to string) string { return strings.Replace(rReply, old, to, 1) }
	cases = append(cases,
		ruleCase{rule: "required", name: "output", judge: reply("openai-responses"), body: `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m"}`},
		ruleCase{rule: "required", name: "arguments", judge: reply("openai-responses"), body: r(`,"arguments":"{}"`, "")},
		ruleCase{rule: "value", name: "status", judge: reply("openai-responses"), body: r("completed", "done")},
		ruleCase{rule: "part-role", name: "reply", judge: reply("openai-responses"), body: r("output_text", "input_text")},
	)
	for name, c := range map[string]struct{ rule, body string }{
		"no created":           {"stream-order", spoken("", "", 0)},
		"more after an error":  {"stream-end", sse(rEvents[0], `{"type":"error","sequence_number":1,"message":"no"}`, `{"type":"response.completed","sequence_number":2,"response":{"id":"resp_1","status":"completed"}}`)},
		"numbers go back":      {"sequence", spoken(`"sequence_number":4`, `"sequence_number":2`)},
		"item is not done":     {"item-open", spoken("", "", 5)},
		"item is not added":    {"item-open", spoken("", "", 1, 2, 3, 4)},
		"part is not done":     {"item-open", spoken("", "", 4)},
		"part is not added":    {"item-open", spoken("", "", 2)},
		"id of a delta":        {"item-id", spoken(`"output_index":0,"item_id":"msg_1","content_index":0,"delta"`, `"output_index":0,"item_id":"msg_2","content_index":0,"delta"`)},
		"id of the whole":      {"item-id", spoken(`"item":`+rSaid, `"item":`+strings.Replace(rSaid, "msg_1", "msg_9", 1))},
		"cut":                  {"stream-end", spoken("", "", 6)},
		"more after the end":   {"stream-end", spoken("", "") + sse(rEvents[0])},
		"status of the end":    {"stream-end", spoken(`"status":"completed","usage"`, `"status":"failed","usage"`)},
		"event of other name":  {"event-name", spoken("event: response.completed", "event: response.done")},
		"an item without text": {"required", spoken(`"text":"a","annotations"`, `"annotations"`)},
	} {
		cases = append(cases, ruleCase{rule: c.rule, name: "stream " + name, judge: stream("openai-responses"), body: c.body})
	}
	return cases
}

func TestResponsesRules(t *testing.T) { run(t, responsesCases()) }
