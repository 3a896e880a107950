package ollama

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestDecodeRequest(t *testing.T) {
	got := codectest.Decoded(t, Codec{}, []byte(toolBody))
	first, third := got.Messages[2].Calls()[0].CallID, got.Messages[2].Calls()[2].CallID
	if first == third || !strings.HasPrefix(first, "call_") {
		t.Fatalf("want two derived ids, got %q and %q", first, third)
	}
	want := llm.Request{
		Model: "m", MaxOutput: 100, Dialect: Dialect,
		Settings: llm.Settings{Temperature: "0.50", Stop: []string{"x"}},
		Tools:    []llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object","properties":{}}`}, {Name: "g"}},
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "be brief"}}},
			{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "look!"}, llm.Media{Type: "image/png", Size: 12}, llm.Media{Type: "image/*", Size: 4}}},
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
				llm.Thinking{Text: "hm"},
				llm.ToolCall{CallID: first, Name: "f", Args: `{"x" : 1.0e+3}`},
				llm.ToolCall{CallID: "own", Name: "g", Args: `{}`},
				llm.ToolCall{CallID: third, Name: "f", Args: `{}`},
			}},
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: first, Content: []llm.Part{llm.Text{Text: "one"}}}}},
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "own", Content: []llm.Part{llm.Text{Text: "two"}}}}},
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: third}}},
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "so"}}},
			{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go on"}}},
		},
	}
	got.Frame = llm.Frame{}
	for i := range got.Messages {
		got.Messages[i].Dialect, got.Messages[i].Envelope = "", llm.Envelope{}
	}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !codectest.Decoded(t, Codec{}, []byte(`{"messages":[]}`)).Settings.Stream {
		t.Error("want a stream where the body does not say")
	}
}

func TestDecodeRequestErrors(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"not JSON", `{"messages":`, "want one JSON value"},
		{"no messages", `{}`, "messages (byte 0), want an array, got nothing"},
		{"message", `{"messages":[1]}`, "messages[0] (byte 13), want an object, got number"},
		{"role", `{"messages":[{"role":"model","content":"a"}]}`, `messages[0].role (byte 13), want system, user, assistant or tool, got "model"`},
		{"content", `{"messages":[{"role":"user","content":[]}]}`, "messages[0].content (byte 38), want a string, got array"},
		{"images", `{"messages":[{"role":"user","images":[{}]}]}`, "messages[0].images[0] (byte 38), want a string, got object"},
		{"calls", `{"messages":[{"role":"assistant","tool_calls":{}}]}`, "messages[0].tool_calls (byte 46), want an array, got object"},
		{"result without content", `{"messages":[{"role":"tool"}]}`, "messages[0].content (byte 13), want a string, got nothing"},
		{"tools", `{"messages":[],"tools":{}}`, "tools (byte 23), want an array, got object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := DecodeRequest([]byte(test.body)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}

func TestFrameEdits(t *testing.T) {
	tests := []struct {
		name     string
		edit     func(*llm.Request)
		old, new string // what is replaced in the body
	}{
		{"model", func(r *llm.Request) { r.Model = "n" }, `"model":"m"`, `"model":"n"`},
		{"output limit", func(r *llm.Request) { r.MaxOutput = 7 }, `"num_predict":100`, `"num_predict":7`},
		{"no output limit and no model are the body's", func(r *llm.Request) { r.MaxOutput, r.Model = 0, "" }, ``, ``},
		{"settings cleared", func(r *llm.Request) { r.Settings = llm.Settings{} }, `"temperature":0.50,"num_predict":100,"stop":["x"]`, `"num_predict":100`},
		{"temperature", func(r *llm.Request) { r.Settings.Temperature = "0" }, `"temperature":0.50`, `"temperature":0`},
		{"top_p", func(r *llm.Request) { r.Settings.TopP = "0.9" }, `"stop":["x"]`, `"stop":["x"],"top_p":0.9`},
		{"stream", func(r *llm.Request) { r.Settings.Stream = true }, `"stream":false`, `"stream":true`},
		{"a section", func(r *llm.Request) { r.Sections = []llm.Section{{Text: "x"}, {Tokens: 5}, {Text: "y"}} }, `"be brief"}`, `"be brief"}, {"role":"system","content":"x\n\ny"}`},
		{"a tool described anew", func(r *llm.Request) { r.Tools[0].Description, r.Tools[0].Raw = "new", r.Tools[0].Edited() }, `"description":"d"`, `"description":"new"`},
		{"a tool less", func(r *llm.Request) { r.Tools = r.Tools[:1] }, `, {"type":"function","function":{"name":"g"}}`, ``},
		{"an image less", func(r *llm.Request) {
			m := r.Messages[1]
			r.Messages[1] = m.WithParts(m.Parts[:2])
		}, `{"content":"look\u0021","images":["iVBORw0KGgo=" , "QUJD"],"role":"user"}`, `{"role":"user","content":"look\u0021","images":["iVBORw0KGgo="]}`},
		{"a result with an image", func(r *llm.Request) {
			r.Messages[4] = codectest.With(r.Messages[4], 0, func(p llm.Part) llm.Part {
				return p.(llm.ToolResult).WithContent(llm.Text{Text: "x"}, llm.Media{Type: "image/png", Raw: codectest.RawOf(`"QUJD"`)})
			})
		}, `{"role":"tool","tool_call_id":"own","content":"two","k":1}`, `{"role":"tool","content":"x","images":["QUJD"],"tool_name":"g","tool_call_id":"own"}`},
	}
	t.Run("no stream where the body says nothing", func(t *testing.T) {
		r := codectest.Decoded(t, Codec{}, []byte(`{"messages":[]}`))
		r.Settings.Stream = false
		if got, err := EncodeRequest(r); err != nil || string(got) != `{"messages":[],"stream":false}` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := codectest.Decoded(t, Codec{}, []byte(toolBody))
			test.edit(&r)
			want := strings.Replace(toolBody, test.old, test.new, 1)
			if got, err := EncodeRequest(r); err != nil || string(got) != want {
				t.Errorf("want %s\ngot  %s, %v", want, got, err)
			}
		})
	}
}

func TestEncodeOtherDialect(t *testing.T) {
	r := llm.Request{
		Model: "m", MaxOutput: 9, Dialect: "other", Frame: llm.Frame{Raw: []byte(`{"messages":[]}`)},
		Settings: llm.Settings{Stream: true, Stop: []string{"x"}, Choice: llm.Choice{Mode: llm.ChoiceAny}},
		Sections: []llm.Section{{Text: "one"}},
		Tools:    []llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object"}`, Raw: codectest.RawOf(`{"name":"f"}`)}, {Name: "g"}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{
				llm.Text{Text: "look", Raw: codectest.RawOf(`{"type":"text","text":"look"}`)},
				llm.Text{Text: "here"},
				llm.Media{Type: "image/png", Raw: codectest.RawOf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`)},
				llm.Media{Type: "image/*", Raw: codectest.RawOf(`{"type":"image_url","image_url":{"url":"https://h/i.jpg"}}`)},
			}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{
				llm.Thinking{Text: "hm", Signature: "s", Raw: codectest.RawOf(`{"type":"thinking"}`)},
				llm.Opaque{Kind: "x", Raw: codectest.RawOf(`{"type":"x"}`)},
				llm.ToolCall{CallID: "h", Name: "web_search", Hosted: true},
				llm.ToolCall{CallID: "a", Name: "f", Args: `{"k":1}`},
				llm.ToolCall{CallID: "b", Name: "patch", Args: "***", Custom: true},
			}},
			{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "note"}}},
			{Role: llm.RoleTool, Dialect: "other", Parts: []llm.Part{
				llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "out"}}}, llm.ToolResult{CallID: "b", IsError: true, Content: []llm.Part{llm.Stub{Text: "bad"}}},
			}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{llm.Text{}}},
		},
	}
	want := `{"model":"m","tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"one"},{"role":"user","content":"look\nhere\n[image left out: it cannot be sent to this provider]","images":["QUJD"]},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"index":0,"name":"f","arguments":{"k":1}}},{"id":"b","function":{"index":1,"name":"patch","arguments":{"input":"***"}}}]},` +
		`{"role":"tool","content":"out","tool_name":"f","tool_call_id":"a"},{"role":"tool","content":"bad","tool_name":"patch","tool_call_id":"b"},{"role":"user","content":"note"}],` +
		`"options":{"num_predict":9,"stop":["x"]},"stream":true,"truncate":false,"shift":false}`
	if got, err := EncodeRequest(r); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestResultsMadeHere(t *testing.T) {
	body := `{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"id":"own","function":{"name":"g","arguments":{}}}]}]}`
	r := codectest.Decoded(t, Codec{}, []byte(body))
	for _, c := range r.Messages[0].Calls() {
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{llm.ToolResult{CallID: c.CallID, Content: []llm.Part{llm.Text{Text: "out"}}}}})
	}
	want := strings.TrimSuffix(body, `]}`) + `,{"role":"tool","content":"out","tool_name":"f"},{"role":"tool","content":"out","tool_name":"g","tool_call_id":"own"}]}`
	if got, err := EncodeRequest(r); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestDecodeError(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   wire.Error
	}{
		{"too long, runner", 400, `{"error":"the input length exceeds the context length"}`, wire.Error{Class: wire.TooLong}},
		{"too long, embeddings", 500, `{"error":"input after truncation exceeds maximum context length"}`, wire.Error{Class: wire.TooLong}},
		{"too long, with figures", 400, `{"error":"request (20001 tokens) exceeds the available context size (8192 tokens), try increasing it"}`, wire.Error{Class: wire.TooLong, Used: 20001, Window: 8192}},
		{"too long, llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`, wire.Error{Class: wire.TooLong, Used: 14429, Window: 8192, Type: "exceed_context_size_error"}},
		{"cannot shift", 500, `{"error":"unable to shift context - keep exceeds context (keep: 9000 context: 4096)"}`, wire.Error{Class: wire.TooLong, Window: 4096}},
		{"a wrong option", 500, `{"error":"option \"num_ctx\" must be of type integer"}`, wire.Error{Class: wire.BadRequest}},
		{"a wrong format", 500, `{"error":"invalid format: \"\\\"yaml\\\"\"; expected \"json\" or a valid JSON Schema object"}`, wire.Error{Class: wire.BadRequest}},
		{"no model", 404, `{"error":"model 'x' not found"}`, wire.Error{Class: wire.NotFound}},
		{"busy", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, wire.Error{Class: wire.Overloaded}},
		{"not signed in", 401, `{"error":"unauthorized","signin_url":"https://h"}`, wire.Error{Class: wire.Auth}},
		{"no tools", 400, `{"error":"registry.ollama.ai/library/x does not support tools"}`, wire.Error{Class: wire.BadRequest}},
		{"no memory", 500, `{"error":"model requires more system memory (9 GiB) than is available (4 GiB)"}`, wire.Error{Class: wire.ServerFault}},
		{"inside a stream", 0, `{"error":"an error was encountered while running the model: EOF"}`, wire.Error{Class: wire.ServerFault}},
		{"inside a stream, too long", 0, `{"error":"the input length exceeds the context length","status":400}`, wire.Error{Class: wire.TooLong}},
		{"inside a stream, with a status", 0, `{"error":"m","status":503}`, wire.Error{Class: wire.Overloaded}},
		{"a gateway's page", 502, `<html>`, wire.Error{Class: wire.ServerFault}},
		{"text", 404, `404 page not found`, wire.Error{Class: wire.NotFound}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := *DecodeError(test.status, []byte(test.body))
			if got.Status != test.status || string(got.Body) != test.body || got.Message == "" && test.body[0] != '<' {
				t.Errorf("got %+v", got)
			}
			got.Status, got.Body, got.Message = 0, nil, ""
			if d := codectest.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEncodeError(t *testing.T) {
	body := `{"error":"model 'x' not found"}`
	if status, got := EncodeError(DecodeError(404, []byte(body))); status != 404 || string(got) != body {
		t.Errorf("got %d %s", status, got)
	}
	for class := wire.TooLong; class <= wire.ServerFault; class++ {
		status, body := EncodeError(&wire.Error{Class: class, Message: "m", Used: 9, Window: 8})
		got := DecodeError(status, body)
		if class != wire.BadThinking && got.Class != class {
			t.Errorf("want %v, got %v from %d %s", class, got.Class, status, body)
		}
		if class == wire.TooLong && (got.Used != 9 || got.Window != 8) {
			t.Errorf("got %d of %d", got.Used, got.Window)
		}
	}
}

func TestDecodeShow(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       int
	}{
		{"made for", `{"parameters":"stop \"<x>\"","model_info":{"general.architecture":"llama","llama.block_count":3,"llama.context_length":131072}}`, 4096},
		{"made for less", `{"model_info":{"llama.context_length":2048}}`, 2048},
		{"set", `{"parameters":"temperature 0.7\nnum_ctx                        8192\n","model_info":{"llama.context_length":131072}}`, 8192},
		{"neither", `{"model_info":{"llama.context_length":null}}`, 0},
		{"no reply", `[]`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeShow([]byte(test.body))
			if got != test.want || (err == nil) != (test.want > 0) {
				t.Errorf("want %d, got %d, %v", test.want, got, err)
			}
		})
	}
}

func TestDecodeRunning(t *testing.T) {
	body := []byte(`{"models":[{"name":"other:latest","context_length":1},{"name":"m:latest","model":"m:latest","context_length":8192},{"name":"odd"}]}`)
	for model, want := range map[string]int{"m": 8192, "m:latest": 8192, "none": 0, "odd": 0} {
		if got, ok := DecodeRunning(body, model); got != want || ok != (want > 0) {
			t.Errorf("%s: want %d, got %d, %v", model, want, got, ok)
		}
	}
	if _, ok := DecodeRunning([]byte(`[`), "m"); ok {
		t.Error("want nothing from what is no JSON")
	}
}

func TestEncodeResponse(t *testing.T) {
	laws.EachChange(t, oddReplies()[0], []codectest.Change{
		{Name: "model", Edit: func(r *llm.Response) { r.Model = "n" }, Old: `"model":"m"`, New: `"model":"n"`},
		{Name: "stop", Edit: func(r *llm.Response) { r.Stop, r.Reason = llm.StopLength, "max_tokens" }, Old: `"stop"`, New: `"length"`},
		{Name: "usage", Edit: func(r *llm.Response) { r.Usage.Input = 20 }, Old: `"prompt_eval_count":26`, New: `"prompt_eval_count":20`},
		{Name: "a part more", Edit: func(r *llm.Response) {
			r.Message.Parts = append(r.Message.Parts[:1:1], llm.ToolCall{CallID: "a", Name: "f"})
		}, Old: `"content":"Hi\ud83d\ude00"`, New: `"content":"Hi\ud83d\ude00","tool_calls":[{"id":"a","function":{"index":0,"name":"f","arguments":{}}}]`},
	})
	t.Run("of another dialect", func(t *testing.T) {
		got, err := EncodeResponse(llm.Response{ID: "i", Model: "m", Stop: llm.StopTool, Reason: "tool_use", Dialect: "other", Raw: []byte("{}"), Usage: llm.Usage{Input: 1, CacheRead: 2, Output: 2}, Message: llm.Message{
			Parts: []llm.Part{llm.Thinking{Text: "hm", Signature: "-"}, llm.Text{Text: "a"}, llm.ToolCall{CallID: "c", Name: "f", Args: "{\n}"}},
		}})
		want := `{"model":"m","created_at":"1970-01-01T00:00:00Z","message":{"role":"assistant","content":"a","thinking":"hm","tool_calls":[{"id":"c","function":{"index":0,"name":"f","arguments":{ }}}]},"done":true,"done_reason":"stop",` +
			`"total_duration":0,"load_duration":0,"prompt_eval_count":3,"prompt_eval_duration":0,"eval_count":2,"eval_duration":0}`
		if err != nil || string(got) != want {
			t.Errorf("want %s\ngot  %s, %v", want, got, err)
		}
	})
}

// Failures of other programs that concern this format, by repository and number.
func TestPastFailures(t *testing.T) {
	t.Run("bifrost-3443_no-argument_tools", func(t *testing.T) {
		for _, args := range []string{``, `,"arguments":null`, `,"arguments":{}`} {
			r, err := DecodeResponse([]byte(`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f"` + args + `}}]},"done":true}`))
			if err != nil || r.Message.Calls()[0].Args != "{}" {
				t.Errorf("got %+v, %v", r.Message, err)
			}
		}
	})
	t.Run("arguments_are_an_object", func(t *testing.T) {
		r := codectest.Decoded(t, Codec{}, []byte(`{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]}]}`))
		if c := r.Messages[0].Calls()[0]; c.Args != `{"a":1}` {
			t.Errorf("got %q", c.Args)
		}
		r.Messages[0] = codectest.With(r.Messages[0], 0, codectest.Rearmed(`{"b":2}`))
		if got, err := EncodeRequest(r); err != nil || !strings.Contains(string(got), `"arguments":{"b":2}`) {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("bifrost-3441_parallel_calls", func(t *testing.T) {
		events, err := codectest.Feed(Codec{}, []byte(linesOf(lineOf(`"tool_calls":[{"function":{"name":"f"}}]`), lineOf(`"tool_calls":[{"function":{"name":"f"}}]`), last)))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, e := range events {
			if c, ok := e.Part.(llm.ToolCall); ok && e.Kind == llm.EventPartEnd {
				ids[c.CallID] = true
			}
		}
		if len(ids) != 2 || events[len(events)-1].Stop != llm.StopTool {
			t.Errorf("got %v", ids)
		}
	})
	t.Run("stream_truncation", func(t *testing.T) {
		if _, err := codectest.Feed(Codec{}, []byte(linesOf(lineOf(`"content":"a"`)))); err == nil {
			t.Error("want an error")
		}
	})
	t.Run("stream_by_default", func(t *testing.T) {
		if got, err := EncodeRequest(llm.Request{}); err != nil || !strings.Contains(string(got), `"stream":false`) {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

func TestAskedWindow(t *testing.T) {
	for body, want := range map[string]int{
		`{"model":"m","messages":[],"options":{"temperature":0,"num_ctx":8192}}`: 8192,
		`{"options":{"num_ctx":1},"options":{"num_ctx": 2 }}`:                    2, // the last one counts
		`{"options":{"num_ctx":0}}`:                                              0,
		`{"options":{"num_ctx":-1}}`:                                             0,
		`{"options":{"num_ctx":2147483648}}`:                                     0,
		`{"options":{"num_ctx":"8192"}}`:                                         0,
		`{"options":[8192]}`:                                                     0,
		`{"num_ctx":8192}`:                                                       0,
		`{"options":{"num_ctx":8192}`:                                            0,
	} {
		if got, ok := AskedWindow([]byte(body)); ok != (want > 0) || ok && got != want {
			t.Errorf("%s: want %d, got %d, %v", body, want, got, ok)
		}
	}
}
