package codecs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// ask is a small request of each dialect, with room for one more member.
var ask = map[llm.Dialect]string{
	"anthropic":        `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"go"}]%s}`,
	"openai-chat":      `{"model":"gpt-5","max_completion_tokens":100,"messages":[{"role":"user","content":"go"}]%s}`,
	"openai-responses": `{"model":"gpt-5","max_output_tokens":100,"input":[{"role":"user","content":"go"}]%s}`,
	"gemini":           `{"model":"gemini-2.5-pro","generationConfig":{"maxOutputTokens":100},"contents":[{"role":"user","parts":[{"text":"go"}]}]%s}`,
	"ollama":           `{"model":"m","options":{"num_predict":100},"messages":[{"role":"user","content":"go"}]%s}`,
}

// asking returns ask with the members that a test wants for its dialect.
func asking(d llm.Dialect, members map[llm.Dialect]string) string {
	more := members[d]
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(ask[d], more)
}

// once is a call and its result, whose text is given.
func once(content ...llm.Part) llm.Request {
	return llm.Request{
		Model: "m", MaxOutput: 100, Tools: []llm.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go"}}},
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "call_1", Name: "f", Args: "{}"}}},
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "call_1", Content: content}}},
		},
	}
}

// The cases that other projects have paid for, in every dialect that has them.
func TestCodecCases(t *testing.T) {
	for _, group := range []func(*testing.T){caseResults, caseTools, caseChoice, caseSystem, caseThinking, caseStreams, caseUsage} {
		group(t)
	}
}

func caseResults(t *testing.T) {
	t.Run("orphan_tool_result", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			r := once(llm.Text{Text: "gave"})
			r.Messages = []llm.Message{r.Messages[0], r.Messages[2]}
			body := encoded(t, d, r)
			contains(t, body, "gave") // it is the caller's to repair; nothing is lost and no call invented
			back := decoded(t, d, body)
			for _, m := range back.Messages {
				if len(m.Calls()) > 0 {
					t.Errorf("a call was invented: %s", body)
				}
			}
			if got := encoded(t, d, back); got != body {
				t.Errorf("want the body itself, got %s", got)
			}
			if d != "ollama" && !refusedFor(d, body, "result-orphan") { // which answers to anything
				t.Errorf("want the orphan to be seen in %s", body)
			}
		})
	})
	t.Run("empty_tool_result", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			for _, content := range [][]llm.Part{nil, {llm.Text{}}} {
				body := encoded(t, d, once(content...))
				accepted(t, d, body)
				r := decoded(t, d, body)
				last := r.Messages[len(r.Messages)-1].Results()
				if len(last) != 1 || strings.Trim(last[0].Text(), "{}") != "" {
					t.Errorf("want one empty result, got %+v of %s", last, body)
				}
				r.Model, r.MaxOutput = "m", 100
				others(t, d, func(t *testing.T, to llm.Dialect) {
					there, _ := fit(t, r, to)
					accepted(t, to, there)
				})
			}
		})
	})
	t.Run("documents_in_tool_results", func(t *testing.T) {
		const body = `{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[` +
			`{"type":"text","text":"before"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"t"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain words"}},{"type":"text","text":"after"}]}]}]}`
		r := decoded(t, "anthropic", body)
		if got := encoded(t, "anthropic", r); got != body {
			t.Errorf("want the body itself, got %s", got)
		}
		others(t, "anthropic", func(t *testing.T, to llm.Dialect) {
			got, losses := fit(t, r, to)
			contains(t, got, "before", "plain words", "after")
			if carried := strings.Contains(got, "JVBERi0="); carried == lost(losses, "document") {
				t.Errorf("the document is carried (%v) or told as lost, got %v: %s", carried, losses, got)
			}
			accepted(t, to, got)
		})
	})
}

func caseTools(t *testing.T) {
	t.Run("tool_name_collision_with_a_server_tool", func(t *testing.T) {
		bodies := map[llm.Dialect]string{
			"anthropic":        asking("anthropic", map[llm.Dialect]string{"anthropic": `"tools":[{"type":"web_search_20250305","name":"search"},{"name":"web_search","input_schema":{"type":"object"}}]`}),
			"openai-responses": asking("openai-responses", map[llm.Dialect]string{"openai-responses": `"tools":[{"type":"web_search"},{"type":"function","name":"web_search","parameters":{"type":"object","properties":{}}}]`}),
			"gemini":           asking("gemini", map[llm.Dialect]string{"gemini": `"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"googleSearch"}]}]`}),
		}
		each(t, func(t *testing.T, _ Full, from llm.Dialect) {
			body, has := bodies[from]
			if !has {
				return // it has no tools that the provider runs
			}
			r := decoded(t, from, body)
			if got := encoded(t, from, r); got != body || len(r.Tools) != 2 {
				t.Errorf("want both tools and the body itself, got %d in %s", len(r.Tools), got)
			}
			own := r.Tools[1].Name
			others(t, from, func(t *testing.T, to llm.Dialect) {
				got, losses := fit(t, r, to)
				accepted(t, to, got)
				back := decoded(t, to, got)
				if len(back.Tools) != 1 || back.Tools[0].Name != own || !lost(losses, "tool "+r.Tools[0].Name) {
					t.Errorf("want %s alone, and the other told as lost; got %v, %v", own, back.Tools, losses)
				}
			})
		})
	})
	t.Run("empty_tools_list", func(t *testing.T) {
		empty := map[llm.Dialect]string{"gemini": `"tools":[{"functionDeclarations":[]}]`}
		each(t, func(t *testing.T, _ Full, from llm.Dialect) {
			members := map[llm.Dialect]string{from: `"tools":[]`}
			if empty[from] != "" {
				members = empty
			}
			body := asking(from, members)
			r := decoded(t, from, body)
			if got := encoded(t, from, r); got != body {
				t.Errorf("want the body itself, got %s", got)
			}
			others(t, from, func(t *testing.T, to llm.Dialect) {
				got, _ := fit(t, r, to)
				without(t, got, `"tools"`, "unctionDeclarations")
				accepted(t, to, got)
			})
		})
	})
	t.Run("parameterless_tool", func(t *testing.T) { schemas(t, "") })
	t.Run("typeless_tool_schema", func(t *testing.T) {
		tools := map[llm.Dialect]string{
			"anthropic":        `"tools":[{"name":"f","input_schema":%s}]`,
			"openai-chat":      `"tools":[{"type":"function","function":{"name":"f","parameters":%s}}]`,
			"openai-responses": `"tools":[{"type":"function","name":"f","parameters":%s}]`,
			"gemini":           `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":%s}]}]`,
			"ollama":           `"tools":[{"type":"function","function":{"name":"f","parameters":%s}}]`,
		}
		list := []string{`null`, `{}`, `{"properties":{"path":{"type":"string"}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#"}`}
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			for _, schema := range list {
				body := asking(d, map[llm.Dialect]string{d: fmt.Sprintf(tools[d], schema)})
				r := decoded(t, d, body)
				r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{llm.Text{Text: "so"}}})
				contains(t, encoded(t, d, r), fmt.Sprintf(tools[d], schema))
			}
		})
		t.Run("written_anew", func(t *testing.T) {
			schemas(t, list...)
		})
	})
}

// schemas checks that a tool with any of the schemas can be sent, called and answered, in
// every dialect.
func schemas(t *testing.T, list ...string) {
	for _, schema := range list {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			r := once(llm.Text{Text: "gave"})
			r.Tools[0].Schema = schema
			body := encoded(t, d, r)
			accepted(t, d, body)
			back := decoded(t, d, body)
			if len(back.Tools) != 1 || back.Tools[0].Name != "f" {
				t.Errorf("schema %q: got %+v", schema, back.Tools)
			}
			if strings.Contains(schema, "path") {
				contains(t, body, `"path"`)
			}
			back.Model, back.MaxOutput = "m", 100
			others(t, d, func(t *testing.T, to llm.Dialect) {
				there, _ := fit(t, back, to)
				accepted(t, to, there)
			})
		})
	}
}

func caseChoice(t *testing.T) {
	t.Run("tool_choice_any_with_restrictions", func(t *testing.T) {
		function := `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}`
		members := map[llm.Dialect]string{
			"anthropic":        `"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}`,
			"openai-chat":      `"tools":[` + function + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`,
			"openai-responses": `"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]}`,
			"gemini":           `"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`,
		}
		each(t, func(t *testing.T, _ Full, from llm.Dialect) {
			if members[from] == "" {
				return // it has no choice of tools
			}
			body := asking(from, members)
			r := decoded(t, from, body)
			if got := encoded(t, from, r); got != body {
				t.Errorf("want the body itself, got %s", got)
			}
			accepted(t, from, body)
			others(t, from, func(t *testing.T, to llm.Dialect) {
				got, losses := fit(t, r, to)
				accepted(t, to, got)
				back := decoded(t, to, got).Settings.Choice
				called := back.Mode == llm.ChoiceAny || back.Mode == llm.ChoiceTool && back.Tool == "f"
				if !called && !lost(losses, "tool choice") {
					t.Errorf("want a call to be demanded or that told as lost, got %+v, %v: %s", back, losses, got)
				}
				if to == "ollama" && called {
					t.Errorf("want no choice in %s", got)
				}
			})
		})
	})
	t.Run("passthrough_headers_and_stream", func(t *testing.T) {
		streamed := map[llm.Dialect]string{
			"anthropic": `"stream":true`, "openai-chat": `"stream":true,"stream_options":{"include_usage":true}`, "openai-responses": `"stream":true`, "ollama": `"stream":true`,
		}
		each(t, func(t *testing.T, _ Full, from llm.Dialect) {
			body := asking(from, streamed)
			r := decoded(t, from, body)
			if got := encoded(t, from, r); got != body {
				t.Errorf("want the body itself, got %s", got)
			}
			if from == "gemini" {
				r.Settings.Stream = true // which is in its address
			}
			others(t, from, func(t *testing.T, to llm.Dialect) {
				got, _ := fit(t, r, to)
				accepted(t, to, got)
				if to == "gemini" {
					without(t, got, `"stream"`)
				} else if !decoded(t, to, got).Settings.Stream {
					t.Errorf("want a stream to be asked for in %s", got)
				}
			})
		})
	})
}

func caseSystem(t *testing.T) {
	t.Run("system_flatten", func(t *testing.T) {
		bodies := map[llm.Dialect]string{
			"anthropic":        asking("anthropic", map[llm.Dialect]string{"anthropic": `"system":[{"type":"text","text":"be kind"},{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}]`}),
			"gemini":           asking("gemini", map[llm.Dialect]string{"gemini": `"systemInstruction":{"parts":[{"text":"be kind"},{"text":"be brief"}]}`}),
			"openai-responses": `{"model":"gpt-5","max_output_tokens":100,"instructions":"be kind","input":[{"role":"developer","content":"be brief"},{"role":"user","content":"go"}]}`,
			"openai-chat":      `{"model":"gpt-5","max_completion_tokens":100,"messages":[{"role":"system","content":[{"type":"text","text":"be kind"}]},{"role":"developer","content":"be brief"},{"role":"user","content":"go"}]}`,
			"ollama":           `{"model":"m","options":{"num_predict":100},"messages":[{"role":"system","content":"be kind"},{"role":"system","content":"be brief"},{"role":"user","content":"go"}]}`,
		}
		each(t, func(t *testing.T, _ Full, from llm.Dialect) {
			r := decoded(t, from, bodies[from])
			if got := encoded(t, from, r); got != bodies[from] {
				t.Errorf("want the body itself, got %s", got)
			}
			others(t, from, func(t *testing.T, to llm.Dialect) {
				got, _ := fit(t, r, to)
				accepted(t, to, got)
				contains(t, got, "be kind", "be brief")
				without(t, got, "be kindbe brief")
				back := decoded(t, to, got)
				for _, m := range back.Messages {
					if m.Role != llm.RoleSystem && strings.Contains(m.Text(), "be ") {
						t.Errorf("the system prompt became words of the %v: %s", m.Role, got)
					}
				}
			})
		})
	})
}

func caseThinking(t *testing.T) {
	t.Run("redacted_thinking", func(t *testing.T) {
		const block = `{"type":"redacted_thinking","data":"ZW5jcnlwdGVk"}`
		const body = `{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + block + `,{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"OLD"}]}]}`
		r := decoded(t, "anthropic", body)
		if got := encoded(t, "anthropic", shortened(t, r, "see r1")); got != strings.Replace(body, "OLD", "see r1", 1) {
			t.Errorf("want only the edit, got %s", got)
		}
		others(t, "anthropic", func(t *testing.T, to llm.Dialect) {
			got, losses := fit(t, r, to)
			without(t, got, "ZW5jcnlwdGVk", "redacted")
			if !lost(losses, "thinking left out") {
				t.Errorf("want the loss to be told, got %v", losses)
			}
			accepted(t, to, got)
		})
		// As a stream it is one block that begins with all it has.
		c := codecOf(t, "anthropic")
		answer := llm.Response{ID: "msg_1", Model: "m", Stop: llm.StopEnd, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			llm.Thinking{Signature: "ZW5jcnlwdGVk", Redacted: true}, llm.Text{Text: "hi"},
		}}}
		bytes := stream(t, c, answer)
		for _, f := range check.Stream("anthropic", bytes) {
			t.Errorf("a client would stumble: %s at %s", f.Message, bytes)
		}
		got, err := heard(c, bytes, 3)
		if err != nil || len(got.Message.Parts) != 2 || string(got.Message.Parts[0].Bytes()) != block {
			t.Errorf("want %s, got %+v, %v", block, got.Message.Parts, err)
		}
	})
	t.Run("compaction_and_compaction_usage", func(t *testing.T) {
		const summary = `{"type":"compaction","content":"so far: all well"}`
		const whole = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + summary + `,{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,` +
			`"usage":{"input_tokens":50,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":180,"output_tokens":30},{"type":"message","input_tokens":50,"output_tokens":5}]}}`
		c := codecOf(t, "anthropic")
		got, err := c.DecodeResponse([]byte(whole))
		if err != nil || got.Usage.Prompt() != 50 || got.Usage.Output != 5 || got.Extra.Prompt() != 180 || got.Extra.Output != 30 {
			t.Fatalf("want what the compaction took apart from the call, got %+v, %+v, %v", got.Usage, got.Extra, err)
		}
		again, err := heard(c, stream(t, c, got), 17)
		if err != nil || again.Usage != got.Usage || again.Extra != got.Extra {
			t.Errorf("as a stream: want %+v, %+v, got %+v, %+v, %v", got.Usage, got.Extra, again.Usage, again.Extra, err)
		}
		for _, m := range []llm.Message{got.Message, again.Message} {
			r := decoded(t, "anthropic", asking("anthropic", nil))
			r.Messages = append(r.Messages, m)
			contains(t, encoded(t, "anthropic", r), summary, `"hi"`)
		}
		// Elsewhere a compaction is one opaque item, sent back as it came.
		const item = `{"id":"cmp_1","type":"compaction","encrypted_content":"ZW5j"}`
		r := decoded(t, "openai-responses", `{"model":"gpt-5","input":[`+item+`,{"role":"user","content":"go"}]}`)
		if !r.Messages[0].Flags.Has(llm.FlagSummary) {
			t.Errorf("want a summary, got %+v", r.Messages[0])
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "and now?"}}})
		contains(t, encoded(t, "openai-responses", r), item, "and now?")
		others(t, "openai-responses", func(t *testing.T, to llm.Dialect) {
			got, losses := fit(t, r, to)
			without(t, got, "ZW5j")
			if !lost(losses, "compaction") {
				t.Errorf("want the loss to be told, got %v", losses)
			}
		})
	})
}

func caseStreams(t *testing.T) {
	t.Run("stop_reason_tool_use_in_streams", func(t *testing.T) {
		each(t, func(t *testing.T, c Full, d llm.Dialect) {
			bytes := stream(t, c, reply)
			got, err := heard(c, bytes, 50)
			if err != nil || got.Stop != llm.StopTool || len(got.Message.Calls()) != 2 {
				t.Errorf("want both calls and %v, got %+v, %v, %v", llm.StopTool, got.Message.Calls(), got.Stop, err)
			}
			for _, f := range check.Stream(d, bytes) {
				t.Errorf("a client would stumble: %s at %s: %s", f.Rule, f.Path, f.Message)
			}
			// A client that was asked to run a tool does so only if the other dialect says so, too.
			others(t, d, func(t *testing.T, to llm.Dialect) {
				there, _, err := convert.Stream(bytes, c.NewDecoder(), codecOf(t, to).NewEncoder(), codectest.Known(t, to))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := heard(codecOf(t, to), there, 50); err != nil || got.Stop != llm.StopTool || len(got.Message.Calls()) != 2 {
					t.Errorf("want both calls and %v, got %+v, %v, %v", llm.StopTool, got.Message.Calls(), got.Stop, err)
				}
			})
		})
	})
	t.Run("stream_truncation", func(t *testing.T) {
		each(t, func(t *testing.T, c Full, d llm.Dialect) {
			bytes := stream(t, c, reply)
			cut := bytes[:strings.Index(string(bytes), `a\`)] // within the arguments of a call
			got, err := heard(c, cut, 20)
			if !errors.Is(err, wire.ErrCut) {
				t.Errorf("want %v, got %v", wire.ErrCut, err)
			}
			if len(got.Message.Calls()) > 0 || got.Stop != llm.StopUnknown {
				t.Errorf("want no half call to be told, got %+v", got)
			}
			if len(check.Stream(d, cut)) == 0 {
				t.Errorf("want the cut to be seen, too")
			}
		})
	})
	t.Run("refusal", func(t *testing.T) {
		each(t, func(t *testing.T, c Full, d llm.Dialect) {
			r := llm.Response{ID: "id-1", Model: "m", Stop: llm.StopRefusal, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{llm.Text{Text: "I would rather not."}}}}
			want := llm.StopRefusal
			if d == "ollama" {
				want = llm.StopEnd // it has no other word
			}
			bytes := stream(t, c, r)
			if got, err := heard(c, bytes, 8); err != nil || got.Stop != want || got.Message.Text() != "I would rather not." {
				t.Errorf("streamed: want %v, got %v, %+v, %v", want, got.Stop, got.Message, err)
			}
			body, err := c.EncodeResponse(r)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.DecodeResponse(body); err != nil || got.Stop != want || got.Message.Text() != "I would rather not." {
				t.Errorf("whole: want %v, got %v, %+v, %v", want, got.Stop, got.Message, err)
			}
			for _, f := range append(check.Stream(d, bytes), check.Response(d, body)...) {
				t.Errorf("a client would stumble: %s at %s: %s", f.Rule, f.Path, f.Message)
			}
		})
	})
}

func caseUsage(t *testing.T) {
	t.Run("stream_cache_usage", func(t *testing.T) {
		each(t, func(t *testing.T, c Full, d llm.Dialect) {
			r := reply
			r.Usage = llm.Usage{Input: 11, CacheRead: 300, Output: 7}
			want := r.Usage
			if d == "ollama" {
				want = llm.Usage{Input: 311, Output: 7} // it does not count them apart
			}
			bytes := stream(t, c, r)
			got, err := heard(c, bytes, 33)
			if err != nil || got.Usage != want || got.Usage.Prompt() != 311 {
				t.Errorf("want %+v, each token once, got %+v, %v\n%s", want, got.Usage, err, bytes)
			}
		})
	})
}
