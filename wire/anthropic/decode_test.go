package anthropic

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestDecodeBlock(t *testing.T) {
	unread := llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Opaque{Kind: "tool_result_content"}}}
	tests := []struct {
		name, block string
		want        llm.Part
	}{
		{"text", `{"type":"text","text":"a\n\u00fc"}`, llm.Text{Text: "a\nü"}},
		{"text with a cache mark", `{"cache_control":{"type":"ephemeral"},"text":"x","type":"text"}`, llm.Text{Text: "x"}},
		{"lone surrogate", `{"type":"text","text":"<\ud800>"}`, llm.Text{Text: "<\ufffd>"}},
		{"not UTF-8", "{\"type\":\"text\",\"text\":\"<\xff>\"}", llm.Text{Text: "<\ufffd>"}},
		{"member twice, the last counts", `{"type":"text","text":"no","text":"yes"}`, llm.Text{Text: "yes"}},
		{"escaped member name", `{"ty\u0070e":"text","text":"x"}`, llm.Text{Text: "x"}},
		{"text that is none", `{"type":"text","text":5}`, llm.Opaque{Kind: "text"}},
		{"thinking", `{"type":"thinking","thinking":"hm","signature":"c2ln"}`, llm.Thinking{Text: "hm", Signature: "c2ln"}},
		{"thinking without text", `{"type":"thinking","thinking":"","signature":"c2ln"}`, llm.Thinking{Signature: "c2ln"}},
		{"redacted thinking", `{"type":"redacted_thinking","data":"ZW5j"}`, llm.Thinking{Signature: "ZW5j", Redacted: true}},
		{"call keeps the spelling of its input", `{"type":"tool_use","id":"toolu_1","name":"f","input":{"n": 1.0e+3}}`, llm.ToolCall{CallID: "toolu_1", Name: "f", Args: `{"n": 1.0e+3}`}},
		{"call without id", `{"type":"tool_use","name":"f","input":{}}`, llm.Opaque{Kind: "tool_use"}},
		{"hosted call", `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, llm.ToolCall{CallID: "srvtoolu_1", Name: "web_search", Args: "{}", Hosted: true}},
		{"hosted result", `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`, llm.Opaque{Kind: "web_search_tool_result"}},
		{"result, string", `{"type":"tool_result","tool_use_id":"toolu_1","content":"out"}`, llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "out"}}}},
		{"result, error", `{"type":"tool_result","tool_use_id":"toolu_1","content":"bad","is_error":true}`, llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "bad"}}, IsError: true}},
		{"result, nothing", `{"type":"tool_result","tool_use_id":"toolu_1"}`, llm.ToolResult{CallID: "toolu_1"}},
		{
			"result, array", `{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"u"}},{"type":"search_result","title":"t"},{"type":"tool_result","tool_use_id":"x"}]}`,
			llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "a"}, llm.Media{Type: "image/*"}, llm.Opaque{Kind: "search_result"}, llm.Opaque{Kind: "tool_result"}}},
		},
		{"result, number", `{"type":"tool_result","tool_use_id":"toolu_1","content":5}`, unread},
		{"result, object", `{"type":"tool_result","tool_use_id":"toolu_1","content":{"type":"text","text":"a"}}`, unread},
		{"result, strings", `{"type":"tool_result","tool_use_id":"toolu_1","content":["a","b"]}`, unread},
		{"result, nested", `{"type":"tool_result","tool_use_id":"toolu_1","content":[[{"type":"text","text":"a"}]]}`, unread},
		{"result, a string among blocks", `{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a"},"b"]}`, unread},
		{"result, number, error", `{"type":"tool_result","is_error":true,"tool_use_id":"toolu_1","content":5}`, llm.ToolResult{CallID: "toolu_1", Content: unread.Content, IsError: true}},
		{"result without id", `{"type":"tool_result","content":"out"}`, llm.Opaque{Kind: "tool_result"}},
		{"result with an id that is none", `{"type":"tool_result","tool_use_id":7,"content":"out"}`, llm.Opaque{Kind: "tool_result"}},
		{"document", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}}`, llm.Media{Type: "application/pdf", Size: 4}},
		{"compaction", `{"type":"compaction","content":"before"}`, llm.Opaque{Kind: "compaction", Compacts: "anthropic"}},
		{"no type", `{"text":"x"}`, llm.Opaque{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeBlock([]byte(" " + test.block + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if d := codectest.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if string(got.Bytes()) != test.block {
				t.Errorf("want the bytes %s, got %s", test.block, got.Bytes())
			}
		})
	}
	for _, bad := range []string{``, `"x"`, `[]`, `{"type":"text"`, `{} {}`} {
		if p, err := DecodeBlock([]byte(bad)); err == nil {
			t.Errorf("%q: want an error, got %v", bad, p)
		}
	}
}

func TestDecodeContent(t *testing.T) {
	t.Run("string", func(t *testing.T) {
		in := ` "a\"b" `
		parts, spans, err := DecodeContent([]byte(in))
		if err != nil || len(parts) != 1 || parts[0].(llm.Text).Text != `a"b` || in[spans[0].Start:spans[0].End] != `"a\"b"` {
			t.Errorf("got %v %v %v", parts, spans, err)
		}
	})
	t.Run("array", func(t *testing.T) {
		in := ` [ {"type":"text","text":"a"} , {"type":"x"} ] `
		parts, spans, err := DecodeContent([]byte(in))
		if err != nil || len(parts) != 2 || len(spans) != 2 {
			t.Fatalf("got %v %v %v", parts, spans, err)
		}
		for i, p := range parts {
			if s := spans[i]; in[s.Start:s.End] != string(p.Bytes()) {
				t.Errorf("part %d: span holds %s, bytes are %s", i, in[s.Start:s.End], p.Bytes())
			}
		}
	})
	t.Run("errors say where", func(t *testing.T) {
		_, _, err := DecodeContent([]byte(` [{"type":"x"}, 5]`))
		if err == nil || !strings.Contains(err.Error(), "[1] (byte 16), want an object, got number") {
			t.Errorf("got %v", err)
		}
		if _, _, err := DecodeContent([]byte(`5`)); err == nil {
			t.Error("want an error for a number")
		}
	})
}

func TestDecodeMessage(t *testing.T) {
	tests := []struct {
		name, wire string
		role       llm.Role
		origin     llm.Origin
		parts      int
	}{
		{"string", `{"role":"user","content":"hi"}`, llm.RoleUser, llm.Human, 1},
		{"blocks before the role", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"role":"assistant"}`, llm.RoleAssistant, llm.Model, 2},
		{"results", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"b"}]}`, llm.RoleTool, llm.ToolRun, 2},
		{"system in the middle", `{"role":"system","content":"s"}`, llm.RoleSystem, llm.Note, 1},
		{"a person's words in the system's name", `{"role":"system","content":"The user sent a new message while you were working:\nstop"}`, llm.RoleSystem, llm.Human, 1},
		{"empty", `{"role":"user","content":[ ]}`, llm.RoleUser, llm.Note, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := DecodeMessage([]byte(test.wire))
			if err != nil {
				t.Fatal(err)
			}
			if m.Role != test.role || m.Origin != test.origin || len(m.Parts) != test.parts || m.Dialect != Dialect {
				t.Errorf("got %+v", m)
			}
			for i, s := range m.Envelope.Spans {
				if test.wire[s.Start:s.End] != string(m.Parts[i].Bytes()) {
					t.Errorf("part %d is not at its span", i)
				}
			}
			if b, err := EncodeMessage(m); err != nil || string(b) != test.wire {
				t.Errorf("want the same bytes, got %s, %v", b, err)
			}
		})
	}
}

func TestDecodeRequest(t *testing.T) {
	body := `{"model":"claude-x","max_tokens":1.0e+3,"system":[{"type":"text","text":"s1"},{"type":"text","text":"s2","cache_control":{"type":"ephemeral"}}],
 "tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}],
 "messages":[{"role":"user","content":"hi"} , {"role":"assistant","content":[{"type":"text","text":"ho"}]}]}`
	r, err := DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if r.Model != "claude-x" || r.MaxOutput != 1000 || r.Dialect != Dialect || len(r.Messages) != 2 {
		t.Errorf("got %+v", r)
	}
	sections := []llm.Section{{Name: "system 1", Text: "s1", Cacheable: true}, {Name: "system 2", Text: "s2", Cacheable: true}}
	if d := codectest.Diff(sections, r.Sections); d != "" {
		t.Error(d)
	}
	tools := []llm.Tool{{Name: "f", Description: "d", Schema: `{"type":"object"}`}, {Name: "web_search"}}
	if d := codectest.Diff(tools, r.Tools); d != "" {
		t.Error(d)
	}
	at := func(s llm.Span) string { return body[s.Start:s.End] }
	f := r.Frame
	if !strings.HasPrefix(at(f.System), `[{"type":"text"`) || !strings.HasPrefix(at(f.Tools), `[{"name"`) || !strings.HasPrefix(at(f.Messages), `[{"role"`) {
		t.Errorf("wrong places: %s, %s, %s", at(f.System), at(f.Tools), at(f.Messages))
	}
	for i, s := range f.Each {
		if at(s) != string(r.Messages[i].Envelope.Raw) {
			t.Errorf("message %d is not at its place", i)
		}
	}
}

func TestDecodeRequestErrors(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"not JSON", `{"messages":[}`, "byte 14"},
		{"no object", `[]`, "want an object, got array"},
		{"no messages", `{}`, "messages (byte 0), want an array, got nothing"},
		{"messages of a wrong kind", `{"messages":"x"}`, "messages (byte 12), want an array, got string"},
		{"message of a wrong kind", `{"messages":[{"role":"user","content":"x"},7]}`, "messages[1] (byte 43), want an object"},
		{"unknown role", `{"messages":[{"role":"robot","content":"x"}]}`, `messages[0].role (byte 21), want user, assistant or system, got "robot"`},
		{"no content", `{"messages":[{"role":"user"}]}`, "messages[0].content"},
		{"block of a wrong kind", `{"messages":[{"role":"user","content":["x"]}]}`, "messages[0].content[0] (byte 39), want an object, got string"},
		{"system of a wrong kind", `{"system":5,"messages":[]}`, "system (byte 10), want a string or an array, got number"},
		{"tools of a wrong kind", `{"tools":[5],"messages":[]}`, "tools[0] (byte 10), want an object"},
		{"too deep", `{"messages":[{"role":"user","content":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}]}`, "nested"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeRequest([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "anthropic: decode request: ") {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}
