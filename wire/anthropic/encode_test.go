package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// decoded returns wire as a message; the bodies of this file are known to be right.
func decoded(t *testing.T, wire string) llm.Message {
	t.Helper()
	m, err := DecodeMessage([]byte(wire))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEditedPartsKeepWhatIsNotTheirs(t *testing.T) {
	tests := []struct {
		name, wire string
		part       int
		edit       func(llm.Part) llm.Part
		want       string
	}{
		{
			"one of three results",
			`{"role":"user", "content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result", "x":1.0e+3, "content": "\u0032" ,"tool_use_id":"b","is_error":true,"cache_control":{"type":"ephemeral"}},{"type":"tool_result","tool_use_id":"c","content":"3"}]}`,
			1, codectest.Stubbed,
			`{"role":"user", "content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result", "x":1.0e+3, "content": "see <r>" ,"tool_use_id":"b","is_error":true,"cache_control":{"type":"ephemeral"}},{"type":"tool_result","tool_use_id":"c","content":"3"}]}`,
		},
		{
			"an array stays an array",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]}]}`,
			0, codectest.Stubbed,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"see <r>"}]}]}`,
		},
		{
			"content that could not be read gives way",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":{"k":[1]},"x":1}]}`,
			0, codectest.Stubbed,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"see <r>","x":1}]}`,
		},
		{
			"content that could not be read stays",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[ "b", 1.0e+3 ],"x":1}]}`,
			0, func(p llm.Part) llm.Part { r := p.(llm.ToolResult); return r.WithContent(r.Content...) },
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[ "b", 1.0e+3 ],"x":1}]}`,
		},
		{
			"a result without content gets one",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`,
			0, codectest.Stubbed,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"see <r>"}]}`,
		},
		{
			"a nested block keeps its fields, its sibling its bytes",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text", "text":"long","k":1},{"type":"image", "source":{"type":"url","url":"u"}}]}]}`,
			0, func(p llm.Part) llm.Part {
				r := p.(llm.ToolResult)
				return r.WithContent(codectest.Retold("short")(r.Content[0]), r.Content[1])
			},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text", "text":"short","k":1},{"type":"image", "source":{"type":"url","url":"u"}}]}]}`,
		},
		{
			"a string becomes an array when it must",
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x\u0041"}]}`,
			0, func(p llm.Part) llm.Part {
				r := p.(llm.ToolResult)
				return r.WithContent(r.Content[0], llm.Media{Raw: llm.Raw{Data: []byte(`{"type":"image","source":{"type":"url","url":"u"}}`)}})
			},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x\u0041"},{"type":"image","source":{"type":"url","url":"u"}}]}]}`,
		},
		{"text", `{"role":"user","content":[{"type":"text","cache_control":{"type":"ephemeral"},"text":"old"}]}`, 0, codectest.Retold("new \"<>&"), `{"role":"user","content":[{"type":"text","cache_control":{"type":"ephemeral"},"text":"new \"<>&"}]}`},
		{"string content", `{"content" : "old" , "role":"user"}`, 0, codectest.Retold("new"), `{"content" : "new" , "role":"user"}`},
		{
			"text that comes twice: the one that counts",
			`{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}`, 0, codectest.Retold("c"),
			`{"role":"user","content":[{"type":"text","text":"a","text":"c"}]}`,
		},
		{
			"a stub in the place of an image keeps the cache mark",
			`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"},"cache_control":{"type":"ephemeral"}}]}`,
			0, func(p llm.Part) llm.Part {
				return llm.Stub{Text: "gone", Raw: p.(llm.Media).Edited()}
			},
			`{"role":"user","content":[{"type":"text","text":"gone","cache_control":{"type":"ephemeral"}}]}`,
		},
		{
			"an image in the place of a string",
			`{"role":"user","content":"look"}`, 0,
			func(llm.Part) llm.Part {
				return llm.Media{Raw: llm.Raw{Data: []byte(`{"type":"image","source":{"type":"url","url":"u"}}`)}}
			},
			`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]}`,
		},
		{
			"arguments",
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x": 1},"caller":{"type":"direct"}}]}`,
			0, func(p llm.Part) llm.Part {
				c := p.(llm.ToolCall)
				c.Args, c.Raw = `{"x":2}`, c.Edited()
				return c
			},
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":2},"caller":{"type":"direct"}}]}`,
		},
		{
			"text that is gone takes its block along",
			`{"role":"user","content":[{"type":"text","text":"a"} , {"type":"text","text":"b"}],"k":1}`,
			0, codectest.Retold(""),
			`{"role":"user","content":[{"type":"text","text":"b"}],"k":1}`,
		},
		{"a message with nothing left is left out", `{"role":"user","content":"a"}`, 0, codectest.Retold(""), ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := codectest.With(decoded(t, test.wire), test.part, test.edit)
			got, err := EncodeMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("want %s\ngot  %s", test.want, got)
			}
		})
	}
}

func TestPartsWithoutBytes(t *testing.T) {
	parts := []llm.Part{
		llm.Text{Text: "a\n\xff"},
		llm.Text{},
		llm.Text{Text: " \n"},
		llm.Thinking{Text: "hm", Signature: "s"},
		llm.Thinking{Signature: "e", Redacted: true},
		llm.Thinking{Text: "without proof"},
		llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":1}`},
		llm.ToolCall{CallID: "b", Name: "f"},
		llm.ToolCall{CallID: "c", Name: "patch", Args: "*** Begin", Custom: true},
		llm.ToolCall{CallID: "d", Name: "list", Args: "[1]"},
		llm.ToolCall{CallID: "e", Name: "web_search", Args: "{}", Hosted: true},
		llm.Stub{Ref: "r", Text: "stub"},
		llm.Opaque{Kind: "x"},
		llm.Media{Type: "image/png"},
	}
	want := `{"role":"assistant","content":[{"type":"text","text":"a\n\ufffd"},` +
		`{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"e"},` +
		`{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"f","input":{}},` +
		`{"type":"tool_use","id":"c","name":"patch","input":{"input":"*** Begin"}},{"type":"tool_use","id":"d","name":"list","input":{"input":[1]}},` +
		`{"type":"server_tool_use","id":"e","name":"web_search","input":{}},{"type":"text","text":"stub"},` +
		`{"type":"text","text":"[image/png left out: it cannot be sent to this provider]"}]}`
	got, err := EncodeMessage(llm.Message{Role: llm.RoleAssistant, Parts: parts})
	if err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestOtherDialects(t *testing.T) {
	raw := func(s string) llm.Raw { return llm.Raw{Data: []byte(s)} }
	msgs := []llm.Message{
		{Role: llm.RoleSystem, Dialect: "other", Parts: []llm.Part{llm.Text{Text: "rules", Raw: raw(`"rul\u0065s"`)}}},
		{Role: llm.RoleUser, Dialect: "other", Parts: []llm.Part{
			llm.Text{Text: "hi", Raw: raw(`{"type":"input_text","text":"hi"}`)},
			llm.Media{Type: "image/png", Raw: raw(`{"type":"input_image","image_url":"data:image/png;base64,QUJD"}`)},
			llm.Media{Type: "audio/wav", Raw: raw(`{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}`)},
		}},
		{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{
			llm.Thinking{Text: "x", Signature: "s", Raw: raw(`{"type":"reasoning"}`)},
			llm.Opaque{Kind: "compaction", Raw: raw(`{"type":"compaction"}`)},
			llm.ToolCall{CallID: "w", Name: "web_search", Hosted: true, Raw: raw(`{"type":"web_search_call"}`)},
			llm.ToolCall{CallID: "a", Name: "f", Args: "{}", Raw: raw(`{"type":"function_call"}`)},
		}},
		{Role: llm.RoleTool, Dialect: "other", Parts: []llm.Part{
			llm.ToolResult{CallID: "a", IsError: true, Content: []llm.Part{llm.Text{Text: "out", Raw: raw(`"o\u0075t"`)}}, Raw: raw(`{"type":"function_call_output"}`)},
		}},
		{Role: llm.RoleAssistant, Dialect: "other", Parts: []llm.Part{llm.Thinking{Text: "x", Raw: raw(`{"type":"reasoning"}`)}}},
	}
	want := `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"sys"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"rules"},{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},` +
		`{"type":"text","text":"[audio/wav left out: it cannot be sent to this provider]"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"out","is_error":true}]}]}`
	r := llm.Request{
		Model: "m", MaxOutput: 9, Messages: msgs, Dialect: "other", Frame: llm.Frame{Raw: []byte(`{"input":[]}`)},
		Sections: []llm.Section{{Text: "sys", Raw: raw(`"s"`)}, {Tokens: 500}},
		Tools:    []llm.Tool{{Name: "f", Raw: raw(`{"type":"function"}`)}},
	}
	got, err := EncodeRequest(r)
	if err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

// listOf returns the message list of the body that r becomes.
func listOf(t *testing.T, r llm.Request) []json.RawMessage {
	t.Helper()
	b, err := EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if len(body.Messages) > 0 && strings.Contains(string(body.Messages[0]), wire.Opening) {
		return body.Messages[1:] // a test of its own is about this message
	}
	return body.Messages
}

func TestMessagesWithoutEnvelope(t *testing.T) {
	text := func(role llm.Role, s string) llm.Message {
		return llm.Message{Role: role, Parts: []llm.Part{llm.Text{Text: s}}}
	}
	call := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.RoleAssistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: "f"})
		}
		return m
	}
	result := func(id string) llm.Message {
		return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: id}}}}}
	}
	env := func(wire string) llm.Message { return decoded(t, wire) }
	envCalls := env(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}`)
	envResult := func(id string) llm.Message {
		return env(`{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"` + id + `","content":"` + id + `"}]}`)
	}
	tests := []struct {
		name string
		msgs []llm.Message
		want []string // role and a letter for each block
	}{
		{"the user's side is one message", []llm.Message{text(llm.RoleUser, "a"), text(llm.RoleSystem, "b"), text(llm.RoleUser, "c")}, []string{"user:ttt"}},
		{"so is the assistant's", []llm.Message{text(llm.RoleAssistant, "a"), call("x"), result("x")}, []string{"assistant:tc", "user:r"}},
		{"results first", []llm.Message{call("a", "b"), text(llm.RoleUser, "n"), result("a"), text(llm.RoleUser, "n"), result("b")}, []string{"assistant:cc", "user:rrtt"}},
		{"what says nothing does not part neighbours", []llm.Message{text(llm.RoleUser, "a"), text(llm.RoleAssistant, ""), text(llm.RoleUser, "b")}, []string{"user:tt"}},
		{"envelopes stay alone", []llm.Message{text(llm.RoleUser, "a"), env(`{"role":"user","content":"b"}`), text(llm.RoleUser, "c")}, []string{"user:t", "user:\"", "user:t"}},
		{"a round in several messages is closed", []llm.Message{envCalls, envResult("a"), envResult("b"), text(llm.RoleUser, "n")}, []string{"assistant:cc", "user:rrtt", "user:t"}},
		{"a note between call and result moves behind", []llm.Message{envCalls, text(llm.RoleSystem, "n"), envResult("a"), result("b")}, []string{"assistant:cc", "user:rrtt"}},
		{"a system message with an envelope is left where it is", []llm.Message{env(`{"role":"system","content":"s"}`), text(llm.RoleUser, "n")}, []string{"system:\"", "user:t"}},
		{"results of hosted calls need no message", []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{llm.ToolCall{CallID: "h", Hosted: true}}}, text(llm.RoleUser, "n")}, []string{"assistant:h", "user:t"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, b := range listOf(t, llm.Request{Messages: test.msgs}) {
				got = append(got, shape(t, b))
			}
			if strings.Join(got, " ") != strings.Join(test.want, " ") {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

// shape returns the role of a wire message and a letter for each of its blocks.
func shape(t *testing.T, wire []byte) string {
	t.Helper()
	m := decoded(t, string(wire))
	s := wireRole(m.Role) + ":"
	if m.Role == llm.RoleSystem {
		s = "system:"
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			if p.Bytes()[0] == '"' {
				s += `"`
			} else {
				s += "t"
			}
		case llm.ToolCall:
			if p.Hosted {
				s += "h"
			} else {
				s += "c"
			}
		case llm.ToolResult:
			s += "r"
		}
	}
	return s
}

// A client that sent the results of one round in two messages gets its own bytes back,
// but not once something else stands between them.
func TestRoundsThatCameSplitStay(t *testing.T) {
	body := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}]}`
	r, err := DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := EncodeRequest(r); err != nil || string(b) != body {
		t.Errorf("want the same body, got %s, %v", b, err)
	}
	note := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}}
	r.Messages = []llm.Message{r.Messages[0], r.Messages[1], note, r.Messages[2]}
	list := listOf(t, r)
	if len(list) != 2 || shape(t, list[1]) != "user:rrt" {
		t.Errorf("want one message with both results first, got %s", list)
	}
}

func TestSystemAndTools(t *testing.T) {
	str := `{"model":"m","system":"be \u006bind","messages":[]}`
	list := `{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}} ,{"type":"text","text":"b"}],"tools":[{"name":"f","input_schema":{}}, {"name":"g","input_schema":{}}],"messages":[]}`
	tests := []struct {
		name, body string
		edit       func(*llm.Request)
		want       string
	}{
		{"the string, edited", str, func(r *llm.Request) { r.Sections = []llm.Section{{Text: "be"}} }, `{"model":"m","system":"be","messages":[]}`},
		{"the string and more", str, func(r *llm.Request) { r.Sections = append(r.Sections, llm.Section{Text: "more"}) }, `{"model":"m","system":[{"type":"text","text":"be \u006bind"},{"type":"text","text":"more"}],"messages":[]}`},
		{"the string gone", str, func(r *llm.Request) { r.Sections = nil }, `{"model":"m","messages":[]}`},
		{"other model and limit", str, func(r *llm.Request) { r.Model, r.MaxOutput = "n", 7 }, `{"model":"n","system":"be \u006bind","messages":[],"max_tokens":7}`},
		{
			"block edited, tool gone", list, func(r *llm.Request) {
				r.Sections[0] = llm.Section{Text: "A", Raw: r.Sections[0].Edited()}
				r.Tools = r.Tools[1:]
			},
			`{"system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}} ,{"type":"text","text":"b"}],"tools":[{"name":"g","input_schema":{}}],"messages":[]}`,
		},
		{
			"tool added, tool edited", list, func(r *llm.Request) {
				r.Tools[0] = llm.Tool{Name: "f", Description: "d", Schema: `{"a":1}`, Raw: r.Tools[0].Edited()}
				r.Tools = append(r.Tools, llm.Tool{Name: "h", Description: "e"})
			},
			`{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}} ,{"type":"text","text":"b"}],"tools":[{"name":"f","input_schema":{"a":1},"description":"d"}, {"name":"g","input_schema":{}}, {"name":"h","description":"e","input_schema":{"type":"object","properties":{}}}],"messages":[]}`,
		},
		{"no tools, no system", list, func(r *llm.Request) { r.Tools, r.Sections = nil, nil }, `{"messages":[]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeRequest([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			test.edit(&r)
			if got, err := EncodeRequest(r); err != nil || string(got) != test.want {
				t.Errorf("want %s\ngot  %s, %v", test.want, got, err)
			}
		})
	}
}

// Frames and envelopes that do not describe their bytes are refused or not used.
func TestPlacesThatCannotBeRight(t *testing.T) {
	r, err := DecodeRequest([]byte(`{"messages":[{"role":"user","content":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	bad := r
	bad.Frame.Messages.End = 1000
	if b, err := EncodeRequest(bad); err == nil {
		t.Errorf("want an error, got %s", b)
	}
	m := r.Messages[0]
	m.Envelope.Spans = []llm.Span{{Start: 5, End: 1000}}
	if b, err := EncodeMessage(m); err != nil || string(b) != `{"role":"user","content":[{"type":"text","text":"a"}]}` {
		t.Errorf("got %s, %v", b, err)
	}
}

// A list whose first human words were taken out still begins with the user.
func TestListThatWouldBeginWithTheModel(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	r, err := DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = r.Messages[1:]
	want := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"(The conversation before this is left out.)"}]},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	if got, err := EncodeRequest(r); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s %v", want, got, err)
	}
	came := strings.Replace(body, `{"role":"user","content":"a"},`, "", 1)
	if r, err = DecodeRequest([]byte(came)); err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "d"}}})
	if got, err := EncodeRequest(r); err != nil || strings.Contains(string(got), "left out") {
		t.Errorf("want a list that came so to stay so, got %s %v", got, err)
	}
}

// A cache mark that is put on a piece of a wire message stands there, in the one message.
func TestMarkedPieceStaysInItsMessage(t *testing.T) {
	const body = `{"messages":[{"role":"user","content":[ {"type":"tool_result","tool_use_id":"a"} , {"type":"text","text":"stop"} ]}]}`
	for i, at := range []string{`"tool_use_id":"a"`, `"text":"stop"`} {
		r := codectest.Decoded(t, Codec{}, []byte(body))
		m, ok := Marked(r.Messages[i], []byte(`{"type":"ephemeral"}`))
		r.Messages[i] = m
		want := strings.Replace(body, at, at+`,"cache_control":{"type":"ephemeral"}`, 1)
		if got, err := EncodeRequest(r); !ok || err != nil || string(got) != want {
			t.Errorf("got %s, %t, %v, want %s", got, ok, err, want)
		}
	}
}
