package gemini

import (
	"bytes"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

var laws = codectest.Laws{Codec: Codec{}, Opens: true, Cuts: cuts}

// cuts are those of a list; one content that is no list has nothing to remove from.
func cuts(r llm.Request) []codectest.Cut {
	if at := r.Frame.Messages; at.Len() > 0 && r.Frame.Raw[at.Start] == '{' {
		return nil
	}
	return codectest.Cuts(r)
}

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

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	eachBody(t, func(t *testing.T, body []byte) { laws.Untouched(t, body) })
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	eachBody(t, func(t *testing.T, body []byte) {
		laws.EachEdit(t, body, func(was, is llm.Part) {
			if old, now := nameSignature.value(was.Bytes()), nameSignature.value(is.Bytes()); !bytes.Equal(old, now) {
				t.Errorf("want signature %s, got %s", old, now)
			}
		})
	})
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	eachBody(t, func(t *testing.T, body []byte) { laws.Removed(t, body) })
}

// Any mix of edits, removals and additions gives JSON that decodes again, with every
// untouched message saying the same, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := laws.AnyEdit(t, oddBodies())
		for _, m := range e.Request.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" || m.Envelope.Raw != nil {
					continue
				}
				if !bytes.Contains(e.Body, p.Bytes()) {
					t.Fatalf("%s is not in %s", p.Bytes(), e.Body)
				}
			}
			if m.Envelope.Raw != nil && standsAlone(m) && !bytes.Contains(e.Body, m.Envelope.Raw) && len(m.Parts) > 0 {
				t.Fatalf("a kept message is not in its bytes in %s", e.Body)
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

// oddReplies are replies as no encoder of ours would write them.
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
	eachReply(t, func(t *testing.T, body []byte) { laws.UntouchedReply(t, body) })
}

func TestLaw4EditOfAReplyChangesOnlyItsOwnBytes(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) { laws.EachReplyEdit(t, body) })
}

// A reply that is appended to a conversation is sent back in the bytes it came in.
func TestLaw4ReplyGoesBackInItsBytes(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) {
		laws.GoesBack(t, `{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`, body)
	})
}
