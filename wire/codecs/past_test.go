package codecs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// codecOf returns the codec of a dialect.
func codecOf(t testing.TB, d llm.Dialect) Full {
	t.Helper()
	c, ok := For(d)
	if !ok {
		t.Fatalf("no codec of %s", d)
	}
	return c
}

func decoded(t testing.TB, d llm.Dialect, body string) llm.Request {
	t.Helper()
	r, err := codecOf(t, d).DecodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v\n%s", d, err, body)
	}
	return r
}

func encoded(t testing.TB, d llm.Dialect, r llm.Request) string {
	t.Helper()
	body, err := codecOf(t, d).EncodeRequest(r)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	return string(body)
}

// fit returns a request of any dialect as another one has it, and what that costs.
func fit(t testing.TB, r llm.Request, d llm.Dialect) (string, []convert.Loss) {
	t.Helper()
	f := convert.Request(r, knownDialect(t, d), convert.Options{})
	return encoded(t, d, f.Request), f.Losses
}

func knownDialect(t testing.TB, d llm.Dialect) catalog.Dialect {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	known, ok := c.Dialect(d)
	if !ok {
		t.Fatalf("the catalogue does not know %s", d)
	}
	return known
}

// strict is a model of each dialect that is strict about what it is sent.
var strict = map[llm.Dialect]string{"gemini": "gemini-3-pro-preview"}

// accepted checks that a provider would take a request.
func accepted(t testing.TB, d llm.Dialect, body string) {
	t.Helper()
	for _, f := range (check.Options{Model: strict[d]}).Request(d, []byte(body)) {
		t.Errorf("%s would refuse it: %s at %s: %s\n%s", d, f.Rule, f.Path, f.Message, body)
	}
}

// refusedFor reports whether a provider would refuse a request by a rule.
func refusedFor(d llm.Dialect, body, rule string) bool {
	for _, f := range check.Request(d, []byte(body)) {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// each runs a test for every dialect.
func each(t *testing.T, f func(t *testing.T, c Full, d llm.Dialect)) {
	for _, c := range All() {
		t.Run(string(c.Dialect()), func(t *testing.T) { f(t, c, c.Dialect()) })
	}
}

// others runs a test for every dialect but one.
func others(t *testing.T, from llm.Dialect, f func(t *testing.T, to llm.Dialect)) {
	each(t, func(t *testing.T, _ Full, to llm.Dialect) {
		if to != from {
			f(t, to)
		}
	})
}

// contains checks that text has parts, in their order.
func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		at := strings.Index(rest, p)
		if at < 0 {
			t.Errorf("want %q, in its place, in %s", p, text)
			return
		}
		rest = rest[at+len(p):]
	}
}

func without(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("want no %q in %s", p, text)
		}
	}
}

// lost reports whether one of the losses says so.
func lost(losses []convert.Loss, what string) bool {
	for _, l := range losses {
		if strings.Contains(l.String(), what) {
			return true
		}
	}
	return false
}

// shortened returns r with the text of its last tool result replaced, as an edit does it.
func shortened(t testing.TB, r llm.Request, text string) llm.Request {
	t.Helper()
	r.Messages = append([]llm.Message(nil), r.Messages...)
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		for k := len(m.Parts) - 1; k >= 0; k-- {
			if p, ok := m.Parts[k].(llm.ToolResult); ok {
				parts := append([]llm.Part(nil), m.Parts...)
				parts[k] = p.WithContent(llm.Text{Text: text})
				r.Messages[i] = m.WithParts(parts)
				return r
			}
		}
	}
	t.Fatal("no tool result")
	return r
}

// rounds are the same two tool rounds in each dialect, spelled as no writer of JSON would
// do it again: white space, escapes, numbers, the order of members. OLD stands in the
// newest result.
var rounds = map[llm.Dialect]string{
	"anthropic": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":[{\"signature\":\"c2ln\",\"thinking\":\"h\\u006d\",\"type\":\"thinking\"},{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"f\",\"input\":{\"b\":1.50,\"a\" : [1,2]}}]},\n" +
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"\\u0061aa\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"s\\u006f\",\"signature\":\"c2lo\"},{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_2\",\"content\":\"OLD\"}]}],\"model\":\"claude-sonnet-4-5\", \"max_tokens\":100, \"temperature\":1.00,\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]}",
	"openai-chat": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"type\":\"function\",\"id\":\"call_1\",\"function\":{\"arguments\":\"{\\\"b\\\":1.50, \\\"a\\\":[1,2]}\",\"name\":\"f\"}}]},\n" +
		"{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"\\u0061aa\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"call_2\",\"content\":\"OLD\"}],\"model\":\"gpt-5\", \"temperature\":1.00,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}",
	"openai-responses": "{ \"input\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"encrypted_content\":\"ZW5j\",\"summary\":[],\"id\":\"rs_1\",\"type\":\"reasoning\"},{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"f\",\"arguments\":\"{\\\"b\\\":1.50, \\\"a\\\":[1,2]}\"},\n" +
		"{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"\\u0061aa\"},{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":[],\"encrypted_content\":\"ZW5k\"},{\"type\":\"function_call\",\"call_id\":\"call_2\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"call_2\",\"output\":\"OLD\"}],\"model\":\"gpt-5\", \"store\":false,\"include\":[\"reasoning.encrypted_content\"],\"temperature\":1.00,\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}",
	"gemini": "{ \"contents\":[ {\"parts\":[{\"text\":\"l\\u006fok\\/at\"}],\"role\":\"user\"},\n{\"role\":\"model\",\"parts\":[{\"thoughtSignature\":\"c2ln\",\"functionCall\":{\"args\":{\"b\":1.50,\"a\" : [1,2]},\"name\":\"f\"}}]},\n" +
		"{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"\\u0061aa\"}}}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"c2lo\"}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"OLD\"}}}]}],\"generationConfig\":{\"temperature\":1.00},\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\"}]}]}",
	"ollama": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\\u006d\",\"tool_calls\":[{\"function\":{\"arguments\":{\"b\":1.50,\"a\" : [1,2]},\"name\":\"f\"}}]},\n" +
		"{\"role\":\"tool\",\"tool_name\":\"f\",\"content\":\"\\u0061aa\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]},{\"role\":\"tool\",\"tool_name\":\"f\",\"content\":\"OLD\"}],\"model\":\"m\", \"options\":{\"temperature\":1.00},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}",
}

// Mistakes of programs before this one, by repository and number (research/proxy.md §3),
// where they concern more than one dialect. Those of one dialect are with its codec.
func TestPastFailures(t *testing.T) {
	for _, group := range []func(*testing.T){pastBytes, pastThinking, pastSignatures, pastPairs, pastStreams, pastStreamUsage} {
		group(t)
	}
}

// Bytes that nobody edited are sent as they came.
func pastBytes(t *testing.T) {
	t.Run("headroom-1042_re-serialised_JSON", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			r := decoded(t, d, rounds[d])
			if got := encoded(t, d, r); got != rounds[d] {
				t.Errorf("untouched: want the body itself, got %s", got)
			}
			want := strings.Replace(rounds[d], "OLD", "see r1", 1)
			if got := encoded(t, d, shortened(t, r, "see r1")); got != want {
				t.Errorf("want only the edit, (-want +got)\n%s", cmp.Diff(want, got))
			}
		})
	})
	t.Run("CLIProxyAPI-2172_re-serialised_body_breaks_signatures", func(t *testing.T) {
		// One message goes, one comes: every message that stays keeps its bytes, and so
		// do the tools, which signatures are bound to as well.
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			r := decoded(t, d, rounds[d])
			r.Messages = append(append([]llm.Message(nil), r.Messages...), llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "and now?"}}})
			got := encoded(t, d, r)
			head, _, _ := strings.Cut(rounds[d], "OLD")
			if !strings.HasPrefix(got, head) {
				t.Errorf("want the history as it came, got %s", got)
			}
			_, tools, _ := strings.Cut(rounds[d], `"tools":`)
			contains(t, got, "OLD", "and now?", `"tools":`+tools)
		})
	})
}

// Thinking goes back unmodified or not at all.
func pastThinking(t *testing.T) {
	t.Run("claude-code-10627_streamed_thinking_sent_back", func(t *testing.T) {
		const said = "a <b> & \"c\" \\ \u2028 \U0001F6A2 \t é"
		stream := anthropicThinking(said)
		for _, size := range []int{1, 5, len(stream)} {
			got, err := heard(codecOf(t, "anthropic"), []byte(stream), size)
			if err != nil {
				t.Fatal(err)
			}
			r := decoded(t, "anthropic", `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"go"}]}`)
			r.Messages = append(r.Messages, got.Message)
			var body struct {
				Messages []struct {
					Content json.RawMessage `json:"content"`
				} `json:"messages"`
			}
			if err := json.Unmarshal([]byte(encoded(t, "anthropic", r)), &body); err != nil {
				t.Fatal(err)
			}
			var blocks []struct{ Type, Thinking, Signature string }
			if err := json.Unmarshal(body.Messages[1].Content, &blocks); err != nil {
				t.Fatal(err)
			}
			if blocks[0].Type != "thinking" || blocks[0].Thinking != said || blocks[0].Signature != "c2ln+/=" {
				t.Errorf("in chunks of %d: want what was streamed, got %+v", size, blocks[0])
			}
		}
	})
	t.Run("claude-code-12311_compaction_leaves_the_latest_turn_alone", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			r := decoded(t, d, rounds[d])
			// The first round becomes a summary; what the newest call was thought with stays.
			summary := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: "f gave aaa"}}}
			keep := r.Messages[len(r.Messages)-2:]
			r.Messages = append([]llm.Message{r.Messages[0], summary}, keep...)
			got := encoded(t, d, r)
			whole := rounds[d]
			latest := whole[strings.Index(whole, "\\u0061aa"):]
			latest = latest[strings.Index(latest, "{"):strings.Index(latest, "OLD")]
			contains(t, got, "f gave aaa", latest)
			accepted(t, d, got)
		})
	})
	t.Run("CLIProxyAPI-1584_provider_switch_mid-conversation", providerSwitch)
	t.Run("codex-8119_encrypted_content_of_another_account", func(t *testing.T) {
		r := decoded(t, "openai-responses", rounds["openai-responses"])
		d := knownDialect(t, "openai-responses")
		if got := encoded(t, d.Name, convert.Request(r, d, convert.Options{}).Request); got != rounds[d.Name] {
			t.Errorf("of the same account: want the body itself, got %s", got)
		}
		f := convert.Request(r, d, convert.Options{Foreign: true})
		got := encoded(t, d.Name, f.Request)
		without(t, got, "ZW5j", "ZW5k", `"reasoning"`)
		contains(t, got, "call_1", `\u0061aa`, "call_2", "OLD")
		accepted(t, d.Name, got)
		if !lost(f.Losses, "thinking left out") {
			t.Errorf("want the loss to be told, got %v", f.Losses)
		}
	})
	t.Run("headroom-PR1103_previous_response_id_when_nothing_is_stored", func(t *testing.T) {
		const body = `{"model":"gpt-5","store":false,"previous_response_id":"resp_1","input":[{"role":"user","content":"go on"}],"tools":[{"type":"function","name":"f"}]}`
		r := decoded(t, "openai-responses", body)
		r.Tools = append(r.Tools, llm.Tool{Name: "memory", Schema: `{"type":"object","properties":{}}`})
		got := encoded(t, "openai-responses", r)
		contains(t, got, `"store":false,"previous_response_id":"resp_1"`, `"name":"f"`, `"name":"memory"`)
		// Where there is no such history, it is told that one is missing.
		others(t, "openai-responses", func(t *testing.T, to llm.Dialect) {
			got, losses := fit(t, r, to)
			without(t, got, "resp_1")
			if !lost(losses, "previous_response_id") {
				t.Errorf("want the loss to be told, got %v", losses)
			}
		})
	})
}

func anthropicThinking(said string) string {
	frame := func(kind, payload string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, payload)
	}
	var b strings.Builder
	b.WriteString(frame("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":1}}`))
	b.WriteString(frame("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`))
	for _, r := range said {
		text, _ := json.Marshal(string(r))
		b.WriteString(frame("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":`+string(text)+`}`))
	}
	b.WriteString(frame("content_block_delta", `"index":0,"delta":{"type":"signature_delta","signature":"c2ln+/="}`))
	b.WriteString(frame("content_block_stop", `"index":0`))
	b.WriteString(frame("content_block_start", `"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`))
	b.WriteString(frame("content_block_delta", `"index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}`))
	b.WriteString(frame("content_block_stop", `"index":1`))
	b.WriteString(frame("message_delta", `"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}`))
	b.WriteString(frame("message_stop", `"x":0`))
	return b.String()
}

// A conversation goes to another provider for a step and comes back: neither gets the
// other's signatures, each gets its own, and every call has its result.
func providerSwitch(t *testing.T) {
	each(t, func(t *testing.T, home Full, from llm.Dialect) {
		others(t, from, func(t *testing.T, to llm.Dialect) {
			r := decoded(t, from, rounds[from])
			r.Model, r.MaxOutput = "m", 100 // which some dialects demand
			away, _ := fit(t, r, to)
			without(t, away, "c2ln", "c2lo", "ZW5j", "ZW5k")
			contains(t, away, "aaa", "OLD")
			accepted(t, to, away)

			there := codecOf(t, to)
			answer, err := heard(there, stream(t, there, reply), 9)
			if err != nil {
				t.Fatal(err)
			}
			back := decoded(t, from, rounds[from])
			back.Messages = append(append([]llm.Message(nil), back.Messages...), answer.Message)
			for _, c := range answer.Message.Calls() {
				back.Messages = append(back.Messages, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: c.CallID, Content: []llm.Part{llm.Text{Text: "done " + c.Name}}}}})
			}
			got, _ := fit(t, back, home.Dialect())
			head, _, _ := strings.Cut(rounds[from], "OLD")
			if !strings.HasPrefix(got, head) {
				t.Errorf("want the own history as it came, got %s", got)
			}
			contains(t, got, "OLD", "Ich schaue nach", "done f", "done g")
			if from == "gemini" && strings.Count(got, "skip_thought_signature_validator") != 1 {
				t.Errorf("want the first foreign call alone to skip the check: %s", got)
			}
			accepted(t, from, got)
		})
	})
}

// Gemini 3 refuses a call that lost its signature.
func pastSignatures(t *testing.T) {
	const chunk = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g","args":{}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"totalTokenCount":12},"modelVersion":"gemini-3-pro-preview","responseId":"r1"}`
	answered := func(t *testing.T, m llm.Message) llm.Request {
		t.Helper()
		r := decoded(t, "gemini", `{"contents":[{"role":"user","parts":[{"text":"go"}]}],"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}]}`)
		results := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, c := range m.Calls() {
			results.Parts = append(results.Parts, llm.ToolResult{CallID: c.CallID, Content: []llm.Part{llm.Text{Text: "gave " + c.Name}}})
		}
		r.Messages = append(r.Messages, m, results)
		return r
	}
	t.Run("opencode-4832_signature_of_a_call_sent_back", func(t *testing.T) {
		c := codecOf(t, "gemini")
		whole, err := c.DecodeResponse([]byte(chunk))
		if err != nil {
			t.Fatal(err)
		}
		streamed, err := heard(c, []byte("data: "+chunk+"\n\n"), 7)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]llm.Response{"whole": whole, "streamed": streamed} {
			got := encoded(t, "gemini", answered(t, r.Message))
			contains(t, got, `"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"`, "gave f", "gave g")
			if strings.Count(got, "thoughtSignature") != 1 {
				t.Errorf("%s: want the one signature that came, got %s", name, got)
			}
			accepted(t, "gemini", got)
		}
	})
	t.Run("CLIProxyAPI-2360_calls_of_other_dialects", func(t *testing.T) {
		others(t, "gemini", func(t *testing.T, from llm.Dialect) {
			got, _ := fit(t, decoded(t, from, rounds[from]), "gemini")
			if n := strings.Count(got, `"thoughtSignature":"skip_thought_signature_validator"`); n != 2 {
				t.Errorf("want one for the first call of each message, got %d in %s", n, got)
			}
			accepted(t, "gemini", got)
		})
	})
	t.Run("Antigravity-Manager-1513_signature_kept_beside_an_edit", func(t *testing.T) {
		r, err := codecOf(t, "gemini").DecodeResponse([]byte(chunk))
		if err != nil {
			t.Fatal(err)
		}
		m := r.Message
		call := m.Parts[0].(llm.ToolCall)
		call.Args, call.Raw = `{"a":2}`, call.Edited()
		m = m.WithParts([]llm.Part{call, m.Parts[1]})
		got := encoded(t, "gemini", shortened(t, answered(t, m), "see r1"))
		contains(t, got, `{"a":2}`, `"thoughtSignature":"c2ln"`, "gave f", "see r1")
		accepted(t, "gemini", got)
	})
}

// threeCalls is a round of three parallel calls with its results apart and out of order,
// and a person who speaks between them, as no provider takes it.
func threeCalls() llm.Request {
	call := func(id string) llm.Part { return llm.ToolCall{CallID: id, Name: "f", Args: `{"n":"` + id + `"}`} }
	result := func(id string) llm.Message {
		return llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: "gave " + id}}}}}
	}
	human := func(text string) llm.Message {
		return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}
	}
	return llm.Request{
		Model: "m", MaxOutput: 100, Tools: []llm.Tool{{Name: "f", Schema: `{"type":"object","properties":{}}`}},
		Messages: []llm.Message{
			human("go"),
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "I call"}, call("call_a"), call("call_b"), call("call_c")}},
			result("call_b"), human("wait, also this"), result("call_a"), result("call_c"),
			{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "all done"}}},
			human("thanks"),
		},
	}
}

func pastPairs(t *testing.T) {
	t.Run("claude-code-6836_calls_and_results_stay_paired", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			got := encoded(t, d, threeCalls())
			accepted(t, d, got)
			r := decoded(t, d, got)
			results := map[string]string{}
			for _, m := range r.Messages {
				for _, p := range m.Results() {
					results[p.CallID] = p.Text()
				}
			}
			calls := 0
			for _, m := range r.Messages {
				for _, c := range m.Calls() {
					calls++
					var args struct{ N string }
					if err := json.Unmarshal([]byte(c.Args), &args); err != nil || results[c.CallID] != "gave "+args.N {
						t.Errorf("call %s has the result %q in %s", args.N, results[c.CallID], got)
					}
				}
			}
			if calls != 3 || len(results) != 3 {
				t.Errorf("want 3 calls and results, got %d and %d: %s", calls, len(results), got)
			}
			r.Model = "m" // which one dialect has in its address
			// And from there to every other dialect.
			others(t, d, func(t *testing.T, to llm.Dialect) {
				there, _ := fit(t, r, to)
				contains(t, there, "call_c")
				accepted(t, to, there)
			})
		})
	})
	t.Run("headroom-902_what_a_person_says_in_a_tool_round", func(t *testing.T) {
		each(t, func(t *testing.T, _ Full, d llm.Dialect) {
			got := encoded(t, d, threeCalls())
			contains(t, got, "I call", "gave call_", "wait, also this", "all done", "thanks")
		})
		// The same as one client writes it: text behind the results, in one message.
		const body = `{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"gave"},{"type":"text","text":"do you see this?"}]}]}`
		others(t, "anthropic", func(t *testing.T, to llm.Dialect) {
			got, _ := fit(t, decoded(t, "anthropic", body), to)
			contains(t, got, "gave", "do you see this?")
			accepted(t, to, got)
		})
	})
}

func pastStreams(t *testing.T) {
	t.Run("claude-code-router-1672_UTF-8_split_across_chunks", func(t *testing.T) {
		each(t, func(t *testing.T, c Full, _ llm.Dialect) {
			bytes := stream(t, c, reply)
			for cut := range bytes {
				dec := c.NewDecoder()
				var got wire.Reply
				for _, chunk := range [][]byte{bytes[:cut], bytes[cut:]} {
					events, err := dec.Feed(chunk)
					if err != nil {
						t.Fatalf("cut at %d: %v", cut, err)
					}
					for _, e := range events {
						got.Add(e)
					}
				}
				events, err := dec.Close()
				for _, e := range events {
					got.Add(e)
				}
				if text := got.Response("").Message.Text(); err != nil || text != reply.Message.Text() {
					t.Fatalf("cut at %d: got %q, %v", cut, text, err)
				}
			}
		})
	})
	t.Run("bifrost-2048_tool_deltas_are_not_buffered", func(t *testing.T) {
		for _, d := range []llm.Dialect{"anthropic", "openai-chat", "openai-responses"} { // the others send calls whole
			t.Run(string(d), func(t *testing.T) {
				c := codecOf(t, d)
				enc, dec := c.NewEncoder(), c.NewDecoder()
				pass := func(e llm.Event) []llm.Event {
					t.Helper()
					b, err := enc.Append(nil, e)
					if err != nil {
						t.Fatal(err)
					}
					events, err := dec.Feed(b)
					if err != nil {
						t.Fatal(err)
					}
					return events
				}
				pass(llm.Event{Kind: llm.EventStart, ID: "id-1", Model: "m"})
				pass(llm.Event{Kind: llm.EventPartStart, Part: llm.ToolCall{CallID: "call_1", Name: "f"}})
				for _, text := range []string{`{"path":"a`, `/b`, `","n":`, `1}`} {
					got := pass(llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaArgs, Text: text})
					if len(got) == 0 || got[len(got)-1].Kind != llm.EventDelta || got[len(got)-1].Text != text {
						t.Errorf("want %q at once, got %+v", text, got)
					}
				}
			})
		}
	})
	t.Run("litellm-12854_a_whole_reply_as_a_stream", func(t *testing.T) {
		each(t, func(t *testing.T, from Full, _ llm.Dialect) {
			body, err := from.EncodeResponse(reply)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := from.DecodeResponse(body)
			if err != nil {
				t.Fatal(err)
			}
			each(t, func(t *testing.T, to Full, d llm.Dialect) {
				fit := convert.Response(whole, knownDialect(t, d)).Response
				bytes := stream(t, to, fit)
				for _, f := range check.Stream(d, bytes) {
					t.Errorf("a client would stumble: %s at %s: %s", f.Rule, f.Path, f.Message)
				}
				got, err := heard(to, bytes, 11)
				if diff := cmp.Diff(said(reply), said(got)); err != nil || diff != "" {
					t.Errorf("%v (-want +got)\n%s\n%s", err, diff, bytes)
				}
			})
		})
	})
}

func pastStreamUsage(t *testing.T) {
	t.Run("litellm-24176_usage_in_message_start", func(t *testing.T) {
		others(t, "anthropic", func(t *testing.T, from llm.Dialect) {
			c := codecOf(t, from)
			to := codecOf(t, "anthropic")
			out, _, err := convert.Stream(stream(t, c, reply), c.NewDecoder(), to.NewEncoder(), knownDialect(t, "anthropic"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range check.Stream("anthropic", out) {
				t.Errorf("a client would abort: %s at %s: %s\n%s", f.Rule, f.Path, f.Message, out)
			}
			start, _, _ := strings.Cut(string(out), "\n\n")
			contains(t, start, `"usage":{"input_tokens":`, `"cache_creation_input_tokens":`, `"cache_read_input_tokens":`, `"output_tokens":`)
			if got, err := heard(to, out, 13); err != nil || got.Usage != reply.Usage {
				t.Errorf("want %+v at the end, got %+v, %v", reply.Usage, got.Usage, err)
			}
		})
	})
	t.Run("bifrost-3357_usage_of_a_stream_that_was_left", func(t *testing.T) {
		for _, d := range []llm.Dialect{"anthropic", "gemini"} { // the others report at the end only
			bytes := stream(t, codecOf(t, d), reply)
			got, err := heard(codecOf(t, d), bytes[:len(bytes)/2], 10)
			if !errors.Is(err, wire.ErrCut) || got.Usage.Input != reply.Usage.Input {
				t.Errorf("%s: want the %d tokens of the prompt to be known, got %+v, %v", d, reply.Usage.Input, got.Usage, err)
			}
		}
	})
}

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

// The cases that other projects have paid for (research/aesthetics.md, last section), in
// every dialect that has them.
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
				there, _, err := convert.Stream(bytes, c.NewDecoder(), codecOf(t, to).NewEncoder(), knownDialect(t, to))
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
