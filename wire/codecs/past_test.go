package codecs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// Mistakes of programs before this one, by repository and number, where they concern more
// than one dialect. Those of one dialect are with its codec.
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
		d := codectest.Known(t, "openai-responses")
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
				fit := convert.Response(whole, codectest.Known(t, d)).Response
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
			out, _, err := convert.Stream(stream(t, c, reply), c.NewDecoder(), to.NewEncoder(), codectest.Known(t, "anthropic"))
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
