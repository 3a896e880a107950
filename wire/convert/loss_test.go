package convert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// losses returns what is lost from a body of one dialect in another.
func losses(t *testing.T, from, to llm.Dialect, o convert.Options) []string {
	t.Helper()
	c, _ := codecs.For(from)
	fit := convert.Request(decode(t, c, []byte(bodies[from])), codectest.Known(t, to), o)
	out := []string{}
	for _, l := range fit.Losses {
		out = append(out, l.String())
	}
	return out
}

func TestLosses(t *testing.T) {
	tests := []struct {
		from, to llm.Dialect
		want     []string
	}{
		{"anthropic", "openai-chat", []string{
			"field thinking left out",
			"tool web_search left out",
			"messages[0].parts[4]: document sent in another form",
			"messages[0].parts[5]: image image/* sent in another form",
			"messages[1].parts[0]: thinking left out",
			"messages[1].parts[2]: hosted call web_search left out",
			"messages[1].parts[3]: opaque part web_search_tool_result left out",
			"messages[2].parts[0]: image image/png of a result sent in a message behind the results",
			"messages[2].parts[1]: error flag of a result left out",
		}},
		{"openai-chat", "anthropic", []string{
			"field seed left out",
			"free-text tool patch sent in another form",
			"messages[2].parts[2]: sound audio/wav sent in another form",
			"messages[3].parts[1]: thinking left out",
			"messages[3].parts[3]: free-text call patch sent in another form",
			"messages[6]: system message sent in another form",
		}},
		{"openai-responses", "openai-chat", []string{
			"field store left out", "field include left out", "tool web_search left out",
			"messages[1].parts[0]: thinking left out",
			"messages[1].parts[2]: hosted call web_search left out",
			"messages[1].parts[3]: call call_1|weird sent as call_1_weird_620239b8ed",
			"messages[4].parts[0]: opaque part compaction left out",
		}},
		{"gemini", "openai-responses", []string{
			"field generationConfig.thinkingConfig left out", "field safetySettings left out", "tool googleSearch left out", "tool read.file sent as read_file_dd32cdf50e",
			"messages[1].parts[0]: thinking left out", "messages[1].parts[2]: field thoughtSignature left out",
		}},
		{"ollama", "gemini", []string{
			"field options.num_ctx left out", "field keep_alive left out",
			"messages[2].parts[1]: thinking left out",
		}},
	}
	for _, test := range tests {
		t.Run(string(test.from)+" to "+string(test.to), func(t *testing.T) {
			got := losses(t, test.from, test.to, convert.Options{})
			slices.Sort(test.want)
			slices.Sort(got)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// What only one format has is named, also where it is a member of something that is carried.
func TestLossesWithin(t *testing.T) {
	tests := []struct {
		name     string
		from, to llm.Dialect
		body     string
		want     []string
	}{
		{"stop sequences", "openai-chat", "openai-responses", `{"model":"m","stop":["X"],"messages":[{"role":"user","content":"q"}]}`, []string{`stop sequence "X" left out`}},
		{"too many of them", "anthropic", "openai-chat", `{"model":"m","max_tokens":1,"stop_sequences":["1","2","3","4","5"],"messages":[{"role":"user","content":"q"}]}`, []string{`stop sequence "5" left out`}},
		{"too hot", "openai-chat", "anthropic", `{"model":"m","max_tokens":1,"temperature":1.7,"messages":[{"role":"user","content":"q"}]}`, []string{"temperature 1.7 set to 1, the highest that this format has"}},
		{"no output limit", "gemini", "anthropic", `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`, []string{"output limit set to 4096 tokens: this format wants one"}},
		{
			"members of tools", "anthropic", "openai-chat",
			`{"model":"m","tools":[{"name":"f","input_schema":{},"strict":true,"defer_loading":true,"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"q"}]}`,
			[]string{"field f.strict left out", "field f.defer_loading left out", "field f.cache_control left out"},
		},
		{"a function's", "openai-chat", "gemini", `{"model":"m","tools":[{"type":"function","function":{"name":"f","strict":true}}],"messages":[{"role":"user","content":"q"}]}`, []string{"field f.strict left out"}},
		{
			"cache marks and more", "anthropic", "gemini",
			`{"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"messages":[{"role":"user","content":[{"type":"document","title":"T","context":"C","citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}]}`,
			[]string{
				"field tool_choice.disable_parallel_tool_use left out", "field system.cache_control left out", "messages[0].parts[0]: field title left out",
				"messages[0].parts[0]: field context left out", "messages[0].parts[0]: field citations left out", "messages[0].parts[1]: field cache_control left out",
			},
		},
		{
			"names and details", "openai-chat", "anthropic",
			`{"model":"m","max_tokens":1,"messages":[{"role":"user","name":"bob","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}}]}]}`,
			[]string{"messages[0]: field name left out", "messages[0].parts[0]: field image_url.detail left out"},
		},
		{
			"messages that say nothing", "openai-chat", "anthropic",
			`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null},{"role":"user","content":""}]}`,
			[]string{"messages[1]: message without content left out", "messages[2]: message without content left out"},
		},
		{"bytes that are none", "openai-chat", "gemini", "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\xff\"}]}", []string{"bytes that are not UTF-8 sent in another form"}},
		{"a system prompt alone", "openai-chat", "gemini", `{"model":"m","messages":[{"role":"system","content":"a"},{"role":"system","content":"b"}]}`, []string{"messages[1]: system message sent in another form"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := codecs.For(test.from)
			fit := convert.Request(decode(t, c, []byte(test.body)), codectest.Known(t, test.to), convert.Options{})
			got := []string{}
			for _, l := range fit.Losses {
				got = append(got, l.String())
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestOwnDialect(t *testing.T) {
	for _, c := range codecs.All() {
		t.Run(string(c.Dialect()), func(t *testing.T) {
			body := []byte(bodies[c.Dialect()])
			fit := convert.Request(decode(t, c, body), codectest.Known(t, c.Dialect()), convert.Options{})
			if got, err := c.EncodeRequest(fit.Request); err != nil || string(got) != string(body) || len(fit.Losses) > 0 {
				t.Errorf("want the same bytes and no loss, got %v, %v\n%s", fit.Losses, err, got)
			}
		})
	}
	t.Run("foreign thinking goes, its siblings keep their bytes", func(t *testing.T) {
		if got := losses(t, "anthropic", "anthropic", convert.Options{Foreign: true}); !slices.Equal(got, []string{"messages[1].parts[0]: thinking left out"}) {
			t.Errorf("got %q", got)
		}
		c, _ := codecs.For("anthropic")
		fit := convert.Request(decode(t, c, []byte(bodies["anthropic"])), codectest.Known(t, "anthropic"), convert.Options{Foreign: true})
		got, err := c.EncodeRequest(fit.Request)
		want := strings.Replace(bodies["anthropic"], `{"type":"thinking","thinking":"hm","signature":"c2ln"},`, "", 1)
		if err != nil || string(got) != want {
			t.Errorf("want %s\ngot %s %v", want, got, err)
		}
	})
}

// An id or a name that a provider refuses is replaced everywhere, and comes back.
func TestAliases(t *testing.T) {
	c, _ := codecs.For("openai-responses")
	fit := convert.Request(decode(t, c, []byte(bodies["openai-responses"])), codectest.Known(t, "anthropic"), convert.Options{})
	var call llm.ToolCall
	var result llm.ToolResult
	for _, m := range fit.Request.Messages {
		if calls := m.Calls(); len(calls) > 0 {
			call = calls[0]
		}
		if results := m.Results(); len(results) > 0 && result.CallID == "" {
			result = results[0]
		}
	}
	if call.CallID != result.CallID || call.CallID == "call_1|weird" || !codectest.Known(t, "anthropic").CallID.Allows(call.CallID) {
		t.Errorf("want one id that the pattern allows, got %q and %q", call.CallID, result.CallID)
	}
	if got := fit.Aliases.Calls[call.CallID]; got != "call_1|weird" {
		t.Errorf("want the alias to lead back, got %q", got)
	}

	g, _ := codecs.For("gemini")
	fit = convert.Request(decode(t, g, []byte(bodies["gemini"])), codectest.Known(t, "openai-chat"), convert.Options{})
	name := fit.Request.Tools[0].Name
	if name == "read.file" || fit.Request.Messages[1].Calls()[0].Name != name {
		t.Errorf("want one name that the pattern allows, got %q", name)
	}
	reply := llm.Response{Message: llm.Message{Parts: []llm.Part{llm.Text{Text: "x"}, llm.ToolCall{CallID: "new", Name: name}}}}
	back := fit.Aliases.Restore(reply)
	if got := back.Message.Calls()[0]; got.Name != "read.file" || got.CallID != "new" {
		t.Errorf("want the conversation's name, got %+v", got)
	}
	if reply.Message.Calls()[0].Name != name {
		t.Error("the reply itself was changed")
	}
}

// Two calls with one id, as formats without ids may have them, become two ids.
func TestRepeatedIDsInOneMessage(t *testing.T) {
	calls := llm.Message{Role: llm.RoleAssistant, Dialect: "x", Parts: []llm.Part{llm.ToolCall{CallID: "a", Name: "f"}, llm.ToolCall{CallID: "a", Name: "g"}, llm.ToolCall{CallID: "a_2", Name: "h"}}}
	results := llm.Message{Role: llm.RoleTool, Dialect: "x", Parts: []llm.Part{llm.ToolResult{CallID: "a"}, llm.ToolResult{CallID: "a"}, llm.ToolResult{CallID: "a_2"}}}
	fit := convert.Request(llm.Request{Dialect: "x", Messages: []llm.Message{calls, results}}, codectest.Known(t, "anthropic"), convert.Options{})
	ids := map[string]bool{}
	for i, call := range fit.Request.Messages[0].Calls() {
		if got := fit.Request.Messages[1].Results()[i].CallID; got != call.CallID || ids[got] {
			t.Errorf("call %d: want an id of its own for it and its result, got %q and %q", i, call.CallID, got)
		}
		ids[call.CallID] = true
	}
	if got := fit.Aliases.Calls["a_2"]; got != "" {
		t.Errorf("want a call's own id to stand for nothing else, got %q", got)
	}
}

func TestRepeatedIDs(t *testing.T) {
	call := llm.Message{Role: llm.RoleAssistant, Dialect: "x", Parts: []llm.Part{llm.ToolCall{CallID: "a", Name: "f"}}}
	result := llm.Message{Role: llm.RoleTool, Dialect: "x", Parts: []llm.Part{llm.ToolResult{CallID: "a"}}}
	r := llm.Request{Dialect: "x", Messages: []llm.Message{call, result, call, result}}
	fit := convert.Request(r, codectest.Known(t, "anthropic"), convert.Options{})
	first, second := fit.Request.Messages[0].Calls()[0].CallID, fit.Request.Messages[2].Calls()[0].CallID
	if first != "a" || second == first || fit.Request.Messages[3].Results()[0].CallID != second || fit.Aliases.Calls[second] != "a" {
		t.Errorf("got %q, %q, %+v", first, second, fit.Aliases)
	}
}

func TestAliasIsShortAndItsOwn(t *testing.T) {
	rule := catalog.NameRule{Extra: "_-", Max: 40}
	r := llm.Request{Dialect: "x"}
	long := strings.Repeat("näme.", 30)
	for _, id := range []string{long, long + "2", "", "é", "."} {
		r.Messages = append(r.Messages, llm.Message{Dialect: "x", Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "f"}}})
	}
	fit := convert.Request(r, catalog.Dialect{Name: "y", CallID: rule, ToolName: rule}, convert.Options{})
	seen := map[string]bool{}
	for _, m := range fit.Request.Messages {
		id := m.Calls()[0].CallID
		if !rule.Allows(id) || seen[id] {
			t.Errorf("want an id of its own that the rule allows, got %q", id)
		}
		seen[id] = true
	}
}
