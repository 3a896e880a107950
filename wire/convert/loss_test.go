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
)

// losses returns what is lost from a body of one dialect in another.
func losses(t *testing.T, from, to llm.Dialect, o convert.Options) []string {
	t.Helper()
	c, _ := codecs.For(from)
	fit := convert.Request(decode(t, c, []byte(bodies[from])), known(t, to), o)
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
			"messages[2].parts[0]: image image/png sent in another form",
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
			"messages[4].parts[0]: opaque part compaction left out",
		}},
		{"gemini", "openai-responses", []string{
			"field generationConfig.thinkingConfig left out", "field safetySettings left out", "tool googleSearch left out",
			"messages[1].parts[0]: thinking left out",
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

func TestOwnDialect(t *testing.T) {
	for _, c := range codecs.All() {
		t.Run(string(c.Dialect()), func(t *testing.T) {
			body := []byte(bodies[c.Dialect()])
			fit := convert.Request(decode(t, c, body), known(t, c.Dialect()), convert.Options{})
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
		fit := convert.Request(decode(t, c, []byte(bodies["anthropic"])), known(t, "anthropic"), convert.Options{Foreign: true})
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
	fit := convert.Request(decode(t, c, []byte(bodies["openai-responses"])), known(t, "anthropic"), convert.Options{})
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
	if call.CallID != result.CallID || call.CallID == "call_1|weird" || !known(t, "anthropic").CallID.Allows(call.CallID) {
		t.Errorf("want one id that the pattern allows, got %q and %q", call.CallID, result.CallID)
	}
	if got := fit.Aliases.Calls[call.CallID]; got != "call_1|weird" {
		t.Errorf("want the alias to lead back, got %q", got)
	}

	g, _ := codecs.For("gemini")
	fit = convert.Request(decode(t, g, []byte(bodies["gemini"])), known(t, "openai-chat"), convert.Options{})
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
func TestRepeatedIDs(t *testing.T) {
	call := llm.Message{Role: llm.RoleAssistant, Dialect: "x", Parts: []llm.Part{llm.ToolCall{CallID: "a", Name: "f"}}}
	result := llm.Message{Role: llm.RoleTool, Dialect: "x", Parts: []llm.Part{llm.ToolResult{CallID: "a"}}}
	r := llm.Request{Dialect: "x", Messages: []llm.Message{call, result, call, result}}
	fit := convert.Request(r, known(t, "anthropic"), convert.Options{})
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
