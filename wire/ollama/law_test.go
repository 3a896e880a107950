package ollama

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

var laws = codectest.Laws{Codec: Codec{}, NewIDs: true}

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

func eachBody(f func(body []byte)) {
	for _, text := range oddBodies() {
		f([]byte(text))
	}
}

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	eachBody(func(body []byte) { laws.Untouched(t, body) })
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	eachBody(func(body []byte) { laws.EachEdit(t, body, nil) })
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	eachBody(func(body []byte) { laws.Removed(t, body) })
}

// Any mix of edits, removals and additions gives JSON that decodes again, with every
// untouched message in its own bytes, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := laws.AnyEdit(t, oddBodies())
		for _, m := range e.Kept {
			if !bytes.Contains(e.Body, m.Envelope.Raw) {
				t.Fatalf("a kept message is not in its bytes in %s", e.Body)
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

func eachReply(f func(body []byte)) {
	for _, text := range oddReplies() {
		f([]byte(text))
	}
}

func TestLaw4UntouchedReplyIsByteIdentical(t *testing.T) {
	eachReply(func(body []byte) { laws.UntouchedReply(t, body) })
}

func TestLaw4EditOfAReplyChangesOnlyItsOwnBytes(t *testing.T) {
	eachReply(func(body []byte) { laws.EachReplyEdit(t, body) })
}

// A reply that is appended to a conversation is sent back in the bytes it came in.
func TestLaw4ReplyGoesBackInItsBytes(t *testing.T) {
	eachReply(func(body []byte) {
		laws.GoesBack(t, `{"messages":[{"role":"user","content":"a"}]}`, body)
	})
}

func FuzzRequest(f *testing.F) { codectest.Fuzz(f, laws.AnyRequest, oddBodies()...) }

func FuzzResponse(f *testing.F) { codectest.Fuzz(f, laws.AnyReply, oddReplies()...) }

// FuzzStream holds that events do not depend on how a stream is cut, and that what was
// told can be told again.
func FuzzStream(f *testing.F) {
	for _, s := range streams() {
		f.Add([]byte(s), uint(3), uint(40))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint) { laws.AnyStream(t, stream, a, b) })
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(`{"error":"request (5 tokens) exceeds the available context size (4 tokens), try increasing it"}`))
	f.Add(0, []byte(`{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":5,"n_ctx":4}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) { codectest.AnyError(t, Codec{}, status, body) })
}
