package anthropic

import (
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestDecodeSettings(t *testing.T) {
	tests := []struct {
		name, members string
		want          llm.Settings
	}{
		{"none", ``, llm.Settings{}},
		{"all", `,"stream":true,"temperature":1.0e0,"top_p":0.90,"stop_sequences":["a","\u00e4"],"tool_choice":{"type":"any","disable_parallel_tool_use":true}`, llm.Settings{Stream: true, Temperature: "1.0e0", TopP: "0.90", Stop: []string{"a", "ä"}, Choice: llm.Choice{Mode: llm.ChoiceAny}}},
		{"one tool", `,"tool_choice":{"name":"f","type":"tool"}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}}},
		{"a choice not known here", `,"tool_choice":{"type":"some"}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceOther}}},
		{"values of a wrong kind", `,"stream":"true","temperature":"1","top_p":null,"stop_sequences":5,"tool_choice":null,"thinking":7`, llm.Settings{}},
		{"drop", `,"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`, llm.Settings{DropBrokenThinking: true}},
		{"refuse", `,"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}}`, llm.Settings{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := codectest.Decoded(t, Codec{}, []byte(`{"messages":[]`+test.members+`}`))
			if !reflect.DeepEqual(r.Settings, test.want) {
				t.Errorf("want %+v, got %+v", test.want, r.Settings)
			}
		})
	}
}

func TestEncodeSettings(t *testing.T) {
	tests := []struct {
		name, body string
		set        llm.Settings
		want       string
	}{
		{"nothing set clears all", ` {"stream":true, "temperature":1.0,"top_p":1,"tool_choice":{"type":"some","disable_parallel_tool_use":true},"stop_sequences":["a"], "k":1,"messages":[]}` + "\n", llm.Settings{}, ` {"stream":false, "k":1,"messages":[]}` + "\n"},
		{"what only the body has stays", `{"tool_choice":{"type":"some"} , "stream":false,"temperature":null,"messages":[]}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceOther}}, `{"tool_choice":{"type":"some"} , "stream":false,"temperature":null,"messages":[]}`},
		{"one set, the others cleared", `{"temperature":1.0, "top_p":0.5,"messages":[]}`, llm.Settings{TopP: "0.5"}, `{"top_p":0.5,"messages":[]}`},
		{"no number leaves what is there", `{"temperature":1.0,"messages":[]}`, llm.Settings{Temperature: `1,"x":2`}, `{"temperature":1.0,"messages":[]}`},
		{"broken thinking is refused again", `{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages":[]}`, llm.Settings{}, `{"thinking":{"type":"adaptive"},"messages":[]}`},
		{"broken thinking is refused again, the rest stays", `{"thinking":{"type":"adaptive","block_binding":{"x":1,"prefix_mismatch_behavior":"drop_block"}},"messages":[]}`, llm.Settings{}, `{"thinking":{"type":"adaptive","block_binding":{"x":1}},"messages":[]}`},
		{"broken thinking is refused as before", `{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}},"messages":[]}`, llm.Settings{}, `{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}},"messages":[]}`},
		{"others", `{"stream":false, "temperature":1.0,"messages":[],"stop_sequences":["a"]}`, llm.Settings{Stream: true, Temperature: "0.5", TopP: "0.9", Stop: []string{"b"}}, `{"stream":true, "temperature":0.5,"messages":[],"stop_sequences":["b"],"top_p":0.9}`},
		{"another choice keeps what is said of parallel calls", `{"messages":[],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceTool, Tool: "f"}}, `{"messages":[],"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true}}`},
		{"none has no such member", `{"messages":[],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, llm.Settings{Choice: llm.Choice{Mode: llm.ChoiceNone}}, `{"messages":[],"tool_choice":{"type":"none"}}`},
		{"drop broken thinking", `{"thinking":{"type":"enabled","budget_tokens":4000},"messages":[]}`, llm.Settings{DropBrokenThinking: true}, `{"thinking":{"type":"enabled","budget_tokens":4000,"block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages":[]}`},
		{"drop broken thinking where refusing is asked for", `{"thinking":{"type":"adaptive","block_binding":{"x":1,"prefix_mismatch_behavior":"error"}},"messages":[]}`, llm.Settings{DropBrokenThinking: true}, `{"thinking":{"type":"adaptive","block_binding":{"x":1,"prefix_mismatch_behavior":"drop_block"}},"messages":[]}`},
		{"thinking is off", `{"thinking":{"type":"disabled"},"messages":[]}`, llm.Settings{DropBrokenThinking: true}, `{"thinking":{"type":"disabled"},"messages":[]}`},
		{"thinking is not there", `{"messages":[]}`, llm.Settings{DropBrokenThinking: true}, `{"messages":[]}`},
		{"a mode that does not exist", `{"messages":[]}`, llm.Settings{Choice: llm.Choice{Mode: 77}}, `{"messages":[]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := codectest.Decoded(t, Codec{}, []byte(test.body))
			r.Settings = test.set
			if got, err := EncodeRequest(r); err != nil || string(got) != test.want {
				t.Errorf("want %s\ngot  %s, %v", test.want, got, err)
			}
		})
	}
}

func TestFreshSettings(t *testing.T) {
	r := llm.Request{
		Model: "m", MaxOutput: 5, Dialect: "other", Tools: []llm.Tool{{Name: "f"}},
		Settings: llm.Settings{Stream: true, Temperature: "0.5", TopP: "1", Stop: []string{"x"}, Choice: llm.Choice{Mode: llm.ChoiceAny}, DropBrokenThinking: true},
	}
	want := `{"model":"m","max_tokens":5,"stream":true,"temperature":0.5,"top_p":1,"stop_sequences":["x"],"tool_choice":{"type":"any"},"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"messages":[]}`
	if got, err := EncodeRequest(r); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	r.Tools = nil // the API refuses a choice without tools
	want = `{"model":"m","max_tokens":5,"stream":true,"temperature":0.5,"top_p":1,"stop_sequences":["x"],"messages":[]}`
	if got, err := EncodeRequest(r); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestBetas(t *testing.T) {
	thinking := codectest.Decoded(t, Codec{}, []byte(`{"thinking":{"type":"adaptive"},"messages":[]}`))
	if got := Betas(thinking); got != nil {
		t.Errorf("nothing asked for: got %q", got)
	}
	thinking.Settings.DropBrokenThinking = true
	if got := Betas(thinking); len(got) != 1 || got[0] != "thinking-binding-controls-2026-08-01" {
		t.Errorf("got %q", got)
	}
	off := codectest.Decoded(t, Codec{}, []byte(`{"thinking":{"type":"disabled"},"messages":[]}`))
	off.Settings.DropBrokenThinking = true
	if got := append(Betas(off), Betas(llm.Request{Settings: off.Settings})...); len(got) > 0 {
		t.Errorf("without thinking: got %q", got)
	}
}
