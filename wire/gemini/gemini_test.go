package gemini

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestDecodeRequest(t *testing.T) {
	r := codectest.Decoded(t, Codec{}, []byte(toolBody))
	first, second := r.Messages[1].Calls()[0].CallID, r.Messages[1].Calls()[1].CallID
	if first == second || first == "" || !strings.HasPrefix(first, "call_") {
		t.Fatalf("want two derived ids, got %q and %q", first, second)
	}
	want := llm.Request{
		Dialect:   Dialect,
		MaxOutput: 100,
		Settings:  llm.Settings{Temperature: "1.0", Stop: []string{"a", "b"}, Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}},
		Sections:  []llm.Section{{Name: "system 1", Text: "be", Cacheable: true}, {Name: "system 2", Text: "brief", Cacheable: true}},
		Tools: []llm.Tool{
			{Name: "f", Description: "d", Schema: `{"type":"object","properties":{"x":{"type":"number"}}}`},
			{Name: "g"},
			{Name: "codeExecution"},
			{Name: "googleSearch"},
		},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "look"}, llm.Media{Type: "image/png", Size: 4}}},
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
				llm.Thinking{Text: "hm", Signature: "c2ln"},
				llm.ToolCall{CallID: first, Name: "f", Args: `{"x" : 1.0e+3}`},
				llm.ToolCall{CallID: second, Name: "f", Args: `{}`},
				llm.ToolCall{CallID: "own", Name: "g", Args: `{}`},
			}},
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: first, Content: []llm.Part{llm.Text{Text: "one"}}},
				llm.ToolResult{CallID: "own", Content: []llm.Part{llm.Text{Text: `{"a":[1],"b":null}`}}},
				llm.ToolResult{CallID: second, IsError: true, Content: []llm.Part{llm.Text{Text: "no"}, llm.Media{Type: "image/png", Size: 4}}},
			}},
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
				llm.Text{Text: "so"}, llm.Opaque{Kind: "executableCode"}, llm.Opaque{Kind: "codeExecutionResult"}, llm.Text{},
			}},
			{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go on"}}},
			{Role: llm.RoleAssistant, Origin: llm.Model},
			{Role: llm.RoleUser, Origin: llm.Note},
		},
	}
	got := r
	got.Frame = llm.Frame{}
	for i := range got.Messages {
		if got.Messages[i].Dialect != Dialect || got.Messages[i].Envelope.Raw == nil {
			t.Errorf("message %d has no envelope", i)
		}
		got.Messages[i].Dialect, got.Messages[i].Envelope = "", llm.Envelope{}
	}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
	t.Run("wrapped", func(t *testing.T) {
		w := codectest.Decoded(t, Codec{}, []byte(oddBodies()[6]))
		if w.Model != "gemini-x" || len(w.Messages) != 7 || len(w.Tools) != 4 || w.MaxOutput != 100 {
			t.Errorf("got %+v", w)
		}
	})
}

func TestDecodeRequestErrors(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"not JSON", `{"contents":`, "want one JSON value"},
		{"no object", `[]`, "want an object, got array"},
		{"no contents", `{}`, "contents (byte 0), want an array, got nothing"},
		{"contents", `{"contents":"a"}`, "contents (byte 12), want an array, got string"},
		{"message", `{"contents":[1]}`, "contents[0] (byte 13), want an object, got number"},
		{"role", `{"contents":[{"role":"assistant","parts":[]}]}`, `contents[0].role (byte 21), want user, model or function, got "assistant"`},
		{"parts", `{"contents":[{"parts":"a"}]}`, "contents[0].parts (byte 22), want an array, got string"},
		{"part", `{"contents":[{"parts":["a"]}]}`, "contents[0].parts[0] (byte 23), want an object, got string"},
		{"system", `{"contents":[],"systemInstruction":[]}`, "systemInstruction (byte 35), want an object, got array"},
		{"tools", `{"contents":[],"tools":"a"}`, "tools (byte 23), want an array, got string"},
		{"wrapped", `{"request":{"contents":5}}`, "request.contents (byte 23), want an array, got number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := DecodeRequest([]byte(test.body)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}

func TestEditsKeepWhatIsNotTheirs(t *testing.T) {
	tests := []struct {
		name, message string
		part          int
		edit          func(llm.Part) llm.Part
		want          string
	}{
		{"output", `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{ "output" : "long" }},"k":1}]}`, 0, codectest.Stubbed, `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{ "output" : "see <r>" }},"k":1}]}`},
		{"error stays one", `{"parts":[{"functionResponse":{"name":"f","response":{"error":"long"}}}]}`, 0, codectest.Stubbed, `{"parts":[{"functionResponse":{"name":"f","response":{"error":"see <r>"}}}]}`},
		{"whole object", `{"parts":[{"function_response":{"name":"f","response":{"rows":[1,2],"n":2}}}]}`, 0, codectest.Stubbed, `{"parts":[{"function_response":{"name":"f","response":{"output":"see <r>"}}}]}`},
		{"media go", `{"parts":[{"functionResponse":{"name":"f","response":{"output":"a"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}]}`, 0, codectest.Stubbed, `{"parts":[{"functionResponse":{"name":"f","response":{"output":"see <r>"}}}]}`},
		{"media stay", `{"parts":[{"functionResponse":{"name":"f","response":{"output":"a"},"parts":[ {"inlineData":{"mimeType":"image/png","data":"QUJD"}} ]}}]}`, 0, func(p llm.Part) llm.Part {
			r := p.(llm.ToolResult)
			return r.WithContent(llm.Text{Text: "b"}, r.Content[1])
		}, `{"parts":[{"functionResponse":{"name":"f","response":{"output":"b"},"parts":[ {"inlineData":{"mimeType":"image/png","data":"QUJD"}} ]}}]}`},
		{"text with a signature", `{"role":"model","parts":[{"thoughtSignature":"cw==","text":"old"}]}`, 0, codectest.Retold("new"), `{"role":"model","parts":[{"thoughtSignature":"cw==","text":"new"}]}`},
		{"one of two calls", `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"cw=="}, {"functionCall":{"name":"g"}}]}`, 0, codectest.Rearmed(`{"x":1}`), `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"cw=="}, {"functionCall":{"name":"g"}}]}`},
		{"text that is gone", `{"role":"model","k":1,"parts":[{"text":"t"}, {"functionCall":{"name": "g"}}]}`, 0, codectest.Retold(""), `{"role":"model","k":1,"parts":[{"functionCall":{"name": "g"}}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := `{"contents":[{"role":"user","parts":[{"text":"a"}]}, `
			r := codectest.Decoded(t, Codec{}, []byte(before+test.message+`]}`))
			r.Messages[1] = codectest.With(r.Messages[1], test.part, test.edit)
			if got, err := EncodeRequest(r); err != nil || string(got) != before+test.want+`]}` {
				t.Errorf("want %s\ngot  %s, %v", before+test.want+`]}`, got, err)
			}
		})
	}
}

func TestFrameEdits(t *testing.T) {
	base := func() llm.Request { return codectest.Decoded(t, Codec{}, []byte(toolBody)) }
	tests := []struct {
		name     string
		edit     func(*llm.Request)
		old, new string // what is replaced in the body
	}{
		{"output limit", func(r *llm.Request) { r.MaxOutput = 7 }, `"max_output_tokens":100`, `"max_output_tokens":7`},
		{"no output limit is the body's", func(r *llm.Request) { r.MaxOutput = 0 }, ``, ``},
		{"no temperature", func(r *llm.Request) { r.Settings.Temperature = "" }, `"temperature":1.0,`, ``},
		{"no stops", func(r *llm.Request) { r.Settings.Stop = nil }, `,"stopSequences":["a","b"]`, ``},
		{"no choice", func(r *llm.Request) { r.Settings.Choice = llm.Choice{} }, `,"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}}`, ``},
		{"a setting more is spelled as the others are", func(r *llm.Request) { r.Settings.TopP = "0.5" }, `"stopSequences":["a","b"]}`, `"stopSequences":["a","b"],"top_p":0.5}`},
		{"temperature", func(r *llm.Request) { r.Settings.Temperature = "0" }, `"temperature":1.0`, `"temperature":0`},
		{"stop", func(r *llm.Request) { r.Settings.Stop = []string{"c"} }, `"stopSequences":["a","b"]`, `"stopSequences":["c"]`},
		{"choice", func(r *llm.Request) { r.Settings.Choice = llm.Choice{Mode: llm.ChoiceAuto} }, `{"mode":"ANY","allowed_function_names":["f"]}`, `{"mode":"AUTO"}`},
		{"another tool", func(r *llm.Request) { r.Settings.Choice.Tool = "g" }, `"allowed_function_names":["f"]`, `"allowed_function_names":["g"]`},
		{"a section", func(r *llm.Request) { r.Sections[1].Text, r.Sections[1].Raw = "long", r.Sections[1].Edited() }, `{"text":"brief","k":1}`, `{"text":"long","k":1}`},
		{"a section more", func(r *llm.Request) { r.Sections = append(r.Sections, llm.Section{Text: "x"}) }, `{"text":"brief","k":1}`, `{"text":"brief","k":1} , {"text":"x"}`},
		{"a section less", func(r *llm.Request) { r.Sections = r.Sections[:1] }, ` , {"text":"brief","k":1}`, ``},
		{"no system", func(r *llm.Request) { r.Sections = nil }, `"system_instruction":{"parts":[{"text":"be"} , {"text":"brief","k":1}],"role":"user"},` + "\n", ``},
		{"a tool described anew", func(r *llm.Request) {
			r.Tools[0].Description, r.Tools[0].Raw = "new", r.Tools[0].Edited()
		}, `"description":"d"`, `"description":"new"`},
		{"a tool with another schema", func(r *llm.Request) {
			r.Tools[0].Schema, r.Tools[0].Raw = `{"type":"object"}`, r.Tools[0].Edited()
		}, `{"type":"OBJECT","properties":{"x":{"type":"NUMBER"}}}`, `{"type":"object"}`},
		{"a declaration less", func(r *llm.Request) { r.Tools = append(r.Tools[:1:1], r.Tools[2:]...) }, `, {"name":"g"}`, ``},
		{"a declaration more", func(r *llm.Request) {
			r.Tools = append(r.Tools, llm.Tool{Name: "h", Description: "d", Schema: `{"type":"object"}`})
		}, `{"name":"g"}`, `{"name":"g"}, {"name":"h","description":"d","parametersJsonSchema":{"type":"object"}}`},
		{"no declarations", func(r *llm.Request) { r.Tools = r.Tools[2:] }, `"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"x":{"type":"NUMBER"}}}}, {"name":"g"}],`, ``},
		{"a hosted tool less", func(r *llm.Request) { r.Tools = append(r.Tools[:2:2], r.Tools[3:]...) }, `,"codeExecution":{}`, ``},
		{"an element less", func(r *llm.Request) { r.Tools = r.Tools[:3] }, `,{"googleSearch":{}}`, ``},
	}
	for _, wrap := range []struct{ name, before, after string }{{"plain", "", ""}, {"wrapped", `{"model":"m", "request":`, ` }`}} {
		for _, test := range tests {
			t.Run(wrap.name+"/"+test.name, func(t *testing.T) {
				r := codectest.Decoded(t, Codec{}, []byte(wrap.before+toolBody+wrap.after))
				test.edit(&r)
				want := wrap.before + strings.Replace(toolBody, test.old, test.new, 1) + wrap.after
				if got, err := EncodeRequest(r); err != nil || string(got) != want {
					t.Errorf("want %s\ngot  %s, %v", want, got, err)
				}
			})
		}
	}
	t.Run("two spellings", func(t *testing.T) {
		set := func(r *llm.Request) {
			r.MaxOutput, r.Settings.TopP, r.Settings.Choice = 7, "0.5", llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}
		}
		tests := []struct {
			name, body string
			edit       func(*llm.Request)
			want       string
		}{
			{"another model alone", `{"model":"a","contents":[],"generationConfig":null,"generation_config":{"maxOutputTokens":5,"temperature":1}}`, func(r *llm.Request) { r.Model = "b" }, `{"model":"b","contents":[],"generationConfig":null,"generation_config":{"maxOutputTokens":5,"temperature":1}}`},
			{"null in front", `{"contents":[],"generationConfig":null,"generation_config":{"maxOutputTokens":5,"temperature":1}}`, func(r *llm.Request) { r.MaxOutput = 6 }, `{"contents":[],"generationConfig":null,"generation_config":{"maxOutputTokens":6,"temperature":1}}`},
			{"null behind", `{"contents":[],"generation_config":{"temperature":1},"generationConfig":null}`, func(r *llm.Request) { r.Settings.Temperature = "" }, `{"contents":[],"generation_config":{},"generationConfig":null}`},
			{"null beside a limit", `{"contents":[],"generation_config":{"maxOutputTokens":null,"max_output_tokens":5}}`, func(r *llm.Request) { r.MaxOutput = 6 }, `{"contents":[],"generation_config":{"maxOutputTokens":null,"max_output_tokens":6}}`},
			{"a system instruction behind null", `{"contents":[],"systemInstruction":null,"system_instruction":{"parts":[{"text":"s"}]}}`, func(r *llm.Request) { r.Sections = nil }, `{"contents":[],"systemInstruction":null}`},
			{"a system instruction before null", `{"contents":[],"system_instruction":{"parts":[{"text":"s"}]},"systemInstruction":null}`, func(r *llm.Request) { r.Sections = nil }, `{"contents":[],"systemInstruction":null}`},
			{"added to underscores", `{"cached_content":"c","contents":[]}`, set, `{"cached_content":"c","contents":[],"generation_config":{"max_output_tokens":7,"top_p":0.5},"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}}}`},
			{"added to capitals", `{"cachedContent":"c","contents":[],"generationConfig":{"temperature":1}}`, set, `{"cachedContent":"c","contents":[],"generationConfig":{"temperature":1,"maxOutputTokens":7,"topP":0.5},"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`},
			{"a system instruction added to underscores", `{"generation_config":{},"contents":[]}`, func(r *llm.Request) { r.Sections = []llm.Section{{Text: "s"}} }, `{"generation_config":{},"contents":[],"system_instruction":{"parts":[{"text":"s"}]}}`},
			{"what else the tool configuration says stays", `{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"},"retrievalConfig":{}}}`, func(r *llm.Request) { r.Settings.Choice = llm.Choice{} }, `{"contents":[],"toolConfig":{"retrievalConfig":{}}}`},
		}
		for _, test := range tests {
			r := codectest.Decoded(t, Codec{}, []byte(test.body))
			if got, err := EncodeRequest(r); err != nil || string(got) != test.body {
				t.Errorf("%s: want it as it came, got %s, %v", test.name, got, err)
			}
			test.edit(&r)
			if got, err := EncodeRequest(r); err != nil || string(got) != test.want {
				t.Errorf("%s:\nwant %s\ngot  %s, %v", test.name, test.want, got, err)
			}
		}
	})
	t.Run("the model is written where it is", func(t *testing.T) {
		for body, want := range map[string]string{
			`{"model":"a","request":{"contents":[]}}`:                `{"model":"b","request":{"contents":[]}}`,
			`{"generateContentRequest":{"model":"a","contents":[]}}`: `{"generateContentRequest":{"model":"b","contents":[]}}`,
			`{"contents":[]}`:             `{"contents":[]}`,
			`{"contents":[],"model":"a"}`: `{"contents":[],"model":"b"}`,
		} {
			r := codectest.Decoded(t, Codec{}, []byte(body))
			r.Model = "b"
			if got, err := EncodeRequest(r); err != nil || string(got) != want {
				t.Errorf("want %s, got %s, %v", want, got, err)
			}
		}
	})
	t.Run("a frame that is none", func(t *testing.T) {
		r := base()
		r.Frame.Messages = llm.Span{Start: 3, End: 9}
		if _, err := EncodeRequest(r); err == nil {
			t.Error("want an error")
		}
	})
}

// otherDialect is a conversation in a dialect that this package does not know.
func otherDialect() llm.Request {
	return llm.Request{
		Model: "m", MaxOutput: 9, Dialect: "other", Frame: llm.Frame{Raw: []byte(`{"messages":[]}`)},
		Settings: llm.Settings{Temperature: "0.5", TopP: "1", Stop: []string{"x"}, Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}, DropBrokenThinking: true},
		Sections: []llm.Section{{Text: "one"}, {Tokens: 500}, {Text: "two"}},
		Tools:    []llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object"}`, Raw: codectest.RawOf(`{"name":"f"}`)}, {Name: "g"}},
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "rules"}}},
			{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{
				llm.Text{Text: "look", Raw: codectest.RawOf(`{"type":"text","text":"look"}`)},
				llm.Media{Type: "image/png", Raw: codectest.RawOf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`)},
				llm.Media{Type: "image/*", Raw: codectest.RawOf(`{"type":"image_url","image_url":{"url":"https://h/i.jpg?x=1"}}`)},
				llm.Media{Type: "image/*", Raw: codectest.RawOf(`{"type":"input_image","file_id":"f1"}`)},
			}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{
				llm.Thinking{Text: "hm", Signature: "s", Raw: codectest.RawOf(`{"type":"thinking"}`)},
				llm.Text{Text: "ok"},
				llm.Opaque{Kind: "x", Raw: codectest.RawOf(`{"type":"x"}`)},
				llm.ToolCall{CallID: "h", Name: "web_search", Hosted: true},
				llm.ToolCall{CallID: "a", Name: "f", Args: `{"k":1}`},
				llm.ToolCall{CallID: "b", Name: "patch", Args: "***", Custom: true},
			}},
			{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "note"}}},
			{Role: llm.RoleTool, Dialect: "other", Parts: []llm.Part{llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "out"}, llm.Media{Type: "image/png", Raw: codectest.RawOf(`{"type":"input_image","image_url":"data:image/png;base64,QUJD"}`)}}}}},
			{Role: llm.RoleTool, Dialect: "other", Parts: []llm.Part{llm.ToolResult{CallID: "b", IsError: true, Content: []llm.Part{llm.Stub{Text: "bad"}}}}},
			{Role: llm.RoleSystem, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "later"}}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{llm.Text{}}},
		},
	}
}

func TestEncodeOtherDialect(t *testing.T) {
	got, err := EncodeRequest(otherDialect())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"systemInstruction":{"parts":[{"text":"one"},{"text":"two"},{"text":"rules"}]},"contents":[` +
		`{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"fileData":{"mimeType":"image/jpeg","fileUri":"https://h/i.jpg?x=1"}},{"text":"[image left out: it cannot be sent to this provider]"}]},` +
		`{"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"a","name":"f","args":{"k":1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"patch","args":{"input":"***"}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"out"}}},{"functionResponse":{"id":"b","name":"patch","response":{"error":"bad"}}},{"text":"note"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"text":"later"}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}},{"name":"g"}]}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},` +
		`"generationConfig":{"maxOutputTokens":9,"temperature":0.5,"topP":1,"stopSequences":["x"]}}`
	if string(got) != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

func TestResultsMadeHere(t *testing.T) {
	body := `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"id":"own","name":"g"}}]}]}`
	r := codectest.Decoded(t, Codec{}, []byte(body))
	calls := r.Messages[1].Calls()
	for _, c := range calls {
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: c.CallID, Content: []llm.Part{llm.Text{Text: "out"}}},
		}})
	}
	got, err := EncodeRequest(r)
	want := strings.TrimSuffix(body, `]}`) + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"out"}}},{"functionResponse":{"id":"own","name":"g","response":{"output":"out"}}}]}]}`
	if err != nil || string(got) != want {
		t.Fatalf("want %s\ngot  %s, %v", want, got, err)
	}
	again := codectest.Decoded(t, Codec{}, got)
	for i, x := range again.Messages[2].Results() {
		if x.CallID != calls[i].CallID {
			t.Errorf("want result of %q, got %q", calls[i].CallID, x.CallID)
		}
	}
}

func TestListThatWouldBeginWithTheModel(t *testing.T) {
	r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}]}`))
	r.Messages = r.Messages[1:]
	got, err := EncodeRequest(r)
	if err != nil || !strings.HasPrefix(string(got), `{"contents":[{"role":"user","parts":[{"text":"(The`) || !strings.HasSuffix(string(got), `{"role":"model","parts":[{"text":"b"}]}]}`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestCallIDs(t *testing.T) {
	call := func(name, args, signature string) string {
		if signature != "" {
			signature = `,"thoughtSignature":"` + signature + `"`
		}
		return `{"functionCall":{"name":"` + name + `","args":` + args + `}` + signature + `}`
	}
	ids := func(parts ...string) []string {
		r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[{"role":"model","parts":[`+strings.Join(parts, ",")+`]}]}`))
		var out []string
		for _, c := range r.Messages[0].Calls() {
			out = append(out, c.CallID)
		}
		return out
	}
	a := ids(call("f", `{"x":1}`, "czE="), call("f", `{"x":1}`, ""))
	b := ids(call("f", `{"x":1}`, "czI="), call("f", `{"x":1}`, ""))
	if a[0] == a[1] || a[0] == b[0] || a[1] == b[1] {
		t.Errorf("want ids that differ by place and signature, got %v %v", a, b)
	}
	if again := ids(call("f", `{"x": 1}`, "czE="), call("f", `{}`, "")); again[0] != a[0] || again[1] != a[1] {
		t.Errorf("want ids that do not hang on how signed arguments are spelled, got %v and %v", a, again)
	}
	if again := ids(call(`\u0066`, `{"x":1}`, "czE"), call("f", `{}`, "")); again[0] != a[0] || again[1] != a[1] {
		t.Errorf("want ids that do not hang on how names and signatures are spelled, got %v and %v", a, again)
	}
	unsigned := ids(call("f", `{"x":1,"y":"<"}`, ""))[0]
	if again := ids(call("f", `{ "y": "\u003c", "x": 1.0 }`, ""))[0]; again != unsigned {
		t.Errorf("want an id that does not hang on how arguments are spelled, got %v and %v", unsigned, again)
	}
	if x, y := ids(call("f", `{"x":1}`, ""))[0], ids(call("f", `{"x":2}`, ""))[0]; x == y {
		t.Error("want ids that differ by arguments where there is no signature")
	}
}

func TestPairing(t *testing.T) {
	calls := `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"g"}},{"functionCall":{"name":"f","args":{"n":2}}}]}`
	tests := []struct {
		name    string
		results []string // the functionResponse objects
		want    []int    // the call of each; -1 for none
	}{
		{"in order", []string{`{"name":"f"}`, `{"name":"g"}`, `{"name":"f"}`}, []int{0, 1, 2}},
		{"in another order", []string{`{"name":"g"}`, `{"name":"f"}`, `{"name":"f"}`}, []int{1, 0, 2}},
		{"ids that the client made up", []string{`{"name":"f","id":"f-1"}`, `{"name":"f","id":"f-2"}`}, []int{0, 2}},
		{"no such call", []string{`{"name":"h"}`, `{"name":"h"}`}, []int{-1, -1}},
		{"one too many", []string{`{"name":"g"}`, `{"name":"g"}`}, []int{1, -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var parts []string
			for _, r := range test.results {
				parts = append(parts, `{"functionResponse":`+r+`}`)
			}
			r := codectest.Decoded(t, Codec{}, []byte(`{"contents":[`+calls+`,{"parts":[`+strings.Join(parts, ",")+`]}]}`))
			ids := map[string]int{}
			for i, c := range r.Messages[0].Calls() {
				ids[c.CallID] = i
			}
			seen := map[string]bool{}
			for i, x := range r.Messages[1].Results() {
				call, ok := ids[x.CallID]
				if !ok {
					call = -1
				}
				if call != test.want[i] || seen[x.CallID] || x.CallID == "" {
					t.Errorf("result %d: want call %d, got %d (%q)", i, test.want[i], call, x.CallID)
				}
				seen[x.CallID] = true
			}
		})
	}
}
