package ollama

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// toolBody is a conversation with all kinds of parts, as no encoder of ours would write it.
const toolBody = "{ \"model\":\"m\", \"options\":{\"num_ctx\":8192,\"temperature\":0.50,\"num_predict\":100,\"stop\":[\"x\"]},\n" +
	`"messages" : [ {"role":"system","content":"be brief"}, {"content":"look\u0021","images":["iVBORw0KGgo=" , "QUJD"],"role":"user"} ,` +
	`{"role":"assistant","content":"","thinking":"hm","tool_calls":[ {"function":{"index":0,"name":"f","arguments":{"x" : 1.0e+3}}},{"id":"own","function":{"name":"g","arguments":{}}}, {"function":{"name":"f"}}]},` +
	`{"role":"tool","content":"on\u0065","tool_name":"f"},{"role":"tool","tool_call_id":"own","content":"two","k":1},` + "\n" + `{"role":"tool","content":""},` +
	`{"role":"ASSISTANT","content":"so","images":null,"tool_calls":null},{"role":"user","content":"go on"}],` +
	`"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}}, {"type":"function","function":{"name":"g"}}],"stream":false,"keep_alive":"5m" }`

func oddBodies() []string {
	return []string{
		`{"messages":[]}`,
		" \r\n\t{ \"messages\" :\t[ { \"content\" : \"a\" ,\r\n\"role\":\"user\" } ,\n\n{\"role\" : \"assistant\", \"content\" : null } ] , \"think\":\"high\" } \n",
		`{"messages":[{"role":"user","content":"\ud800 \/ \ud83d\ude00"},{"role":"assistant"}],"options":null}`,
		`{"messages":[1],"messages":[{"role":"user","content":5,"content":"yes"}],"model":"a","model":"m","tools":null,"stream":true}`,
		`{"\u006dessages":[{"r\u006fle":"user","content":"` + "\xff\xfe" + `"}],"options":{"num_predict":-1,"stop":"x"},"tools":[]}`,
		toolBody,
	}
}

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	for _, text := range oddBodies() {
		body := []byte(text)
		got, err := EncodeRequest(mustDecode(t, text))
		if err != nil || string(got) != text {
			t.Fatalf("want %s\ngot  %s, %v", text, got, err)
		}
		r, _ := DecodeRequest(body)
		if got, _ := EncodeRequest(r); &got[0] != &body[0] {
			t.Error("want the body itself, got a copy")
		}
	}
}

// place returns where the bytes data lie in body, whose memory they share.
func place(body, data []byte) (llm.Span, bool) {
	for i := range body {
		if len(data) > 0 && &body[i] == &data[0] {
			return llm.Span{Start: i, End: i + len(data)}, true
		}
	}
	return llm.Span{}, false
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	for _, text := range oddBodies() {
		r := mustDecode(t, text)
		for i, m := range r.Messages {
			for j, p := range m.Parts {
				var edit func(llm.Part) llm.Part
				switch p.(type) {
				case llm.ToolResult:
					edit = stubbed
				case llm.Text:
					edit = retold("short\n")
				case llm.ToolCall:
					edit = rearmed(`{"y":1}`)
				default:
					continue
				}
				edited := r
				edited.Messages = append([]llm.Message(nil), r.Messages...)
				edited.Messages[i] = with(m, j, edit)
				got, err := EncodeRequest(edited)
				if err != nil {
					t.Fatal(err)
				}
				body := r.Frame.Raw
				at, ok := place(body, p.Bytes())
				if !ok {
					t.Fatal("the part does not share the body's bytes")
				}
				tail := len(body) - at.End
				if !bytes.Equal(got[:at.Start], body[:at.Start]) || !bytes.Equal(got[len(got)-tail:], body[at.End:]) {
					t.Fatalf("message %d part %d: other bytes changed in %s", i, j, got)
				}
				again, err := DecodeRequest(got)
				if err != nil {
					t.Fatal(err)
				}
				for k, m := range again.Messages {
					if _, call := p.(llm.ToolCall); call {
						continue // a call without an id gets another one with its arguments, and so does its result
					}
					if k == i && again.Messages[k].Role == llm.RoleTool {
						if got := m.Results()[0]; got.Text() != "see <r>" || got.CallID != edited.Messages[k].Results()[0].CallID {
							t.Errorf("got %+v", got)
						}
					} else if llm.DigestOf(m) != llm.DigestOf(edited.Messages[k]) {
						t.Errorf("message %d part %d: message %d says something else in %s", i, j, k, got)
					}
				}
			}
		}
	}
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	for _, text := range oddBodies() {
		r := mustDecode(t, text)
		each, body := r.Frame.Each, r.Frame.Raw
		for i := range r.Messages {
			for k := i + 1; k <= len(r.Messages); k++ {
				start, end := each[i].Start, each[k-1].End
				if i > 0 {
					start = each[i-1].End
				} else if k < len(each) {
					end = each[k].Start
				}
				want := append(append([]byte(nil), body[:start]...), body[end:]...)
				less := r
				less.Messages = append(append([]llm.Message(nil), r.Messages[:i]...), r.Messages[k:]...)
				if got, err := EncodeRequest(less); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("without [%d,%d): want %s\ngot  %s, %v", i, k, want, got, err)
				}
			}
		}
	}
}

// Any mix of edits, removals and additions gives JSON that decodes again, and the same
// bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := DecodeRequest([]byte(rapid.SampledFrom(oddBodies()).Draw(t, "body")))
		if err != nil {
			t.Fatal(err)
		}
		var msgs []llm.Message
		var kept [][]byte
		for _, m := range r.Messages {
			switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit"}).Draw(t, "what") {
			case "keep":
				kept = append(kept, m.Envelope.Raw)
				msgs = append(msgs, m)
			case "insert":
				note := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: rapid.String().Draw(t, "note")}}}
				kept = append(kept, m.Envelope.Raw)
				msgs = append(msgs, m, note)
			case "edit":
				parts := append([]llm.Part(nil), m.Parts...)
				for i, p := range parts {
					switch p := p.(type) {
					case llm.ToolResult:
						parts[i] = p.WithContent(llm.Stub{Text: rapid.String().Draw(t, "stub")})
					case llm.Text:
						parts[i] = llm.Text{Text: rapid.String().Draw(t, "text"), Raw: p.Edited()}
					}
				}
				msgs = append(msgs, m.WithParts(parts))
			}
		}
		r.Messages = msgs
		got, err := EncodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRequest(got); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if twice, err := EncodeRequest(r); err != nil || !bytes.Equal(twice, got) {
			t.Fatalf("want the same bytes again, got %s, %v", twice, err)
		}
		for _, b := range kept {
			if !bytes.Contains(got, b) {
				t.Fatalf("a kept message is not in its bytes in %s", got)
			}
		}
	})
}

func oddReplies() []string {
	return []string{
		`{"model":"m","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":"Hi\ud83d\ude00"},"done_reason":"stop","done":true,"total_duration":5,"prompt_eval_count":26,"eval_count":298}`,
		" { \"done\":true,\"message\" : {\"tool_calls\":[ {\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"a\" : 1}}} , {\"id\":\"own\",\"function\":{\"name\":\"g\"}}],\"content\" :\"so\", \"images\":[\"QUJD\"],\"thinking\":\"hm\",\"role\":\"assistant\",\"k\":1 },\"done_reason\":\"stop\",\"prompt_eval_count\":1.0e+1 } ",
		`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`,
		`{"model":"m","message":{"role":"assistant","content":"cut"},"done":true,"done_reason":"length","prompt_eval_count":1,"eval_count":2}`,
	}
}

func TestLaw4UntouchedReplyIsByteIdentical(t *testing.T) {
	for _, text := range oddReplies() {
		body := []byte(text)
		r, err := DecodeResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := EncodeResponse(r); err != nil || string(got) != text || &got[0] != &body[0] {
			t.Fatalf("want the body itself, got %s, %v", got, err)
		}
	}
}

func TestLaw4EditOfAReplyChangesOnlyItsOwnBytes(t *testing.T) {
	for _, text := range oddReplies() {
		body := []byte(text)
		r, err := DecodeResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range r.Message.Parts {
			if _, ok := p.(llm.Text); !ok {
				continue
			}
			edited := r
			edited.Message = with(r.Message, j, retold("short"))
			got, err := EncodeResponse(edited)
			if err != nil {
				t.Fatal(err)
			}
			at, ok := place(body, p.Bytes())
			tail := len(body) - at.End
			if !ok || !bytes.Equal(got[:at.Start], body[:at.Start]) || !bytes.Equal(got[len(got)-tail:], body[at.End:]) {
				t.Fatalf("part %d: other bytes changed in %s", j, got)
			}
		}
	}
}

// A reply that is appended to a conversation is sent back in the bytes it came in.
func TestLaw4ReplyGoesBackInItsBytes(t *testing.T) {
	for _, text := range oddReplies() {
		r, err := DecodeResponse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		next := mustDecode(t, `{"messages":[{"role":"user","content":"a"}]}`)
		next.Messages = append(next.Messages, r.Message)
		got, err := EncodeRequest(next)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeRequest(got)
		if err != nil || len(r.Message.Parts) > 0 && llm.DigestOf(again.Messages[1]) != llm.DigestOf(r.Message) {
			t.Errorf("want the same message and call ids, got %s, %v", got, err)
		}
		for _, p := range r.Message.Parts {
			if !bytes.Contains(got, p.Bytes()) {
				t.Errorf("want %s in %s", p.Bytes(), got)
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, body := range oddBodies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeRequest(body)
		if err != nil {
			return
		}
		got, err := EncodeRequest(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		for v, r := range variants(r) {
			got, err := EncodeRequest(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("variant %d: got %q, %v", v, got, err)
			}
			if _, err := DecodeRequest(got); err != nil {
				t.Fatalf("variant %d: %v in %q", v, err, got)
			}
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

// variants returns r in every other way there is to encode it: edited, without its
// envelopes, as another dialect's, without its frame.
func variants(r llm.Request) []llm.Request {
	all := []llm.Request{r, r, r, r}
	for v := range all {
		all[v].Messages = append([]llm.Message(nil), r.Messages...)
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			switch p.(type) {
			case llm.ToolResult:
				all[0].Messages[i] = with(all[0].Messages[i], j, stubbed)
			case llm.Text:
				all[0].Messages[i] = with(all[0].Messages[i], j, retold("x"))
			case llm.ToolCall:
				all[0].Messages[i] = with(all[0].Messages[i], j, rearmed(`{"y":1}`))
			}
		}
		all[1].Messages[i].Envelope = llm.Envelope{}
		all[2].Messages[i].Dialect = "other"
	}
	all[0].MaxOutput = 12345
	all[2].Dialect = "other"
	all[3].Frame = llm.Frame{}
	all[3].Messages = append(all[3].Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}})
	return all
}

func FuzzResponse(f *testing.F) {
	for _, body := range oddReplies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeResponse(body)
		if err != nil {
			return
		}
		got, err := EncodeResponse(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		edited, foreign := r, r
		edited.Model, edited.Usage.Output, edited.Message.Parts = "new", 77, append(r.Message.Parts[:len(r.Message.Parts):len(r.Message.Parts)], llm.Text{Text: "x"})
		foreign.Dialect, foreign.Message.Dialect = "other", "other"
		for _, r := range []llm.Response{edited, foreign} {
			got, err := EncodeResponse(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("got %q, %v", got, err)
			}
			if _, err := DecodeResponse(got); err != nil {
				t.Fatalf("%v in %q", err, got)
			}
		}
	})
}

// FuzzStream holds that events do not depend on how a stream is cut, and that what was
// told can be told again.
func FuzzStream(f *testing.F) {
	for _, s := range streams() {
		f.Add([]byte(s), uint(3), uint(40))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint) {
		n := uint(len(stream) + 1)
		x, y := int(a%n), int(b%n)
		want, wantErr := feed(stream)
		got, err := feed(stream, min(x, y), max(x, y))
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("want %v, got %v", wantErr, err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("cut at %d and %d: %s", x, y, diff(want, got))
		}
		if err == nil {
			if _, err := feed(encoded(t, want)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(`{"error":"request (5 tokens) exceeds the available context size (4 tokens), try increasing it"}`))
	f.Add(0, []byte(`{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":5,"n_ctx":4}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := DecodeError(status, body)
		if e.Used < 0 || e.Window < 0 || !bytes.Equal(e.Body, body) {
			t.Fatalf("got %+v", e)
		}
		e.Body = nil
		if _, out := EncodeError(e); !json.Valid(out) {
			t.Fatalf("got %q", out)
		}
	})
}
