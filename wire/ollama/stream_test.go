package ollama

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
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
		t.Run(name, func(t *testing.T) {
			stream := []byte(text)
			want, err := feed(stream)
			if err != nil {
				t.Fatal(err)
			}
			var each []int
			for cut := range stream {
				each = append(each, cut)
				if got, err := feed(stream, cut); err != nil || !reflect.DeepEqual(want, got) {
					t.Fatalf("cut at %d: %v\n%s", cut, err, diff(want, got))
				}
			}
			if got, err := feed(stream, each...); err != nil || !reflect.DeepEqual(want, got) {
				t.Fatalf("byte by byte: %v\n%s", err, diff(want, got))
			}
		})
	}
}

func TestCutStreamIsAnError(t *testing.T) {
	for name, text := range streams() {
		t.Run(name, func(t *testing.T) {
			end := strings.Index(text, `"done":true`)
			end += strings.IndexByte(text[end:], '}')
			for n := 0; n <= end; n++ {
				if _, err := feed([]byte(text[:n])); !errors.Is(err, wire.ErrCut) {
					t.Fatalf("%d of %d bytes: want a cut stream, got %v", n, len(text), err)
				}
			}
			if _, err := feed([]byte(text[:end+1])); err != nil {
				t.Errorf("with the last line: %v", err)
			}
		})
	}
}

func TestReencodedStreamTellsTheSame(t *testing.T) {
	for name, text := range streams() {
		t.Run(name, func(t *testing.T) {
			all, err := feed([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var want []llm.Event
			for _, e := range all {
				if e.Kind != llm.EventOther {
					want = append(want, e)
				}
			}
			out := encoded(t, want)
			if got, err := feed(out); err != nil || diff(want, got) != "" {
				t.Fatalf("%v %s\n%s", err, out, diff(want, got))
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
			events, err := feed([]byte(streams()[test.name]))
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
		want, err := DecodeResponse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		events, err := feed([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var a wire.Reply
		for _, e := range events {
			a.Add(e)
		}
		want.Raw = nil
		got := a.Response(Dialect)
		if !reflect.DeepEqual(want, got) {
			t.Error(diff(want, got))
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

func TestEncoderKeepsTheOrderOfAStream(t *testing.T) {
	start := llm.Event{Kind: llm.EventStart}
	for name, events := range map[string][]llm.Event{
		"no start":               {{Kind: llm.EventPartStart, Part: llm.Text{}}},
		"two starts":             {start, start},
		"delta of no part":       {start, {Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "a"}},
		"end of no part":         {start, {Kind: llm.EventPartEnd, Part: llm.Text{}}},
		"something after an end": {start, {Kind: llm.EventEnd}, {Kind: llm.EventEnd}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &encoder{}
			var err error
			for _, e := range events {
				_, err = n.Append(nil, e)
			}
			if err == nil {
				t.Error("want an error")
			}
		})
	}
}

// What another dialect streamed is written from its neutral fields alone.
func TestEncodeEventsOfAnotherDialect(t *testing.T) {
	events := wire.Events(llm.Response{ID: "msg_1", Model: "claude", Stop: llm.StopTool, Reason: "tool_use", Message: llm.Message{Parts: []llm.Part{
		llm.Thinking{Text: "hm", Signature: "c2ln"},
		llm.Thinking{Signature: "x", Redacted: true},
		llm.Text{Text: "ok", Raw: rawOf(`{"type":"text","text":"ok"}`)},
		llm.ToolCall{CallID: "toolu_1", Name: "f", Raw: rawOf(`{"type":"tool_use"}`)},
		llm.ToolCall{CallID: "srv", Name: "web_search", Hosted: true},
		llm.Opaque{Kind: "x", Raw: rawOf(`{"type":"x"}`)},
	}}, Usage: llm.Usage{Input: 5, CacheRead: 4, CacheWrite5m: 1, Output: 3, Reasoning: 1}})
	got, err := feed(encoded(t, events))
	if err != nil {
		t.Fatal(err)
	}
	var a wire.Reply
	for _, e := range got {
		a.Add(e)
	}
	want := llm.Response{Model: "claude", Stop: llm.StopTool, Reason: "stop", Dialect: Dialect, Usage: llm.Usage{Input: 10, Output: 3}, Message: llm.Message{
		Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect, Parts: []llm.Part{
			llm.Thinking{Text: "hm"}, llm.Text{Text: "ok"}, llm.ToolCall{CallID: "toolu_1", Name: "f", Args: "{}"},
		},
	}}
	if d := diff(want, a.Response(Dialect)); d != "" {
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
			w := &encoder{}
			for _, x := range before {
				if _, err := w.Append(nil, x); err != nil {
					t.Fatal(err)
				}
			}
			out := w.AppendError(nil, e)
			_, err := feed(out)
			var got *wire.Error
			if !errors.As(err, &got) || got.Class != e.Class || got.Used != e.Used || got.Window != e.Window || strings.Count(string(out), "\n") != 1 {
				t.Errorf("want %v in one line, got %v in %s", e, err, out)
			}
			if _, err := w.Append(nil, llm.Event{Kind: llm.EventEnd}); err == nil {
				t.Error("want nothing to be appended after an error")
			}
		}
	}
}
