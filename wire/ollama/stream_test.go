package ollama

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func lineOf(message string) string {
	return `{"model":"m","created_at":"2026-01-02T03:04:05.678Z","message":{"role":"assistant",` + message + `},"done":false}`
}

// last is the line that ends a reply.
const last = `{"model":"m","created_at":"2026-01-02T03:04:06Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":99,"prompt_eval_count":9,"eval_count":4}`

func linesOf(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// streams are whole streams by name.
func streams() map[string]string {
	return map[string]string{
		"text": linesOf(lineOf(`"content":"The"`), lineOf(`"content":" sk\u0079 \ud83d\ude00"`), last),
		"thinking and calls": linesOf(lineOf(`"content":"","thinking":"hm"`), lineOf(`"content":"","thinking":" so"`), lineOf(`"content":"Well"`),
			lineOf(`"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"a" : "\n"}}},{"id":"own","function":{"name":"g","arguments":{}}}]`),
			lineOf(`"content":"more"`), lineOf(`"content":"","tool_calls":[{"function":{"name":"f"}}]`), last),
		"one line":            linesOf(`{"model":"m","message":{"role":"assistant","content":"a","thinking":"t","images":["QUJD"]},"done":true,"done_reason":"length","eval_count":1}`),
		"load":                linesOf(`{"model":"m","message":{"role":"assistant","content":""},"done_reason":"load","done":true}`),
		"blank lines, CRLF":   strings.ReplaceAll("\n\n"+linesOf(lineOf(`"content":"a"`), "", last), "\n", "\r\n"),
		"something else":      linesOf(`{"status":"pulling"}`, lineOf(`"content":"a"`), last, `{"x":1}`),
		"no line end":         lineOf(`"content":"a"`) + "\n" + last,
		"the text in the end": linesOf(lineOf(`"content":"a"`), strings.Replace(last, `"content":""`, `"content":"b"`, 1)),
	}
}

func TestStreamIsTheSameHoweverItIsCut(t *testing.T) {
	for name, text := range streams() {
		t.Run(name, func(t *testing.T) { laws.InOrder(t, laws.Chunks(t, []byte(text))) })
	}
}

func TestCutStreamIsAnError(t *testing.T) {
	for name, text := range streams() {
		t.Run(name, func(t *testing.T) {
			end := strings.Index(text, `"done":true`)
			end += strings.IndexByte(text[end:], '}') + 1
			laws.CutShort(t, []byte(text), end)
			codectest.Events(t, Codec{}, []byte(text[:end]))
		})
	}
}

func TestReencodedStreamTellsTheSame(t *testing.T) {
	for name, text := range streams() {
		t.Run(name, func(t *testing.T) {
			var want []llm.Event
			for _, e := range codectest.Events(t, Codec{}, []byte(text)) {
				if e.Kind != llm.EventOther {
					want = append(want, e)
				}
			}
			out := codectest.Encoded(t, Codec{}, want)
			if got, err := codectest.Feed(Codec{}, out); err != nil || codectest.Diff(want, got) != "" {
				t.Fatalf("%v %s\n%s", err, out, codectest.Diff(want, got))
			}
		})
	}
}

func TestStreamParts(t *testing.T) {
	tests := []struct{ name, want string }{
		{"text", `"The sky 😀" end stop 9 4`},
		{"thinking and calls", `"thinking":"hm so" "Well" f({"a" : "\n"}) g({}) "more" f({}) tool stop 9 4`},
		{"one line", `"thinking":"t" "a" "QUJD" length length 0 1`},
		{"load", `unknown load 0 0`},
		{"the text in the end", `"ab" end stop 9 4`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events, err := codectest.Feed(Codec{}, []byte(streams()[test.name]))
			if err != nil {
				t.Fatal(err)
			}
			var a wire.Reply
			deltas := map[int]string{}
			var b strings.Builder
			for _, e := range events {
				a.Add(e)
				deltas[e.Index] += e.Text
			}
			r := a.Response(Dialect)
			for i, p := range r.Message.Parts {
				whole := deltas[i]
				switch p := p.(type) {
				case llm.ToolCall:
					fmt.Fprintf(&b, "%s(%s) ", p.Name, p.Args)
					whole = p.Args
				case llm.Text:
					whole = p.Text
				case llm.Thinking:
					whole = p.Text
				}
				if _, call := p.(llm.ToolCall); !call {
					fmt.Fprintf(&b, "%s ", p.Bytes())
				}
				if whole != deltas[i] {
					t.Errorf("part %d: want deltas %q, got %q", i, whole, deltas[i])
				}
			}
			fmt.Fprintf(&b, "%v %s %d %d", r.Stop, r.Reason, r.Usage.Input, r.Usage.Output)
			if b.String() != test.want {
				t.Errorf("want %s\ngot  %s", test.want, &b)
			}
		})
	}
}

// A reply tells the same whether it is streamed or not.
func TestStreamedReplyIsTheReply(t *testing.T) {
	for _, body := range oddReplies() {
		if want, got := laws.StreamedReply(t, []byte(body), []byte(body)); !reflect.DeepEqual(want, got) {
			t.Errorf("want its parts in the same bytes: %s", cmp.Diff(want, got))
		}
	}
}

func TestStreamErrors(t *testing.T) {
	for _, test := range []struct{ name, stream, want string }{
		{"not JSON", "data: {}\n", "want one JSON value"},
		{"no object", "5\n", "want an object, got number"},
		{"message", `{"message":5}` + "\n", "message (byte 11), want an object, got number"},
		{"content", `{"message":{"content":[]}}` + "\n", "message (byte 22), want content that is a string, got array"},
		{"calls", `{"message":{"tool_calls":{}}}` + "\n", "message (byte 25), want tool_calls that are an array, got object"},
		{"provider", linesOf(lineOf(`"content":"a"`), `{"error":"an error was encountered while running the model"}`), "server fault"},
		{"provider, with a status", linesOf(`{"error":"too many requests","status":429}`), "rate limited"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDecoder()
			_, err := d.Feed([]byte(test.stream))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("want %q, got %v", test.want, err)
			}
			if _, again := d.Close(); again == nil {
				t.Error("after an error: want one from Close")
			}
		})
	}
}

func TestEncoderKeepsTheOrderOfAStream(t *testing.T) { codectest.EncodesInOrder(t, Codec{}) }

// What another dialect streamed is written from its neutral fields alone.
func TestEncodeEventsOfAnotherDialect(t *testing.T) {
	events := wire.Events(llm.Response{ID: "msg_1", Model: "claude", Stop: llm.StopTool, Reason: "tool_use", Message: llm.Message{Parts: []llm.Part{
		llm.Thinking{Text: "hm", Signature: "c2ln"},
		llm.Thinking{Signature: "x", Redacted: true},
		llm.Text{Text: "ok", Raw: codectest.RawOf(`{"type":"text","text":"ok"}`)},
		llm.ToolCall{CallID: "toolu_1", Name: "f", Raw: codectest.RawOf(`{"type":"tool_use"}`)},
		llm.ToolCall{CallID: "srv", Name: "web_search", Hosted: true},
		llm.Opaque{Kind: "x", Raw: codectest.RawOf(`{"type":"x"}`)},
	}}, Usage: llm.Usage{Input: 5, CacheRead: 4, CacheWrite5m: 1, Output: 3, Reasoning: 1}})
	got := codectest.Told(Dialect, codectest.Events(t, Codec{}, codectest.Encoded(t, Codec{}, events)))
	want := llm.Response{Model: "claude", Stop: llm.StopTool, Reason: "stop", Dialect: Dialect, Usage: llm.Usage{Input: 10, Output: 3}, Message: llm.Message{
		Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect, Parts: []llm.Part{
			llm.Thinking{Text: "hm"}, llm.Text{Text: "ok"}, llm.ToolCall{CallID: "toolu_1", Name: "f", Args: "{}"},
		},
	}}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// An error ends a stream in one line, and is read back as it was.
func TestErrorEndsAStream(t *testing.T) {
	for _, e := range []*wire.Error{
		{Class: wire.Overloaded, Message: "server busy"},
		{Class: wire.TooLong, Used: 5, Window: 4},
		{Class: wire.ServerFault},
		{Class: wire.NotFound, Body: []byte("{\"error\":\n\"model 'x' not found\"}\n")},
		{Class: wire.ServerFault, Message: "broken", Body: []byte("no JSON")},
	} {
		for _, before := range [][]llm.Event{nil, {{Kind: llm.EventStart, Model: "m"}}} {
			if out, _ := codectest.ErrorEnds(t, Codec{}, before, e); strings.Count(string(out), "\n") != 1 {
				t.Errorf("want %v in one line, got %s", e, out)
			}
		}
	}
}
