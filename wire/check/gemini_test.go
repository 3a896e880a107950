package check_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// contents is a generateContent request with these contents and further members.
func contents(list string, members ...string) string {
	return `{"contents":[` + list + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

func gUser(parts ...string) string {
	return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
}

func gModel(parts ...string) string {
	return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

const (
	gText   = `{"text":"hi"}`
	gCall   = `{"functionCall":{"name":"read","args":{}},"thoughtSignature":"c2ln"}`
	gPlain  = `{"functionCall":{"id":"1","name":"list","args":{"path":"."}}}`
	gResult = `{"functionResponse":{"name":"read","response":{"output":"a"}}}`
	gListed = `{"functionResponse":{"id":"1","name":"list","response":{}}}`
	gTools  = `"tools":[{"functionDeclarations":[{"name":"read","parameters":{"type":"OBJECT"}},{"name":"list"}]},{"googleSearch":{}}]`
	gReply  = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1}}`
	gMore   = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}]}`
)

func gStream(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

// of3 judges a request for a Gemini 3 model.
func of3(body string) []check.Fault {
	return check.Options{Model: "gemini-3-pro-preview"}.Request("gemini", []byte(body))
}

func TestGeminiGood(t *testing.T) {
	clean(t, map[string]ruleCase{
		"a text":                     {judge: of3, body: contents(gUser(gText))},
		"calls":                      {judge: of3, body: contents(gUser(gText)+`,`+gModel(gText, gCall, gPlain)+`,`+gUser(gListed, gResult), gTools, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read"]}}`)},
		"an older turn":              {judge: of3, body: contents(gUser(gText) + `,` + gModel(gPlain) + `,` + gUser(gListed) + `,` + gModel(gText) + `,` + gUser(gText))},
		"chunks of a chat":           {judge: of3, body: contents(gUser(gText) + `,` + gUser(gText) + `,` + gModel(gText) + `,` + gModel(gText) + `,` + gUser(gText) + `,` + gModel(gCall) + `,` + gUser(gResult) + `,` + gUser(gText))},
		"no signatures":              {judge: request("gemini"), body: contents(gUser(gText) + `,` + gModel(gPlain) + `,` + gUser(gListed))},
		"role function":              {judge: request("gemini"), body: contents(gUser(gText) + `,` + gModel(gPlain) + `,{"role":"function","parts":[` + gListed + `]}`)},
		"the alphabet for addresses": {body: `{"contents":[` + gUser(`{"inlineData":{"mimeType":"image/png","data":"a-_="}}`, `{"inlineData":{"mimeType":"image/png","data":"aQ"}}`) + `]}`, judge: of3},
		"underscores":                {judge: of3, body: `{"contents":[` + gUser(`{"inline_data":{"mime_type":"image/png","data":"aQ=="}}`) + `],"system_instruction":{"parts":[{"text":"x"}]},"generation_config":{"max_output_tokens":1}}`},
		"a kept beginning":           {judge: of3, body: contents(gUser(gResult)+`,`+gModel(gCall)+`,`+gUser(gResult), `"cachedContent":"cachedContents/a"`)},
		"an envelope":                {judge: request("gemini"), body: `{"model":"gemini-2.5-pro","project":"p","request":` + contents(gUser(gText)) + `}`},
		"parts not known":            {judge: request("gemini"), body: contents(gUser(`{"hologram":{}}`))},
		"a count":                    {judge: count("gemini"), body: contents(gUser(gText))},
		"a wrapped count":            {judge: count("gemini"), body: `{"generateContentRequest":` + contents(gUser(gText), `"model":"models/gemini-2.5-pro"`) + `}`},
		"a reply":                    {judge: reply("gemini"), body: gReply},
		"a refused prompt":           {judge: reply("gemini"), body: `{"promptFeedback":{"blockReason":"SAFETY"}}`},
		"a stream":                   {judge: stream("gemini"), body: gStream(gMore, gReply, `{"usageMetadata":{"promptTokenCount":1}}`)},
		"a list":                     {judge: stream("gemini"), body: `[` + gMore + ",\r\n" + gReply + `]`},
		"a call in pieces": {judge: stream("gemini"), body: gStream(strings.Replace(gMore, `{"text":"a"}`, `{"functionCall":{"name":"read","willContinue":true}}`, 1),
			strings.Replace(gMore, `{"text":"a"}`, `{"functionCall":{"partialArgs":[],"willContinue":true}}`, 1), strings.Replace(gMore, `{"text":"a"}`, `{"functionCall":{}}`, 1), gReply)},
	})
}

func geminiCases() []ruleCase {
	cases := []ruleCase{
		{rule: "required", name: "contents", body: `{}`, message: "contents is not specified"},
		{rule: "required", name: "name", body: contents(gUser(gText) + `,` + gModel(gCall) + `,` + gUser(`{"functionResponse":{"name":"read"}}`))},
		{rule: "type", name: "args", body: contents(gUser(gText) + `,` + gModel(strings.Replace(gCall, `{}`, `"{}"`, 1)) + `,` + gUser(gResult)), message: "contents[1].parts[0].functionCall.args"},
		{rule: "role", name: "assistant", body: contents(gUser(gText) + `,` + gModel(gText) + `,{"role":"system","parts":[` + gText + `]}`), message: "Please use a valid role: user, model."},
		{rule: "messages-empty", name: "none", body: contents(``), message: "contents is not specified"},
		{rule: "content-empty", name: "no parts", body: contents(gUser()), message: "contents.parts must not be empty"},
		{rule: "first-role", name: "model", body: contents(gModel(gText) + `,` + gUser(gText))},
		{rule: "last-role", name: "model", body: contents(gUser(gText) + `,` + gModel(gText)), message: "ends with a user role or a function response"},
		{rule: "role-order", name: "calls after a text", body: contents(gUser(gText) + `,` + gModel(gText) + `,` + gModel(gCall) + `,` + gUser(gResult)), message: "function call turn comes immediately after a user turn or after a function response turn"},
		{rule: "result-orphan", name: "split responses", body: contents(gUser(gText) + `,` + gModel(gCall) + `,` + gUser(gResult) + `,` + gUser(gResult))},
		{rule: "cached-beside", name: "system prompt", body: contents(gUser(gText), `"cachedContent":"cachedContents/a","systemInstruction":{"parts":[`+gText+`]}`), message: "CachedContent can not be used with"},
		{rule: "image", name: "no base64", body: contents(gUser(`{"inlineData":{"mimeType":"image/png","data":"a!=="}}`))},
		{rule: "media-source", name: "an image", body: contents(gUser(`{"inlineData":{"mimeType":"image/gif","data":"R0lG"}}`)), message: "Unsupported MIME type: image/gif"},
		{rule: "media-source", name: "a file", body: contents(gUser(`{"fileData":{"mimeType":"image/gif","fileUri":"https://ship.example/a.gif"}}`))},
		{rule: "part-data", name: "two", body: contents(gUser(`{"text":"a","inlineData":{"mimeType":"image/png","data":""}}`)), message: "oneof field 'data' is already set"},
		{rule: "part-data", name: "none", body: contents(gUser(`{"thought":true}`)), message: "required oneof field 'data' must have one initialized field"},
		{rule: "call-unanswered", name: "text", body: contents(gUser(gText) + `,` + gModel(gCall) + `,` + gUser(gText))},
		{rule: "call-unanswered", name: "one of two", body: contents(gUser(gText) + `,` + gModel(gCall, gPlain) + `,` + gUser(gResult)), message: "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."},
		{rule: "result-orphan", name: "no call", body: contents(gUser(gText) + `,` + gModel(gText) + `,` + gUser(gResult)), message: "Please ensure that function response turn comes immediately after a function call turn."},
		{rule: "result-name", name: "another", body: contents(gUser(gText) + `,` + gModel(gCall) + `,` + gUser(strings.Replace(gResult, "read", "list", 1)))},
		{rule: "result-id", name: "another", body: contents(gUser(gText) + `,` + gModel(gCall, gPlain) + `,` + gUser(gResult, strings.Replace(gListed, `"1"`, `"2"`, 1)))},
		{rule: "part-role", name: "call of a user", body: contents(gUser(gText) + `,` + gModel(gText) + `,` + gUser(gCall) + `,` + gModel(gText) + `,` + gUser(gText))},
		{rule: "call-unsigned", name: "first", body: contents(gUser(gText) + `,` + gModel(gPlain, gCall) + `,` + gUser(gListed, gResult)), message: "Function call is missing a thought_signature in functionCall parts."},
		{rule: "tool-name", name: "digit first", body: contents(gUser(gText), strings.Replace(gTools, `"read"`, `"1read"`, 1)), message: "tools[0].functionDeclarations[0].name: Invalid function name. Must start with a letter or an underscore."},
		{rule: "tool-name-unique", name: "two", body: contents(gUser(gText), strings.Replace(gTools, `"list"`, `"read"`, 1))},
		{rule: "tool-schema", name: "two schemas", body: contents(gUser(gText), strings.Replace(gTools, `"parameters"`, `"parametersJsonSchema":{},"parameters"`, 1))},
		{rule: "tool-choice", name: "mode", body: contents(gUser(gText), gTools, `"toolConfig":{"functionCallingConfig":{"mode":"SOME"}}`)},
		{rule: "tool-choice", name: "unknown tool", body: contents(gUser(gText), gTools, `"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["write"]}}`)},
		{rule: "value", name: "temperature", body: contents(gUser(gText), `"generationConfig":{"temperature":3}`)},
	}
	for i := range cases {
		cases[i].judge = of3
	}
	// A call of the user's is unanswered as well: nothing can answer it.
	for i, c := range cases {
		if c.name == "call of a user" {
			cases[i].judge = func(body string) []check.Fault {
				faults := of3(body)
				if len(faults) != 2 || faults[0].Rule != "call-unanswered" {
					return nil
				}
				return faults[1:]
			}
		}
	}
	return append(cases,
		ruleCase{rule: "stop-missing", name: "reply", judge: reply("gemini"), body: gMore},
		ruleCase{rule: "role", name: "reply", judge: reply("gemini"), body: strings.Replace(gReply, `"model"`, `"user"`, 1)},
		ruleCase{rule: "required", name: "nothing", judge: stream("gemini"), body: gStream(gReply, `{}`)},
		ruleCase{rule: "required", name: "name of a call", judge: stream("gemini"), body: gStream(strings.Replace(gMore, `{"text":"a"}`, `{"functionCall":{}}`, 1), gReply)},
		ruleCase{rule: "stream-end", name: "cut", judge: stream("gemini"), body: gStream(gMore)},
		ruleCase{rule: "stream-order", name: "text after the reason", judge: stream("gemini"), body: gStream(gReply, gMore)},
		ruleCase{rule: "json", name: "list is cut", judge: stream("gemini"), body: `[` + gReply},
	)
}

// Parallel calls and their responses are refused where they stand in several contents.
func TestGeminiSplitRounds(t *testing.T) {
	for name, body := range map[string]string{
		"calls":          contents(gUser(gText) + `,` + gModel(gCall) + `,` + gModel(gPlain) + `,` + gUser(gResult, gListed)),
		"responses":      contents(gUser(gText) + `,` + gModel(gCall, gPlain) + `,` + gUser(gResult) + `,` + gUser(gListed)),
		"both":           contents(gUser(gText) + `,` + gModel(gCall) + `,` + gModel(gPlain) + `,` + gUser(gResult) + `,` + gUser(gListed)),
		"by model text":  contents(gUser(gText) + `,` + gModel(gCall) + `,` + gModel(gText) + `,` + gUser(gResult)),
		"by user's text": contents(gUser(gText) + `,` + gModel(gCall) + `,` + gUser(gText) + `,` + gUser(gResult)),
	} {
		t.Run(name, func(t *testing.T) {
			if faults := request("gemini")(body); len(faults) == 0 {
				t.Errorf("want a fault, got none\n%s", body)
			}
		})
	}
}

func TestGeminiRules(t *testing.T) { run(t, geminiCases()) }

// chatWith is a request of Ollama's chat with these messages and further members.
func chatWith(messages string, members ...string) string {
	return `{"model":"m","messages":[` + messages + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	oCalls = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]}`
	oLine  = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"a"},"done":false}`
	oEnd   = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}`
)

func TestOllamaGood(t *testing.T) {
	clean(t, map[string]ruleCase{
		"a request": {judge: request("ollama"), body: chatWith(hi+`,`+oCalls+`,{"role":"tool","tool_name":"read","content":"a"},{"role":"user","content":"see","images":["aQ=="]}`,
			`"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`, `"options":{"num_ctx":4096}`, `"stream":false`)},
		"a reply":  {judge: reply("ollama"), body: oEnd},
		"a stream": {judge: stream("ollama"), body: oLine + "\n" + oEnd + "\n"},
		"an error": {judge: stream("ollama"), body: oLine + "\n" + `{"error":"out of memory"}` + "\n"},
	})
}

func ollamaCases() []ruleCase {
	return []ruleCase{
		{rule: "required", name: "model", judge: request("ollama"), body: `{"messages":[]}`, message: "model is required"},
		{rule: "type", name: "arguments", judge: request("ollama"), body: chatWith(strings.Replace(oCalls, `{"path":"a"}`, `"{}"`, 1)), message: "json: cannot unmarshal string into Go struct field ChatRequest.messages[0].tool_calls[0].function.arguments"},
		{rule: "type", name: "content parts", judge: request("ollama"), body: chatWith(user(gText)), message: "json: cannot unmarshal"},
		{rule: "role", name: "developer", judge: request("ollama"), body: chatWith(`{"role":"developer","content":"x"}`)},
		{rule: "image", name: "data URL", judge: request("ollama"), body: chatWith(`{"role":"user","content":"x","images":["data:image/png;base64,aQ=="]}`)},
		{rule: "stream-end", name: "reply that is not done", judge: reply("ollama"), body: oLine},
		{rule: "stream-end", name: "cut", judge: stream("ollama"), body: oLine + "\n"},
		{rule: "stream-end", name: "more after the end", judge: stream("ollama"), body: oEnd + "\n" + oLine + "\n"},
		{rule: "required", name: "created_at", judge: stream("ollama"), body: strings.Replace(oEnd, `"created_at":"2026-01-01T00:00:00Z",`, "", 1)},
		{rule: "role", name: "reply of a user", judge: reply("ollama"), body: strings.Replace(oEnd, "assistant", "user", 1)},
	}
}

func TestOllamaRules(t *testing.T) { run(t, ollamaCases()) }
