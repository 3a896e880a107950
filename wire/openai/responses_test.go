package openai

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestDecodeItem(t *testing.T) {
	text := func(s string) llm.Part { return llm.Text{Text: s} }
	tests := []struct {
		name, item string
		role       llm.Role
		parts      []llm.Part
	}{
		{"user", `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"low"},{"type":"new"}]}`, llm.RoleUser, []llm.Part{text("a"), llm.Media{Type: "image/png", Size: 4, Detail: "low"}, llm.Opaque{Kind: "new"}}},
		{"user without type", `{"role":"user","content":"a"}`, llm.RoleUser, []llm.Part{text("a")}},
		{"developer", `{"role":"developer","content":"a"}`, llm.RoleSystem, []llm.Part{text("a")}},
		{"assistant", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"},{"type":"refusal","refusal":"c"}],"phase":"x"}`, llm.RoleAssistant, []llm.Part{text("abc")}},
		{"assistant string", `{"role":"assistant","content":"a"}`, llm.RoleAssistant, []llm.Part{text("a")}},
		{"assistant not understood", `{"type":"message","role":"assistant","content":[{"type":"new"}]}`, llm.RoleAssistant, []llm.Part{llm.Opaque{Kind: "message"}}},
		{"reasoning", `{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"e"}`, llm.RoleAssistant, []llm.Part{llm.Thinking{Text: "a\nb", Signature: "e"}}},
		{"hidden reasoning", `{"type":"reasoning","summary":[],"content":null,"encrypted_content":"e"}`, llm.RoleAssistant, []llm.Part{llm.Thinking{Signature: "e", Redacted: true}}},
		{"open reasoning", `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}`, llm.RoleAssistant, []llm.Part{llm.Thinking{Text: "a"}}},
		{"function call", `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"x\":1}"}`, llm.RoleAssistant, []llm.Part{llm.ToolCall{CallID: "c", Name: "f", Args: `{"x":1}`}}},
		{"custom call", `{"type":"custom_tool_call","call_id":"c","name":"p","input":"***\n"}`, llm.RoleAssistant, []llm.Part{llm.ToolCall{CallID: "c", Name: "p", Args: "***\n", Custom: true}}},
		{"shell call", `{"type":"local_shell_call","call_id":"c","action":{"command":["ls"]}}`, llm.RoleAssistant, []llm.Part{llm.ToolCall{CallID: "c", Name: "local_shell", Args: `{"command":["ls"]}`}}},
		{"web search", `{"type":"web_search_call","id":"ws","action":{"query":"q"}}`, llm.RoleAssistant, []llm.Part{llm.ToolCall{CallID: "ws", Name: "web_search", Args: `{"query":"q"}`, Hosted: true}}},
		{"output", `{"type":"function_call_output","call_id":"c","output":"o"}`, llm.RoleTool, []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{text("o")}}}},
		{"output array", `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"o"},{"type":"input_image","image_url":"https://h/i"}]}`, llm.RoleTool, []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{text("o"), llm.Media{Type: "image/*"}}}}},
		{"output object", `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot"}}`, llm.RoleTool, []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Opaque{Kind: "computer_call_output"}}}}},
		{"custom output", `{"type":"custom_tool_call_output","call_id":"c","output":"o"}`, llm.RoleTool, []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{text("o")}}}},
		{"compaction", `{"type":"compaction","encrypted_content":"e"}`, llm.RoleAssistant, []llm.Part{llm.Opaque{Kind: "compaction", Compacts: "openai"}}},
		{"hosted search of tools", `{"type":"tool_search_call","call_id":null,"execution":"server"}`, llm.RoleAssistant, []llm.Part{llm.Opaque{Kind: "tool_search_call"}}},
		{"no type", `{"id":"x"}`, llm.RoleAssistant, []llm.Part{llm.Opaque{}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parts, role, err := DecodeItem([]byte(" " + test.item))
			if err != nil {
				t.Fatal(err)
			}
			if d := codectest.Diff(test.parts, parts); d != "" || role != test.role {
				t.Errorf("got %v %s", role, d)
			}
			if role != llm.RoleUser && role != llm.RoleSystem && string(parts[0].Bytes()) != test.item {
				t.Errorf("want the whole item, got %s", parts[0].Bytes())
			}
			m, err := DecodeItemMessage([]byte(test.item))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := EncodeItems(m); err != nil || string(b) != "["+test.item+"]" {
				t.Errorf("want the same bytes, got %s, %v", b, err)
			}
		})
	}
	for _, bad := range []string{``, `5`, `{"role":"robot","content":"x"}`, `{"type":"message","content":"x"}`, `{"role":"user"}`, `{"role":"user","content":[5]}`} {
		if parts, _, err := DecodeItem([]byte(bad)); err == nil {
			t.Errorf("%q: want an error, got %v", bad, parts)
		}
	}
}

const itemsBody = `{"model":"m","instructions":"be \u006bind","max_output_tokens":50,"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"web_search"}],"input":[
 {"role":"developer","content":"dev"},
 {"type":"message","role":"user","content":[{"type":"input_text","text":"go","k":1}]},
 {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},
 {"type":"message","role":"assistant","id":"msg","content":[{"type":"output_text","text":"ok","annotations":[]}]},
 {"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{\"x\": 1}"},
 {"type":"custom_tool_call","call_id":"b","name":"p","input":"***"},
 {"type":"function_call_output","call_id":"a","output":"long \u00e4"},
 {"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"long"}]},
 {"type":"reasoning","id":"rs2","summary":[]},
 {"type":"compaction","encrypted_content":"z"},
 {"role":"assistant","content":"done"}
]}`

func TestDecodeResponses(t *testing.T) {
	r, err := DecodeResponses([]byte(itemsBody))
	if err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, m := range r.Messages {
		s := m.Role.String() + "/" + m.Origin.String()
		for _, p := range m.Parts {
			s += " " + strings.TrimPrefix(strings.ToLower(strings.TrimPrefix(typeName(p), "llm.")), "llm.")
		}
		shape = append(shape, s)
	}
	want := []string{
		"system/note text", "user/human text", "assistant/model thinking text toolcall toolcall", "tool/tool toolresult", "tool/tool toolresult",
		"assistant/model thinking", "assistant/note opaque", "assistant/model text",
	}
	if d := codectest.Diff(want, shape); d != "" {
		t.Error(d)
	}
	if !r.Messages[6].Flags.Has(llm.FlagSummary) {
		t.Error("want the compaction to stand for what was before it")
	}
	if len(r.Frame.Each) != 11 || r.Model != "m" || r.MaxOutput != 50 {
		t.Errorf("got %d items, model %q, limit %d", len(r.Frame.Each), r.Model, r.MaxOutput)
	}
	if d := codectest.Diff([]llm.Section{{Name: "instructions", Text: "be kind", Cacheable: true}}, r.Sections); d != "" {
		t.Error(d)
	}
	if d := codectest.Diff([]llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object"}`}, {Name: "web_search"}}, r.Tools); d != "" {
		t.Error(d)
	}
}

func typeName(p llm.Part) string {
	switch p.(type) {
	case llm.Text:
		return "Text"
	case llm.Thinking:
		return "Thinking"
	case llm.ToolCall:
		return "ToolCall"
	case llm.ToolResult:
		return "ToolResult"
	case llm.Opaque:
		return "Opaque"
	}
	return "?"
}

func TestResponsesEditsKeepWhatIsNotTheirs(t *testing.T) {
	tests := []struct {
		name          string
		message, part int
		edit          func(llm.Part) llm.Part
		old, new      string
	}{
		{"string content", 0, 0, codectest.Retold("DEV"), `"dev"`, `"DEV"`},
		{"element", 1, 0, codectest.Retold("GO"), `"go"`, `"GO"`},
		{"text of the assistant", 2, 1, codectest.Retold("OK"), `"ok"`, `"OK"`},
		{"arguments", 2, 2, codectest.Rearmed(`{}`), `"{\"x\": 1}"`, `"{}"`},
		{"free text", 2, 3, codectest.Rearmed(`+++`), `"***"`, `"+++"`},
		{"output", 3, 0, codectest.Stubbed, `"long \u00e4"`, `"see <r>"`},
		{"output array stays one", 4, 0, codectest.Stubbed, `[{"type":"input_text","text":"long"}]`, `[{"type":"input_text","text":"see <r>"}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeResponses([]byte(itemsBody))
			if err != nil {
				t.Fatal(err)
			}
			r.Messages[test.message] = codectest.With(r.Messages[test.message], test.part, test.edit)
			want := strings.Replace(itemsBody, test.old, test.new, 1)
			if got, err := EncodeResponses(r); err != nil || string(got) != want {
				t.Errorf("want %s\ngot  %s, %v", want, got, err)
			}
		})
	}
}

func TestResponsesRemoved(t *testing.T) {
	r, err := DecodeResponses([]byte(itemsBody))
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages[:2:2], r.Messages[5:]...) // the round
	from, to := strings.Index(itemsBody, ",\n {\"type\":\"reasoning\",\"id\":\"rs\""), strings.Index(itemsBody, ",\n {\"type\":\"reasoning\",\"id\":\"rs2\"")
	want := itemsBody[:from] + itemsBody[to:]
	if got, err := EncodeResponses(r); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestResponsesFromOtherDialects(t *testing.T) {
	want := `{"model":"m","max_output_tokens":9,"instructions":"one\n\ntwo","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false}],"input":[` +
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},` +
		`{"type":"function_call","call_id":"a","name":"f","arguments":"{\"k\":1}"},{"type":"custom_tool_call","call_id":"b","name":"patch","input":"***"},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"note"}]},` +
		`{"type":"function_call_output","call_id":"a","output":"out"},` +
		`{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"u"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"and"}]}]}`
	got, err := EncodeResponses(otherDialect())
	if err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestInputString(t *testing.T) {
	body := `{"input": "h\u0069", "k":1}`
	decode := func() llm.Request {
		r, err := DecodeResponses([]byte(body))
		if err != nil || len(r.Messages) != 1 || r.Messages[0].Text() != "hi" {
			t.Fatalf("got %+v, %v", r.Messages, err)
		}
		return r
	}
	note := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}}
	tests := []struct {
		name string
		edit func(*llm.Request)
		want string
	}{
		{"untouched", func(*llm.Request) {}, body},
		{"edited", func(r *llm.Request) { r.Messages[0] = codectest.With(r.Messages[0], 0, codectest.Retold("ho")) }, `{"input": "ho", "k":1}`},
		{"one more", func(r *llm.Request) { r.Messages = append(r.Messages, note) }, `{"input": [{"type":"message","role":"user","content":"h\u0069"},{"type":"message","role":"user","content":[{"type":"input_text","text":"n"}]}], "k":1}`},
		{"gone", func(r *llm.Request) { r.Messages = nil }, `{"input": [], "k":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := decode()
			test.edit(&r)
			if got, err := EncodeResponses(r); err != nil || string(got) != test.want {
				t.Errorf("want %s\ngot  %s, %v", test.want, got, err)
			}
		})
	}
	t.Run("history on the server", func(t *testing.T) {
		r, err := DecodeResponses([]byte(`{"previous_response_id":"r"}`))
		if err != nil || len(r.Messages) != 0 {
			t.Fatalf("got %+v, %v", r, err)
		}
		r.Messages = []llm.Message{note}
		want := `{"previous_response_id":"r","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"n"}]}]}`
		if got, err := EncodeResponses(r); err != nil || string(got) != want {
			t.Errorf("want %s, got %s, %v", want, got, err)
		}
	})
}

func TestItemsWithoutBytes(t *testing.T) {
	m := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
		llm.Thinking{Text: "hm", Signature: "e"},
		llm.Thinking{Text: "no proof"},
		llm.Text{Text: "a\xff"},
		llm.Text{},
		llm.Stub{Text: "s"},
		llm.ToolCall{CallID: "c", Name: "f"},
		llm.Opaque{Kind: "x"},
	}}
	want := `[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a\ufffd"}]},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"s"}]},` +
		`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]`
	if got, err := EncodeItems(m); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
	if got, err := EncodeItems(llm.Message{Role: llm.RoleUser}); err != nil || got != nil {
		t.Errorf("want nothing, got %s, %v", got, err)
	}
}

func TestInstructions(t *testing.T) {
	tests := []struct {
		name, body string
		sections   []llm.Section
		want       string
	}{
		{"edited", `{"instructions":"a","input":[]}`, []llm.Section{{Text: "b"}}, `{"instructions":"b","input":[]}`},
		{"more", `{"instructions":"a","input":[]}`, []llm.Section{{Text: "a"}, {Text: "b"}}, `{"instructions":"a\n\nb","input":[]}`},
		{"gone", `{"instructions":"a","input":[]}`, nil, `{"input":[]}`},
		{"new", `{"input":[]}`, []llm.Section{{Text: "b"}}, `{"input":[],"instructions":"b"}`},
		{"null stays", `{"instructions":null,"input":[]}`, nil, `{"instructions":null,"input":[]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeResponses([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Sections = test.sections
			if got, err := EncodeResponses(r); err != nil || string(got) != test.want {
				t.Errorf("want %s, got %s, %v", test.want, got, err)
			}
		})
	}
}

func TestCustomToolsBetweenTheFormats(t *testing.T) {
	responses := `{"model":"m","tools":[{"type":"custom","name":"patch","description":"d","format":{"type":"grammar","definition":"start: x","syntax":"lark"}},{"type":"custom","name":"free"}],"input":"x"}`
	chat := `{"type":"custom","custom":{"name":"patch","description":"d","format":{"type":"grammar","grammar":{"definition":"start: x","syntax":"lark"}}}},{"type":"custom","custom":{"name":"free"}}`
	r, err := DecodeResponses([]byte(responses))
	if err != nil || !r.Tools[0].Custom || !r.Tools[1].Custom {
		t.Fatalf("want two custom tools, got %+v, %v", r.Tools, err)
	}
	r.Dialect, r.Frame = "", llm.Frame{}
	for i := range r.Tools {
		r.Tools[i].Raw = llm.Raw{}
	}
	body, err := EncodeChat(r)
	if err != nil || !strings.Contains(string(body), chat) {
		t.Errorf("want %s\ngot %s %v", chat, body, err)
	}
	if r, err = DecodeChat(body); err != nil || !r.Tools[0].Custom {
		t.Fatalf("got %+v, %v", r.Tools, err)
	}
	r.Dialect, r.Frame = "", llm.Frame{}
	for i := range r.Tools {
		r.Tools[i].Raw = llm.Raw{}
	}
	body, err = EncodeResponses(r)
	if want := `"tools":[{"type":"custom","name":"patch","description":"d","format":{"type":"grammar","definition":"start: x","syntax":"lark"}},{"type":"custom","name":"free"}]`; err != nil || !strings.Contains(string(body), want) {
		t.Errorf("want %s\ngot %s %v", want, body, err)
	}
}
