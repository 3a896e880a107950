package gemini

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// toolBody is a conversation with all kinds of parts, as no encoder of ours would write it.
const toolBody = "{ \"system_instruction\":{\"parts\":[{\"text\":\"be\"} , {\"text\":\"brief\",\"k\":1}],\"role\":\"user\"},\n" +
	`"contents" : [ {"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image\/png","data":"QUJD"}}]} ,` +
	`{"parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"}, {"functionCall":{"name":"f","args":{"x" : 1.0e+3}},"thoughtSignature":"cw=="},{"functionCall":{"name":"f","args":{}}},{"function_call":{"id":"own","name":"g"}}],"role":"model"},` +
	`{"role":"function","parts":[{"functionResponse":{"name":"f","response":{"output":"on\u0065"}}},{"functionResponse":{"name":"g","id":"own","response":{"a":[1],"b":null}} , "k":"v"},{"function_response":{"name":"f","response":{"error":"no"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}]},` + "\n" +
	`{"role":"model","parts":[{"text":"so"},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"text":"","thoughtSignature":"cw=="}]},` +
	`{"parts":{"text":"go on"}},{"role":"model","parts":[]},{"role":"user"}],` +
	`"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"x":{"type":"NUMBER"}}}}, {"name":"g"}],"codeExecution":{}},{"googleSearch":{}}],` +
	`"generationConfig":{"temperature":1.0,"max_output_tokens":100,"stopSequences":["a","b"]},"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}} }`

// oddBodies are bodies as no encoder of ours would write them.
func oddBodies() []string {
	return []string{
		`{"contents":[]}`,
		" \r\n\t{ \"contents\" :\t[ { \"parts\" : [ {\"text\":\"a\"} ] ,\r\n\"role\":\"user\" } ,\n\n{\"role\" : \"model\", \"parts\" : [ ] } ] , \"n\":1.0e+3 } \n",
		`{"contents":[{"role":"user","parts":[{"text":"\ud800 \/ \ud83d\ude00"}]},{"role":"model","parts":null}],"generationConfig":null}`,
		`{"contents":[1],"contents":[{"role":"user","parts":5,"parts":[{"text":"yes"}]}],"model":"a","model":"models/m","tools":null,"systemInstruction":null}`,
		`{"\u0063ontents":[{"r\u006fle":"user","parts":[{"text":"` + "\xff\xfe" + `"}]}],"generation_config":{"maxOutputTokens":-5},"tools":[]}`,
		`{"contents":{"parts":{"text":"one"}},"tools":{"codeExecution":{}},"systemInstruction":"short"}`,
		`{"model":"gemini-x","project":"p","user_prompt_id":"u", "request":` + toolBody + `}`,
		`{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"a"}]}]}}`,
		toolBody,
		mixedBody,
		`{"project":"p","request":` + mixedBody + `}`,
	}
}

// mixedBody has contents in which people, clients and tools speak, as clients send them and
// as none does.
const mixedBody = `{"contents":[ {"role":"user","parts":[{"text":"go"}]},` +
	`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"cw=="},{"functionCall":{"name":"f","args":{}}}]},` + "\n" +
	`{"x":[1.0],"parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}} ,{"functionResponse":{"name":"f","response":{"output":"two"}}},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},` +
	` {"text":"<system-reminder>t\u006fdo</system-reminder>"},{"text":"leave it"},{"inline_data":{"mime_type":"image/png","data":"QUJD"}}],"role":"user" } ,` +
	`{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"cg=="},{"functionCall":{"name":"g","id":"own"}}]},` +
	`{"parts":[{"text":"before"},{"functionResponse":{"name":"f","response":{}}},{"text":"between"},{"text":" "},{"functionResponse":{"name":"g","id":"own","response":{"error":"no"}}},{"executableCode":{"code":"1"}},{"text":""}]},` +
	`{"role":"user","parts":[{"text":"leave it"}]},` +
	`{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"cQ=="}]},` +
	`{"role":"function","parts":5,"parts":[{"functionResponse":{"name":"f","response":{"output":"three"}}},{"text":"leave it","k":1}]}]}`

// begins returns where in r.Messages each content begins, and their end.
func begins(r llm.Request) []int {
	var at []int
	pieces, left := r.Frame.Pieces, 0 // of the content at hand that are still to come
	for i, m := range r.Messages {
		if left == 0 {
			at = append(at, i)
			if m.Envelope.Raw == nil {
				pieces, left = pieces[1:], pieces[0]
			}
		}
		if m.Envelope.Raw == nil {
			left--
		}
	}
	return append(at, len(r.Messages))
}

// eachBody calls f for every odd body and, where the corpus is there, for every body in it.
func eachBody(t *testing.T, f func(t *testing.T, body []byte)) {
	for _, body := range oddBodies() {
		t.Run("odd", func(t *testing.T) { f(t, []byte(body)) })
	}
	t.Run("corpus", func(t *testing.T) {
		calls := corpus(t)
		bodies, err := recording.Bodies(os.Getenv("PLIMSOLL_CORPUS"))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range append(calls, bodies...) {
			if x.Dialect == Dialect && x.Request != nil {
				t.Run(x.Name, func(t *testing.T) { f(t, x.Request) })
			}
		}
	})
}

func mustDecode(t testing.TB, body []byte) llm.Request {
	t.Helper()
	r, err := DecodeRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	eachBody(t, func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		got, err := EncodeRequest(mustDecode(t, body))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, before) {
			t.Fatalf("want %s\ngot  %s", before, got)
		}
		if &got[0] != &body[0] {
			t.Error("want the body itself, got a copy")
		}
	})
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
	eachBody(t, func(t *testing.T, body []byte) {
		r := mustDecode(t, body)
		for i, m := range r.Messages {
			for j, p := range m.Parts {
				var edit func(llm.Part) llm.Part
				switch p := p.(type) {
				case llm.ToolResult:
					edit = stubbed
				case llm.Text:
					if m.Envelope.Raw == nil && strings.TrimSpace(p.Text) == "" {
						continue // nobody's, until there is a word in it
					}
					edit = retold(short(m))
				case llm.ToolCall:
					edit = rearmed(`{"y":1}`)
				default:
					continue
				}
				edited := r
				edited.Messages = append([]llm.Message(nil), r.Messages...)
				edited.Messages[i] = with(m, j, edit)
				checkOnlyPart(t, r, edited, i, j)
			}
		}
	})
}

func checkOnlyPart(t *testing.T, r, edited llm.Request, i, j int) {
	t.Helper()
	got, err := EncodeRequest(edited)
	if err != nil {
		t.Fatal(err)
	}
	body := r.Frame.Raw
	at, ok := place(body, r.Messages[i].Parts[j].Bytes())
	if !ok {
		t.Fatal("the part does not share the body's bytes")
	}
	tail := len(body) - at.End
	if len(got) < at.Start+tail || !bytes.Equal(got[:at.Start], body[:at.Start]) || !bytes.Equal(got[len(got)-tail:], body[at.End:]) {
		t.Fatalf("message %d part %d: other bytes changed in %s", i, j, got)
	}
	again := mustDecode(t, got)
	for k, m := range again.Messages {
		if want := llm.DigestOf(edited.Messages[k]); k != i && llm.DigestOf(m) != want {
			t.Errorf("message %d changed", k)
		}
	}
	switch p := again.Messages[i].Parts[j].(type) {
	case llm.ToolResult:
		if p.Text() != "see <r>" || p.CallID != r.Messages[i].Parts[j].(llm.ToolResult).CallID {
			t.Errorf("got %+v", p)
		}
	case llm.Text:
		if p.Text != short(edited.Messages[i]) {
			t.Errorf("got %q", p.Text)
		}
	case llm.ToolCall:
		if p.Args != `{"y":1}` {
			t.Errorf("got %q", p.Args)
		}
	}
	if old, now := nameSignature.value(r.Messages[i].Parts[j].Bytes()), nameSignature.value(again.Messages[i].Parts[j].Bytes()); !bytes.Equal(old, now) {
		t.Errorf("want signature %s, got %s", old, now)
	}
}

// short is a text of whoever wrote m.
func short(m llm.Message) string {
	if m.Origin == llm.Note {
		return "<system-reminder>short\n</system-reminder>"
	}
	return "short\n"
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	eachBody(t, func(t *testing.T, body []byte) {
		r := mustDecode(t, body)
		each := r.Frame.Each
		if r.Frame.Messages.Len() > 0 && body[r.Frame.Messages.Start] == '{' {
			return // one message that is no array has nothing to remove from
		}
		at := begins(r)
		for i := range each {
			for k := i + 1; k <= len(each); k++ {
				if i == 0 && k < len(each) && r.Messages[at[k]].Role == llm.RoleAssistant {
					continue // would get a user message in front
				}
				start, end := each[i].Start, each[k-1].End
				if i > 0 {
					start = each[i-1].End
				} else if k < len(each) {
					end = each[k].Start
				}
				want := append(append([]byte(nil), body[:start]...), body[end:]...)
				less := r
				less.Messages = append(append([]llm.Message(nil), r.Messages[:at[i]]...), r.Messages[at[k]:]...)
				got, err := EncodeRequest(less)
				if err != nil || !json.Valid(got) || !bytes.Equal(got, want) {
					t.Fatalf("without [%d,%d): want %s\ngot  %s, %v", i, k, want, got, err)
				}
			}
		}
	})
}

// Any mix of edits, removals and additions gives JSON that decodes again, with every
// untouched message saying the same, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := DecodeRequest([]byte(rapid.SampledFrom(oddBodies()).Draw(t, "body")))
		if err != nil {
			t.Fatal(err)
		}
		var msgs []llm.Message
		for _, m := range r.Messages {
			switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit"}).Draw(t, "what") {
			case "keep":
				msgs = append(msgs, m)
			case "insert":
				note := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: rapid.String().Draw(t, "note")}}}
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
		for _, m := range msgs {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" || m.Envelope.Raw != nil {
					continue
				}
				if !bytes.Contains(got, p.Bytes()) {
					t.Fatalf("%s is not in %s", p.Bytes(), got)
				}
			}
			if m.Envelope.Raw != nil && standsAlone(m) && !bytes.Contains(got, m.Envelope.Raw) && len(m.Parts) > 0 {
				t.Fatalf("a kept message is not in its bytes in %s", got)
			}
		}
	})
}

// standsAlone reports whether m is untouched and cannot have been joined with a neighbour.
func standsAlone(m llm.Message) bool {
	for i, p := range m.Parts {
		if _, result := p.(llm.ToolResult); result || p.Bytes() == nil || m.Envelope.Spans[i].Len() != len(p.Bytes()) {
			return false
		}
	}
	return true
}

// goodReplies are replies as no encoder of ours would write them.
func oddReplies() []string {
	return []string{
		`{"candidates":[{"content":{"parts":[{"text":"Hi\ud83d\ude00"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12},"modelVersion":"m","responseId":"r"}`,
		" { \"usageMetadata\":{\"promptTokenCount\":1.0e+2,\"cachedContentTokenCount\":60,\"toolUsePromptTokenCount\":5,\"candidatesTokenCount\":7,\"thoughtsTokenCount\":3} ,\n" +
			`"candidates" : [ {"index":1,"content":{"parts":[{"text":"other"}]}} , {"finishReason":"STOP","content":{"role":"model", "parts":[{"thought":true,"text":"hm","thoughtSignature":"cw=="} , {"text":"so"},{"functionCall":{"name":"f"},"thoughtSignature":"cw=="},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"executableCode":{"code":"1"}}]},"groundingMetadata":{"a":[]}} ] }`,
		`{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":4}}`,
		`{"response":{"candidates":[{"content":{"parts":[{"text":"in"}]},"finishReason":"MAX_TOKENS"}],"responseId":"q"},"traceId":"t"}`,
		`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"x"}]}`,
	}
}

// eachReply calls f for every odd reply and every recorded one.
func eachReply(t *testing.T, f func(t *testing.T, body []byte)) {
	for _, body := range oddReplies() {
		t.Run("odd", func(t *testing.T) { f(t, []byte(body)) })
	}
	t.Run("corpus", func(t *testing.T) {
		for _, x := range corpus(t) {
			if x.JSON() {
				t.Run(x.Name, func(t *testing.T) { f(t, x.Response) })
			}
		}
	})
}

func TestLaw4UntouchedReplyIsByteIdentical(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) {
		r, err := DecodeResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := EncodeResponse(r)
		if err != nil || !bytes.Equal(got, body) || &got[0] != &body[0] {
			t.Fatalf("want the body itself, got %s, %v", got, err)
		}
	})
}

func TestLaw4EditOfAReplyChangesOnlyItsOwnBytes(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) {
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
			if !ok {
				t.Fatal("the part does not share the body's bytes")
			}
			tail := len(body) - at.End
			if !bytes.Equal(got[:at.Start], body[:at.Start]) || !bytes.Equal(got[len(got)-tail:], body[at.End:]) {
				t.Fatalf("part %d: other bytes changed in %s", j, got)
			}
			again, err := DecodeResponse(got)
			if err != nil || again.Message.Parts[j].(llm.Text).Text != "short" {
				t.Fatalf("got %s, %v", got, err)
			}
		}
	})
}

// A reply that is appended to a conversation is sent back in the bytes it came in.
func TestLaw4ReplyGoesBackInItsBytes(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) {
		r, err := DecodeResponse(body)
		if err != nil {
			t.Fatal(err)
		}
		next := mustDecode(t, []byte(`{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`))
		next.Messages = append(next.Messages, r.Message)
		got, err := EncodeRequest(next)
		if err != nil {
			t.Fatal(err)
		}
		again := mustDecode(t, got)
		if len(r.Message.Parts) > 0 && llm.DigestOf(again.Messages[len(again.Messages)-1]) != llm.DigestOf(r.Message) {
			t.Errorf("want the same message and call ids, got %s", got)
		}
		for _, p := range r.Message.Parts {
			if !bytes.Contains(got, p.Bytes()) {
				t.Errorf("want %s in %s", p.Bytes(), got)
			}
		}
	})
}
