package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func sseOf(payloads ...string) string {
	return "data: " + strings.Join(payloads, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func arrayOf(payloads ...string) string { return "[" + strings.Join(payloads, "\n,\r\n") + "\n]\n" }

// parts returns a payload with these parts.
func partsOf(parts ...string) string {
	return `{"candidates":[{"content":{"parts":[` + strings.Join(parts, ",") + `],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9},"modelVersion":"m","responseId":"r"}`
}

// last is the payload that ends a reply.
const last = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":15},"modelVersion":"m","responseId":"r"}`

// streams are whole streams by name.
func streams() map[string]string {
	text := []string{
		partsOf(`{"text":"hm \u00e4","thought":true}`), partsOf(`{"text":" so","thought":true}`),
		partsOf(`{"text":"A\ud83d\ude00","k":1}`), partsOf(`{"text":"b"}`, `{"text":"","thoughtSignature":"cw=="}`), last,
	}
	calls := []string{
		partsOf(`{"functionCall":{"name":"f","args":{"a": "}]\\\""}},"thoughtSignature":"cw=="}`, `{"functionCall":{"name":"f","args":{}}}`),
		partsOf(`{"functionCall":{"id":"own","name":"g"}}`), last,
	}
	pieces := []string{
		partsOf(`{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"cw=="}`),
		partsOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].b","stringValue":"on","willContinue":true}],"willContinue":true}}`),
		partsOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].b","stringValue":"e\n"},{"jsonPath":"$.a[0]['c d']","numberValue":1.50}],"willContinue":true}}`),
		partsOf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[1]","boolValue":true},{"jsonPath":"$.z","nullValue":"NULL_VALUE"}],"willContinue":true}}`),
		partsOf(`{"functionCall":{}}`), last,
	}
	other := []string{
		partsOf(`{"executableCode":{"language":"PYTHON","code":"1"}}`, `{"codeExecutionResult":{"output":"1"}}`, `{"inlineData":{"mimeType":"image/png","data":"QUJD"}}`),
		`{"usageMetadata":{"promptTokenCount":9}}`, `{"something":"new"}`, last,
	}
	all := map[string]string{
		"text": sseOf(text...), "text in an array": arrayOf(text...), "calls": sseOf(calls...), "calls in an array": arrayOf(calls...),
		"pieces": sseOf(pieces...), "pieces without an end": sseOf(append(pieces[:4:4], last)...), "other parts": sseOf(other...),
		"comments and line feeds": ": ping\n\nevent: x\n" + strings.ReplaceAll(sseOf(text...), "\r\n", "\n"),
		"bare values":             strings.Join(text, "\n"),
		"blocked":                 sseOf(`{"promptFeedback":{"blockReason":"JAILBREAK"},"usageMetadata":{"promptTokenCount":9}}`),
		"wrapped":                 sseOf(`{"response":`+text[2]+`}`, `{"response":`+last+`,"traceId":"t"}`),
	}
	return all
}

// eachStream calls f for every stream above and every recorded one.
func eachStream(t *testing.T, f func(t *testing.T, stream []byte)) {
	for name, s := range streams() {
		t.Run(name, func(t *testing.T) { f(t, []byte(s)) })
	}
	t.Run("corpus", func(t *testing.T) {
		for _, x := range corpus(t) {
			if x.Events() {
				t.Run(x.Name, func(t *testing.T) { f(t, x.Response) })
			}
		}
	})
}

func TestStreamIsTheSameHoweverItIsCut(t *testing.T) {
	eachStream(t, func(t *testing.T, stream []byte) {
		events := laws.Chunks(t, stream)
		if laws.InOrder(t, events); events[len(events)-1].Kind != llm.EventEnd {
			t.Error("want nothing behind the end")
		}
	})
}

// wholeAt returns where the stream could end: behind the first payload with a reason.
func wholeAt(stream []byte) int {
	at := bytes.Index(stream, []byte(`"finishReason"`))
	if at < 0 {
		at = bytes.Index(stream, []byte(`"blockReason"`))
	}
	s := valueScanner{}
	begin := bytes.LastIndexByte(stream[:at], '\n') + 1
	begin += bytes.IndexByte(stream[begin:], '{')
	end := len(stream)
	done := errors.New("done")
	for i := begin; i < len(stream); i++ {
		if s.feed(stream[i:i+1], func(_, _ []byte) error { return done }) != nil {
			end = i + 1
			break
		}
	}
	return end
}

func TestCutStreamIsAnError(t *testing.T) {
	eachStream(t, func(t *testing.T, stream []byte) {
		end := wholeAt(stream)
		if first := bytes.TrimSpace(stream); first[0] == '[' {
			end = bytes.LastIndexByte(stream, ']') + 1
		}
		laws.CutShort(t, stream, end)
	})
}

func TestReencodedStreamTellsTheSame(t *testing.T) {
	eachStream(t, func(t *testing.T, stream []byte) {
		var want []llm.Event
		for _, e := range codectest.Events(t, Codec{}, stream) {
			if e.Kind != llm.EventOther {
				want = append(want, e)
			}
		}
		out := codectest.Encoded(t, Codec{}, want)
		got := codectest.Events(t, Codec{}, out)
		if want[0].ID == "" { // the encoder makes one up
			want[0].ID = got[0].ID
		}
		oneLine(want)
		if d := codectest.Diff(want, got); d != "" {
			t.Fatalf("%s\n%s", out, d)
		}
		for i := range want {
			if want[i].Kind != llm.EventPartEnd {
				continue
			}
			old, now := nameSignature.value(want[i].Part.Bytes()), nameSignature.value(got[i].Part.Bytes())
			if !bytes.Equal(old, now) {
				t.Errorf("part %d: want signature %s, got %s", want[i].Index, old, now)
			}
		}
	})
}

// oneLine writes arguments as they are told in a stream of events, which has no line ends.
func oneLine(events []llm.Event) {
	flat := strings.NewReplacer("\n", " ", "\r", " ")
	for i, e := range events {
		if c, ok := e.Part.(llm.ToolCall); ok {
			c.Args = flat.Replace(c.Args)
			events[i].Part = c
		}
		if e.Delta == llm.DeltaArgs {
			events[i].Text = flat.Replace(e.Text)
		}
	}
}

// A reply tells the same whether it is streamed or not.
func TestStreamedReplyIsTheReply(t *testing.T) {
	eachReply(t, func(t *testing.T, body []byte) {
		want, got := laws.StreamedReply(t, body, []byte("data: "+strings.ReplaceAll(string(body), "\n", "\ndata: ")+"\n\n"))
		for i, p := range want.Message.Parts {
			if old, now := compacted(p.Bytes()), compacted(got.Message.Parts[i].Bytes()); old != now {
				t.Errorf("part %d: want bytes %s, got %s", i, old, now)
			}
		}
	})
}

// compacted takes out what framing changes in layout.
func compacted(b []byte) string { return strings.Join(strings.Fields(string(b)), "") }

func TestStreamParts(t *testing.T) {
	kinds := func(name string) string {
		r := codectest.Told(Dialect, codectest.Events(t, Codec{}, []byte(streams()[name])))
		var b strings.Builder
		for _, p := range r.Message.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				fmt.Fprintf(&b, "%s(%s) ", p.Name, p.Args)
			default:
				fmt.Fprintf(&b, "%s ", p.Bytes())
			}
		}
		fmt.Fprintf(&b, "%v %s %+v", r.Stop, r.Reason, r.Usage)
		return b.String()
	}
	const usage = "{Input:9 CacheRead:0 CacheWrite5m:0 CacheWrite1h:0 Output:6 Reasoning:2 Cleared:0 Made:0 Stored:0}"
	tests := []struct{ name, want string }{
		{"text", `{"text":"hm ä so","thought":true} {"text":"A😀b","k":1,"thoughtSignature":"cw=="} end STOP ` + usage},
		{"calls", `f({"a": "}]\\\""}) f({}) g({}) tool STOP ` + usage},
		{"pieces", `f({"a":[{"b":"one\n","c d":1.50},true],"z":null}) tool STOP ` + usage},
		{"pieces without an end", `f({"a":[{"b":"one\n","c d":1.50},true],"z":null}) tool STOP ` + usage},
		{"other parts", `{"executableCode":{"language":"PYTHON","code":"1"}} {"codeExecutionResult":{"output":"1"}} {"inlineData":{"mimeType":"image/png","data":"QUJD"}} end STOP ` + usage},
		{"blocked", `refusal JAILBREAK {Input:9 CacheRead:0 CacheWrite5m:0 CacheWrite1h:0 Output:0 Reasoning:0 Cleared:0 Made:0 Stored:0}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := kinds(test.name); got != test.want {
				t.Errorf("want %s\ngot  %s", test.want, got)
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"not JSON", "data: {\"candidates\": nope}\n\n", "want one JSON value"},
		{"no object", "data: 5\n\n", "want an object, got number"},
		{"candidates", "data: {\"candidates\":5}\n\n", "candidates (byte 14), want an array, got number"},
		{"candidate", "data: {\"candidates\":[5]}\n\n", "candidates[0] (byte 15), want an object, got number"},
		{"parts", "data: {\"candidates\":[{\"content\":{\"parts\":5}}]}\n\n", "candidates[0].content.parts"},
		{"part", "data: {\"candidates\":[{\"content\":{\"parts\":[\"a\"]}}]}\n\n", "candidates[0].content.parts[0]"},
		{"array with something else", "[1]", "want an object, a comma or the end of the array, got '1'"},
		{"something after the array", `[] {}`, "want an object, a comma or the end of the array, got '{'"},
		{"provider", "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n", "overloaded"},
		{"provider, in an array", `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, "rate limited"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDecoder()
			_, err := d.Feed([]byte(test.stream))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("want %q, got %v", test.want, err)
			}
			if _, again := d.Feed([]byte(sseOf(last))); again == nil || again.Error() != err.Error() {
				t.Errorf("after an error: want it again, got %v", again)
			}
			if _, again := d.Close(); again == nil {
				t.Error("after an error: want one from Close")
			}
		})
	}
	t.Run("is typed", func(t *testing.T) {
		_, err := codectest.Feed(Codec{}, []byte(sseOf(`{"error":{"code":503,"status":"UNAVAILABLE","message":"m"}}`)))
		var e *wire.Error
		if !errors.As(err, &e) || e.Class != wire.Overloaded || e.Status != 0 || !e.Class.Retryable() {
			t.Errorf("got %+v", err)
		}
	})
}

func TestFirstEventOfAPayloadHasItsBytes(t *testing.T) {
	payloads := []string{partsOf(`{"text":"a"}`), `{"something":"new"}`, partsOf(`{"text":"b"}`)}
	d := newDecoder()
	events, err := d.Feed([]byte(sseOf(payloads...)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.Raw != nil {
			got = append(got, string(e.Raw))
		}
	}
	if strings.Join(got, "\n") != strings.Join(payloads, "\n") {
		t.Errorf("got %q", got)
	}
}
