package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// bodies are one rich request of each dialect: all that a dialect has beside plain text.
var bodies = map[llm.Dialect]string{
	"anthropic": `{"model":"claude-x","max_tokens":100,"temperature":0.50,"thinking":{"type":"enabled","budget_tokens":50},"stop_sequences":["END"],
 "system":[{"type":"text","text":"be kind"}],"tool_choice":{"type":"tool","name":"read_file"},
 "tools":[{"name":"read_file","description":"reads","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},{"type":"web_search_20250305","name":"web_search"}],
 "messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain words"}},{"type":"document","source":{"type":"url","url":"https://example.test/a.pdf"}},{"type":"image","source":{"type":"file","file_id":"file_1"}}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"I look"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"tool_use","id":"toolu_01A","name":"read_file","input":{"path":"a"}},{"type":"tool_use","id":"toolu_01B","name":"read_file","input":{"path":"b"}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01A","content":[{"type":"text","text":"aaa"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},{"type":"tool_result","tool_use_id":"toolu_01B","is_error":true,"content":"no such file"},{"type":"text","text":"go on"}]},
 {"role":"assistant","content":"done"},{"role":"user","content":"thanks"}]}`,
	"openai-chat": `{"model":"gpt-x","max_completion_tokens":100,"temperature":0.50,"top_p":0.9,"stop":["END"],"seed":7,"tool_choice":"required",
 "tools":[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},{"type":"custom","custom":{"name":"patch","description":"patches"}}],
 "messages":[{"role":"system","content":"be kind"},{"role":"developer","content":"be brief"},{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}]},
 {"role":"assistant","content":"I look","reasoning_content":"hm","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},{"id":"call_2","type":"custom","custom":{"name":"patch","input":"free text"}}]},
 {"role":"tool","tool_call_id":"call_1","content":"aaa"},{"role":"tool","tool_call_id":"call_2","content":"patched"},
 {"role":"system","content":"remember the rules"},{"role":"user","content":"go on"}]}`,
	"openai-responses": `{"model":"gpt-x","max_output_tokens":100,"instructions":"be kind","store":false,"include":["reasoning.encrypted_content"],"tool_choice":{"type":"function","name":"read_file"},
 "tools":[{"type":"function","name":"read_file","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false},{"type":"custom","name":"patch","description":"patches"},{"type":"web_search"}],
 "input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]},
 {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ZW5j"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
 {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
 {"type":"function_call","call_id":"call_1|weird","name":"read_file","arguments":"{\"path\":\"a\"}"},{"type":"custom_tool_call","call_id":"call_2","name":"patch","input":"free text"},
 {"type":"function_call_output","call_id":"call_1|weird","output":"aaa"},{"type":"custom_tool_call_output","call_id":"call_2","output":"patched"},
 {"type":"compaction","encrypted_content":"ZW5j"},{"role":"user","content":"go on"}]}`,
	"gemini": `{"systemInstruction":{"parts":[{"text":"be kind"}]},"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"thinkingConfig":{"includeThoughts":true}},"safetySettings":[],
 "tools":[{"functionDeclarations":[{"name":"read.file","description":"reads","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING"}}}}]},{"googleSearch":{}}],
 "contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},
 {"role":"model","parts":[{"text":"hm","thought":true},{"text":"I look"},{"functionCall":{"name":"read.file","args":{"path":"a"}},"thoughtSignature":"c2ln"}]},
 {"role":"user","parts":[{"functionResponse":{"name":"read.file","response":{"output":"aaa"}}}]},
 {"role":"model","parts":[{"text":"done"}]},{"role":"user","parts":[{"text":"thanks"}]}]}`,
	"ollama": `{"model":"llama","stream":false,"options":{"num_predict":100,"temperature":0.5,"num_ctx":4096},"keep_alive":"5m",
 "tools":[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],
 "messages":[{"role":"system","content":"be kind"},{"role":"user","content":"look","images":["iVBORw0KGgo="]},
 {"role":"assistant","content":"I look","thinking":"hm","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]},
 {"role":"tool","tool_name":"read_file","content":"aaa"},{"role":"assistant","content":"done"},{"role":"user","content":"thanks"}]}`,
}

func decode(t testing.TB, c codecs.Full, body []byte) llm.Request {
	t.Helper()
	r, err := c.DecodeRequest(body)
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Dialect(), err, body)
	}
	return r
}

// said returns what a model reads in r: text by text without white space, each call and
// result, the number of media. What an encoder may do freely is not in it: how texts are
// cut and joined, and how messages are.
func said(r llm.Request) []string {
	var out []string
	var texts strings.Builder
	for _, s := range r.Sections {
		texts.WriteString(s.Text)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				texts.WriteString(p.Text)
			case llm.ToolCall:
				out = append(out, fmt.Sprintf("call %s %s", p.Name, squeeze(p.Args)))
			case llm.ToolResult:
				out = append(out, "result "+squeeze(p.Text()))
				for _, c := range p.Content {
					if _, ok := c.(llm.Media); ok {
						out = append(out, "result media")
					}
				}
			default:
				out = append(out, fmt.Sprintf("%T", p))
			}
		}
	}
	for _, t := range r.Tools {
		out = append(out, "tool "+t.Name+" "+t.Description)
	}
	out = append(out, squeeze(texts.String()))
	slices.Sort(out)
	return out
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// What the fit request still has, the encoder carries: it finds nothing more to lose.
func TestEncodersCarryWhatFits(t *testing.T) {
	for _, from := range codecs.All() {
		for _, to := range codecs.All() {
			if from.Dialect() == to.Dialect() {
				continue
			}
			t.Run(string(from.Dialect())+" to "+string(to.Dialect()), func(t *testing.T) {
				r := decode(t, from, []byte(bodies[from.Dialect()]))
				fit := convert.Request(r, codectest.Known(t, to.Dialect()), convert.Options{})
				if fit.Request.Model == "" {
					fit.Request.Model = "m" // Gemini's stands in the URL
				}
				body, err := to.EncodeRequest(fit.Request)
				if err != nil {
					t.Fatal(err)
				}
				back := decode(t, to, body)
				texts := said(fit.Request)
				if to.Dialect() == "ollama" || to.Dialect() == "anthropic" || to.Dialect() == "gemini" {
					texts = asInput(texts)
				}
				if d := cmp.Diff(texts, said(back)); d != "" {
					t.Errorf("the encoder lost or added (-fit +sent):\n%s\n%s", d, body)
				}
				want, got := fit.Request.Settings, back.Settings
				if want.Temperature != got.Temperature || !slices.Equal(want.Stop, got.Stop) || want.Choice != got.Choice || fit.Request.MaxOutput != back.MaxOutput {
					t.Errorf("settings: want %+v, got %+v", want, got)
				}
				for _, f := range (check.Options{Model: "m"}).Request(to.Dialect(), body) {
					t.Errorf("the provider would refuse it: %s at %s: %s\n%s", f.Rule, f.Path, f.Message, body)
				}
				again := convert.Request(r, codectest.Known(t, to.Dialect()), convert.Options{}).Request
				again.Model = fit.Request.Model
				if b, err := to.EncodeRequest(again); err != nil || string(b) != string(body) {
					t.Errorf("want the same bytes each time, got others (%v)", err)
				}
			})
		}
	}
}

// asInput returns what was said with free text as the argument that the formats without
// free-text tools have for it.
func asInput(said []string) []string {
	out := slices.Clone(said)
	for i, s := range out {
		if s == "call patch freetext" {
			out[i] = `call patch {"input":"freetext"}`
		}
	}
	slices.Sort(out)
	return out
}
