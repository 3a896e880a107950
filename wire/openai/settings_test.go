package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestSettings(t *testing.T) {
	tests := []struct {
		name string
		c    codectest.Codec
		body string // without its end
		want llm.Settings
	}{
		{"nothing stated", Chat{}, `"stream":false,"temperature":null`, llm.Settings{}},
		{"everything", Chat{}, `"stream":true,"temperature":0.70,"top_p":1e-1,"stop":["a","b\n"],"tool_choice":"required"`, llm.Settings{Stream: true, Temperature: "0.70", TopP: "1e-1", Stop: []string{"a", "b\n"}, Choice: llm.Choice{Mode: llm.ChoiceAny}}},
		{"one stop", Chat{}, `"stop":"end"`, llm.Settings{Stop: []string{"end"}}},
		{"a function", Chat{}, `"tool_choice":{"type":"function","function":{"name":"f"}}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}}},
		{"a custom tool", Chat{}, `"tool_choice":{"type":"custom","custom":{"name":"p"}}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "p"}}},
		{"allowed tools", Chat{}, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceOther}}},
		{"responses", Responses{}, `"stream":true,"temperature":1,"top_p":0.5,"stop":"x","tool_choice":{"type":"function","name":"f"}`, llm.Settings{Stream: true, Temperature: "1", TopP: "0.5", Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}}},
		{"a hosted tool", Responses{}, `"tool_choice":{"type":"file_search"}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceOther}}},
		{"auto", Responses{}, `"tool_choice":"auto"`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceAuto}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := `{"model":"m","messages":[],"input":[],` + test.body + `,"tools":[{"type":"function","name":"f","function":{"name":"f"}},{"type":"custom","name":"p","custom":{"name":"p"}}]}`
			r, err := test.c.DecodeRequest([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, r.Settings); d != "" {
				t.Error(d)
			}
			if b, err := test.c.EncodeRequest(r); err != nil || string(b) != body {
				t.Errorf("want it as it came, got %s, %v", b, err)
			}
			if test.want.Choice.Mode == llm.ChoiceOther {
				return // only its body has it
			}
			r.Frame = llm.Frame{}
			b, err := test.c.EncodeRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := test.c.DecodeRequest(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, again.Settings); d != "" {
				t.Errorf("%s\n%s", d, b)
			}
			if chat := test.c.Dialect() == DialectChat; (chat && test.want.Stream) != strings.Contains(string(b), `"stream_options":{"include_usage":true}`) {
				t.Errorf("want the usage asked for with a stream of chunks, got %s", b)
			}
		})
	}
}

func TestSettingsChangeOnlyTheirMember(t *testing.T) {
	body := `{"messages":[] , "temperature" : 0.70, "stream":false,"tool_choice":{"type":"allowed_tools"},"tools":[{"type":"function","function":{"name":"f"}}]}`
	r, err := DecodeChat([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Settings.Stream, r.Settings.Temperature = true, "0.2"
	want := strings.NewReplacer("0.70", "0.2", "false", "true").Replace(body)
	if got, err := EncodeChat(r); err != nil || string(got) != want {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
	r.Settings = llm.Settings{Temperature: `1,"x":2`, Choice: llm.Choice{Mode: llm.ChoiceOther}} // is no number
	if got, err := EncodeChat(r); err != nil || string(got) != body {
		t.Errorf("want it as it came, got %s, %v", got, err)
	}
	r.Settings = llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceAny}}
	if got, err := EncodeChat(r); err != nil || !strings.Contains(string(got), `"tool_choice":"required"`) {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := EncodeChat(llm.Request{Settings: r.Settings}); err != nil || strings.Contains(string(got), "tool_choice") {
		t.Errorf("want no choice without tools, got %s, %v", got, err)
	}
}

func TestSettingsAreCleared(t *testing.T) {
	tests := []struct {
		name       string
		c          codectest.Codec
		body, want string // around the list of messages
	}{
		{"chat", Chat{}, `"stream":true,"stream_options":{"include_usage":true}, "temperature":1,"top_p":0.5,"stop":"x","tool_choice":"auto","k":1`, `"stream":false,"k":1`},
		{"responses", Responses{}, `"stream":true, "temperature":1,"top_p":0.5,"stop":"x","tool_choice":{"type":"file_search"},"k":1`, `"stream":false,"stop":"x","k":1`},
		{"nothing to clear", Chat{}, `"stream":null,"temperature":null, "stop":[]`, `"stream":null,"temperature":null, "stop":[]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			around := func(members string) string { return `{` + members + `,"messages":[],"input":[]}` }
			r, err := test.c.DecodeRequest([]byte(around(test.body)))
			if err != nil {
				t.Fatal(err)
			}
			r.Settings = llm.Settings{}
			if got, err := test.c.EncodeRequest(r); err != nil || string(got) != around(test.want) {
				t.Errorf("want %s\ngot  %s, %v", around(test.want), got, err)
			}
		})
	}
}

// TestCompacting: the provider is asked for a summary of its own, unless the client has asked for
// something of the kind; Chat has no form for that. One that comes back goes back as it came.
func TestCompacting(t *testing.T) {
	const want = `"context_management":[{"type":"compaction","compact_threshold":60000}]`
	asked := llm.Settings{Clear: llm.Clearing{Compact: 60_000, Above: 5}}
	for name, c := range map[string]struct {
		c     codectest.Codec
		body  string
		asked string // in the body
	}{
		"made here":        {Responses{}, "", want},
		"a client's":       {Responses{}, `{"input":[], "k":1}`, want},
		"one of that kind": {Responses{}, `{"input":[],"context_management":[]}`, `"context_management":[]`},
		"chat":             {Chat{}, "", ""},
		"a client's chat":  {Chat{}, `{"messages":[]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r llm.Request
			if c.body != "" {
				var err error
				if r, err = c.c.DecodeRequest([]byte(c.body)); err != nil {
					t.Fatal(err)
				}
			}
			r.Settings = asked
			out, err := c.c.EncodeRequest(r)
			if n := strings.Count(string(out), "context_management"); err != nil || !strings.Contains(string(out), c.asked) || (n == 1) != (c.asked != "") {
				t.Errorf("want %q, got %s, %v", c.asked, out, err)
			}
		})
	}
	const item = `{"id":"cmp_1","type":"compaction","encrypted_content":"ZQ==","created_by":"x"}`
	reply, err := DecodeResponsesResponse([]byte(`{"object":"response","status":"completed","output":[` +
		`{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"},` + item + `]}`))
	if err != nil || llm.Compacts(reply.Message) != "openai" {
		t.Fatalf("want a compaction, got %+v, %v", reply.Message.Parts, err)
	}
	out, err := EncodeResponses(llm.Request{Messages: []llm.Message{reply.Message, llm.ToolText("c", "out")}})
	if err != nil || !strings.Contains(string(out), item) {
		t.Errorf("want it as it came, got %s, %v", out, err)
	}
}
