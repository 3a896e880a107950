package openai

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestOlderNameOfTheOutputLimit(t *testing.T) {
	r := llm.Request{Model: "m", MaxOutput: 5}
	for codec, want := range map[Chat]string{{}: `"max_completion_tokens":5`, {MaxTokens: true}: `"max_tokens":5`} {
		if b, err := codec.EncodeRequest(r); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("want %s, got %s, %v", want, b, err)
		}
		for _, name := range []string{"max_tokens", "max_completion_tokens"} { // a body keeps the name that it came with
			came, err := codec.DecodeRequest([]byte(`{"messages":[],"` + name + `":7}`))
			if err != nil {
				t.Fatal(err)
			}
			came.MaxOutput = 8
			if b, err := codec.EncodeRequest(came); err != nil || string(b) != `{"messages":[],"`+name+`":8}` {
				t.Errorf("%s: got %s, %v", name, b, err)
			}
		}
	}
}

func TestDecodeChatMessage(t *testing.T) {
	tests := []struct {
		name, wire string
		role       llm.Role
		origin     llm.Origin
		parts      []llm.Part
	}{
		{"user", `{"role":"user","content":"hi\ud800"}`, llm.RoleUser, llm.Human, []llm.Part{llm.Text{Text: "hi\ufffd"}}},
		{"developer", `{"role":"developer","content":"be"}`, llm.RoleSystem, llm.Note, []llm.Part{llm.Text{Text: "be"}}},
		{
			"content parts", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"file","file":{"file_id":"f"}},{"type":"new"}]}`,
			llm.RoleUser, llm.Human,
			[]llm.Part{llm.Text{Text: "a"}, llm.Media{Type: "image/png", Size: 4}, llm.Media{}, llm.Opaque{Kind: "new"}},
		},
		{
			"calls", `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"custom","custom":{"name":"p","input":"***"}},{"type":"function"}],"refusal":null}`,
			llm.RoleAssistant, llm.Model,
			[]llm.Part{llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":1}`}, llm.ToolCall{CallID: "b", Name: "p", Args: "***", Custom: true}, llm.Opaque{Kind: "function"}},
		},
		{
			"parts in the order of their places", `{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}],"content":"t","reasoning_content":"hm","role":"assistant"}`,
			llm.RoleAssistant, llm.Model,
			[]llm.Part{llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":1}`}, llm.Text{Text: "t"}, llm.Thinking{Text: "hm"}},
		},
		{
			"reasoning told twice counts once", `{"role":"assistant","content":"t","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"},{"type":"reasoning.encrypted","data":"e"}]}`,
			llm.RoleAssistant, llm.Model,
			[]llm.Part{llm.Text{Text: "t"}, llm.Thinking{}, llm.Thinking{Text: "hm", Signature: "se"}},
		},
		{"refusal", `{"role":"assistant","content":null,"refusal":"no"}`, llm.RoleAssistant, llm.Model, []llm.Part{llm.Opaque{Kind: "refusal"}}},
		{"nothing", `{"role":"assistant","content":null}`, llm.RoleAssistant, llm.Model, nil},
		{"result", `{"role":"tool","tool_call_id":"a","content":"out"}`, llm.RoleTool, llm.ToolRun, []llm.Part{llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "out"}}}}},
		{"result of parts", `{"role":"tool","content":[{"type":"text","text":"o"}],"tool_call_id":"a"}`, llm.RoleTool, llm.ToolRun, []llm.Part{llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "o"}}}}},
		{"empty result", `{"role":"tool","tool_call_id":"a","content":null}`, llm.RoleTool, llm.ToolRun, []llm.Part{llm.ToolResult{CallID: "a"}}},
		{"member twice, the last counts", `{"role":"user","content":"a","content":"b"}`, llm.RoleUser, llm.Human, []llm.Part{llm.Text{Text: "b"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := DecodeChatMessage([]byte(test.wire))
			if err != nil {
				t.Fatal(err)
			}
			if d := codectest.Diff(test.parts, m.Parts); d != "" || m.Role != test.role || m.Origin != test.origin {
				t.Errorf("got %v %v %s", m.Role, m.Origin, d)
			}
			for i, s := range m.Envelope.Spans {
				if test.wire[s.Start:s.End] != string(m.Parts[i].Bytes()) {
					t.Errorf("part %d is not at its span", i)
				}
			}
			if b, err := EncodeChatMessage(m); err != nil || string(b) != test.wire {
				t.Errorf("want the same bytes, got %s, %v", b, err)
			}
		})
	}
}

func TestChatEditsKeepWhatIsNotTheirs(t *testing.T) {
	tests := []struct {
		name, wire string
		part       int
		edit       func(llm.Part) llm.Part
		want       string
	}{
		{"result", `{"role":"tool", "name":"f","content" : "lo\u006eg", "tool_call_id":"a"}`, 0, codectest.Stubbed, `{"role":"tool", "name":"f","content" : "see <r>", "tool_call_id":"a"}`},
		{"an array stays an array", `{"role":"tool","content":[{"type":"text","text":"long"}],"tool_call_id":"a"}`, 0, codectest.Stubbed, `{"role":"tool","content":[{"type":"text","text":"see <r>"}],"tool_call_id":"a"}`},
		{"text", `{"role":"user","content":"old","name":"n"}`, 0, codectest.Retold("new"), `{"role":"user","content":"new","name":"n"}`},
		{"text part", `{"role":"user","content":[{"type":"text","k":1,"text":"old"},{"type":"image_url","image_url":{"url":"u"}}]}`, 0, codectest.Retold("new"), `{"role":"user","content":[{"type":"text","k":1,"text":"new"},{"type":"image_url","image_url":{"url":"u"}}]}`},
		{
			"one of two calls", `{"role":"assistant","content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"s":"x"}}, {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`, 1, codectest.Rearmed(`{"x":1}`),
			`{"role":"assistant","content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"},"extra_content":{"s":"x"}}, {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`,
		},
		{
			"text that is gone beside calls", `{"role":"assistant","content":"t","tool_calls":[{"id": "a","type":"function","function":{"name":"f","arguments":"{}"}}],"reasoning_content":"hm"}`, 0, codectest.Retold(""),
			`{"role":"assistant","reasoning_content":"hm","tool_calls":[{"id": "a","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		{"a message with nothing left is left out", `{"role":"user","content":"t"}`, 0, codectest.Retold(""), ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := DecodeChatMessage([]byte(test.wire))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := EncodeChatMessage(codectest.With(m, test.part, test.edit)); err != nil || string(got) != test.want {
				t.Errorf("want %s\ngot  %s, %v", test.want, got, err)
			}
		})
	}
}

// otherDialect is a conversation in a dialect that this package does not know.
func otherDialect() llm.Request {
	block := codectest.RawOf(`{"type":"tool_result","tool_use_id":"a"}`)
	return llm.Request{
		Model: "m", MaxOutput: 9, Dialect: "other", Frame: llm.Frame{Raw: []byte(`{"messages":[]}`)},
		Sections: []llm.Section{{Text: "one"}, {Tokens: 500}, {Text: "two"}},
		Tools:    []llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object"}`, Raw: codectest.RawOf(`{"name":"f"}`)}},
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "rules"}}},
			{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{
				llm.Text{Text: "look", Raw: codectest.RawOf(`{"type":"text","text":"look"}`)},
				llm.Media{Type: "image/png", Raw: codectest.RawOf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`)},
			}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{
				llm.Thinking{Text: "hm", Signature: "s", Raw: codectest.RawOf(`{"type":"thinking"}`)},
				llm.Text{Text: "ok"},
				llm.Opaque{Kind: "x", Raw: codectest.RawOf(`{"type":"x"}`)},
				llm.ToolCall{CallID: "h", Name: "web_search", Hosted: true},
				llm.ToolCall{CallID: "a", Name: "f", Args: `{"k":1}`},
				llm.ToolCall{CallID: "b", Name: "patch", Args: "***", Custom: true},
			}},
			{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "note"}}},
			{Role: llm.RoleTool, Dialect: "other", Parts: []llm.Part{
				llm.Text{Text: "and"},
				llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "out"}}, Raw: block},
				llm.ToolResult{CallID: "b", Content: []llm.Part{llm.Text{Text: "see"}, llm.Media{Type: "image/png", Raw: codectest.RawOf(`{"type":"image","source":{"type":"url","url":"u"}}`)}}, Raw: block},
			}},
			{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{llm.Thinking{Text: "only"}}},
		},
	}
}

func TestChatFromOtherDialects(t *testing.T) {
	want := `{"model":"m","max_completion_tokens":9,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],"messages":[` +
		`{"role":"system","content":"rules"},{"role":"system","content":"one\n\ntwo"},` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},` +
		`{"role":"assistant","content":"ok","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"k\":1}"}},{"id":"b","type":"custom","custom":{"name":"patch","input":"***"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"out"},` +
		`{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"see"},{"type":"text","text":"[image left out: it cannot be sent to this provider]"}]},` +
		`{"role":"user","content":"note"},{"role":"user","content":"and"}]}`
	r := otherDialect()
	r.Messages[4].Parts[2].(llm.ToolResult).Content[1] = llm.Media{Type: "image/*"}
	got, err := EncodeChat(r)
	if err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
	if b, err := EncodeChatMessage(r.Messages[4]); err == nil {
		t.Errorf("want an error for a message that is three, got %s", b)
	}
}

func TestChatErrors(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"not JSON", `{"messages":[}`, "byte 14"},
		{"no messages", `{"model":"m"}`, "messages (byte 0), want an array, got nothing"},
		{"unknown role", `{"messages":[{"role":"user","content":"x"},{"role":"narrator","content":"x"}]}`, `messages[1].role (byte 51), want system, developer`},
		{"result without id", `{"messages":[{"role":"tool","content":"x"}]}`, "messages[0].tool_call_id"},
		{"result without content", `{"messages":[{"role":"tool","tool_call_id":"a"}]}`, "messages[0].content"},
		{"content of a wrong kind", `{"messages":[{"role":"user","content":5}]}`, "messages[0].content (byte 38), want a string or an array, got number"},
		{"call of a wrong kind", `{"messages":[{"role":"assistant","tool_calls":["x"]}]}`, "messages[0].tool_calls[0] (byte 47), want an object"},
		{"tools of a wrong kind", `{"messages":[],"tools":{}}`, "tools (byte 23), want an array"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeChat([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "openai: decode chat: ") {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}

func TestChatRequest(t *testing.T) {
	body := `{"model":"m","max_tokens":1.0e+2,"messages":[{"role":"system","content":"s"}, {"role":"user","content":"u"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}, {"type":"custom","custom":{"name":"c","format":{"type":"text"}}}]}`
	tests := []struct {
		name string
		edit func(*llm.Request)
		want string
	}{
		{"limit and model", func(r *llm.Request) { r.MaxOutput, r.Model = 7, "n" }, strings.NewReplacer("1.0e+2", "7", `"m"`, `"n"`).Replace(body)},
		{"section behind the system messages", func(r *llm.Request) { r.Sections = []llm.Section{{Text: "sum"}} }, strings.Replace(body, `"s"}, `, `"s"}, {"role":"system","content":"sum"}, `, 1)},
		{"tool edited", func(r *llm.Request) { r.Tools[0] = llm.Tool{Name: "f", Description: "D", Raw: r.Tools[0].Edited()} }, strings.Replace(body, `"d"`, `"D"`, 1)},
		{"no tools", func(r *llm.Request) { r.Tools = nil }, body[:strings.Index(body, `,"tools"`)] + "}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeChat([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if r.MaxOutput != 100 || r.Tools[1].Name != "c" || r.Tools[1].Schema != `{"type":"text"}` || r.Tools[0].Schema != `{"type":"object"}` {
				t.Errorf("got %+v", r)
			}
			test.edit(&r)
			if got, err := EncodeChat(r); err != nil || string(got) != test.want {
				t.Errorf("want %s\ngot  %s, %v", test.want, got, err)
			}
		})
	}
}
