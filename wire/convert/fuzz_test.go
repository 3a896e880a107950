package convert_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// fuzzSeeds are further requests: what a conversion has to get right beside the rich ones
// of bodies.
func fuzzSeeds() map[llm.Dialect][]string {
	return map[llm.Dialect][]string{
		"anthropic": {
			`{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{"x":[1.50,null]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},{"type":"tool_result","tool_use_id":"a","content":[]},{"type":"text","text":"c"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
			`{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"é\ud83d\ude00\u0000"}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"ZW5j"}]},{"role":"user","content":"b"}],"tool_choice":{"type":"none"}}`,
		},
		"openai-chat": {
			`{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f.g","arguments":""}},{"id":"a","type":"function","function":{"name":"f/g","arguments":"[1]"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"}]}],"tools":[]}`,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","refusal":"no","content":null},{"role":"assistant","content":"b"}],"n":2,"logit_bias":{}}`,
		},
		"openai-responses": {
			`{"model":"m","max_output_tokens":16,"input":"a","previous_response_id":"r","reasoning":{"effort":"low"}}`,
			`{"model":"m","max_output_tokens":16,"input":[{"role":"user","content":"a"},{"type":"custom_tool_call","call_id":"a","name":"p","input":"{"},{"type":"custom_tool_call_output","call_id":"a","output":[{"type":"input_text","text":"r"}]}]}`,
		},
		"gemini": {
			`{"model":"m","generationConfig":{"maxOutputTokens":9},"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"error":"e"}}},{"functionResponse":{"name":"f","response":{}}}]}]}`,
		},
		"ollama": {
			`{"model":"m","options":{"num_predict":9},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","content":""}]}`,
		},
	}
}

// unmended reports whether a request may break a rule of another dialect though it was good
// in its own: what a conversion does not mend.
func unmended(from llm.Dialect, rule string) bool {
	switch rule {
	case "last-role":
		return true // the model is to go on with its own text, which Gemini has no form for
	case "messages-empty":
		return from == "openai-responses" // all there is of the history is its id on the server
	case "result-orphan", "result-name", "call-unanswered":
		return from == "ollama" // which takes calls and results that do not pair
	}
	return false
}

// FuzzConvert: whatever a codec reads goes to every other dialect without a panic, the same
// each time, and as something that this dialect reads. What a provider would have taken, the
// other takes, too, if the request says what both want: a model and an output limit.
func FuzzConvert(f *testing.F) {
	all, dialects := codecs.All(), everyDialect(f)
	for i, c := range all {
		f.Add(uint8(i), []byte(bodies[c.Dialect()]))
		for _, body := range fuzzSeeds()[c.Dialect()] {
			f.Add(uint8(i), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		from := all[int(which)%len(all)]
		r, err := from.DecodeRequest(body)
		if err != nil {
			return
		}
		good := len(check.Request(from.Dialect(), body)) == 0 && r.MaxOutput > 0 && r.Model != ""
		for _, to := range all {
			if to.Dialect() == from.Dialect() {
				continue
			}
			d := dialects[to.Dialect()]
			out := converted(t, r, to, d)
			if !bytes.Equal(out, converted(t, r, to, d)) {
				t.Errorf("to %s: want the same bytes each time, got others", to.Dialect())
			}
			if _, err := to.DecodeRequest(out); err != nil {
				t.Errorf("to %s: %v\n%s", to.Dialect(), err, out)
			}
			if !good {
				continue
			}
			for _, fault := range check.Request(to.Dialect(), out) {
				if unmended(from.Dialect(), fault.Rule) {
					continue
				}
				t.Errorf("%s took it, %s would refuse it: %s at %s: %s\n%s\n%s", from.Dialect(), to.Dialect(), fault.Rule, fault.Path, fault.Message, body, out)
			}
		}
	})
}

// everyDialect returns what is known about each dialect.
func everyDialect(f *testing.F) map[llm.Dialect]catalog.Dialect {
	f.Helper()
	out := map[llm.Dialect]catalog.Dialect{}
	for _, c := range codecs.All() {
		out[c.Dialect()] = codectest.Known(f, c.Dialect())
	}
	return out
}

// converted returns r as a dialect has it.
func converted(t *testing.T, r llm.Request, to codecs.Full, d catalog.Dialect) []byte {
	t.Helper()
	refusals, err := catalog.LoadRefusals()
	if err != nil {
		t.Fatal(err)
	}
	model := catalog.Model{ID: "claude-opus-4-7", Capabilities: catalog.Capabilities{NoForcedTool: true}}
	fit := convert.Request(r, d, convert.Options{Refused: refusals.Of(to.Dialect(), model)})
	for _, l := range fit.Losses {
		if l.String() == "" || l.Message >= len(r.Messages) {
			t.Errorf("to %s: a loss that says nothing, or of no message: %+v", to.Dialect(), l)
		}
	}
	out, err := to.EncodeRequest(fit.Request)
	if err != nil {
		t.Fatalf("to %s: %v", to.Dialect(), err)
	}
	return out
}

// FuzzConvertReply: the same of replies, whole and streamed.
func FuzzConvertReply(f *testing.F) {
	all, dialects := codecs.All(), everyDialect(f)
	reply := llm.Response{
		ID: "id", Model: "m", Stop: llm.StopTool, Usage: llm.Usage{Input: 5, CacheRead: 3, Output: 2, Reasoning: 1},
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
			llm.Thinking{Text: "hm", Signature: "c2ln"}, llm.Text{Text: "é\U0001F600"}, llm.ToolCall{CallID: "a", Name: "f", Args: `{"x":[1.50]}`}, llm.ToolCall{CallID: "b", Name: "f", Args: "{}"},
		}},
	}
	for i, c := range all {
		body, err := c.EncodeResponse(reply)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), body)
		f.Add(uint8(i), codectest.Encoded(f, c, wire.Events(reply)))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		from := all[int(which)%len(all)]
		for _, to := range all {
			if to.Dialect() == from.Dialect() {
				continue
			}
			d := dialects[to.Dialect()]
			if r, err := from.DecodeResponse(body); err == nil {
				out, err := to.EncodeResponse(convert.Response(r, d).Response)
				if err != nil {
					t.Fatalf("to %s: %v", to.Dialect(), err)
				}
				if _, err := to.DecodeResponse(out); err != nil {
					t.Errorf("to %s: %v\n%s", to.Dialect(), err, out)
				}
			}
			out, _, err := convert.Stream(body, from.NewDecoder(), to.NewEncoder(), d)
			if err != nil {
				continue // it is no stream, or one that is not whole
			}
			if _, err := codectest.Feed(to, out); err != nil {
				t.Errorf("to %s: a whole stream became one that is not: %v\n%s\n%s", to.Dialect(), err, body, out)
			}
		}
	})
}
