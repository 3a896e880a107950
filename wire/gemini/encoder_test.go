package gemini

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func TestEncoderKeepsTheOrderOfAStream(t *testing.T) { codectest.EncodesInOrder(t, Codec{}) }

// What another dialect streamed is written from its neutral fields alone.
func TestEncodeEventsOfAnotherDialect(t *testing.T) {
	events := wire.Events(llm.Response{ID: "msg_1", Model: "claude", Stop: llm.StopTool, Reason: "tool_use", Message: llm.Message{Parts: []llm.Part{
		llm.Thinking{Text: "hm", Signature: "c2ln"},
		llm.Thinking{Signature: "gAAA_-", Text: "more"},
		llm.Text{Text: "ok", Raw: codectest.RawOf(`{"type":"text","text":"ok"}`)},
		llm.ToolCall{CallID: "toolu_1", Name: "f", Args: "", Raw: codectest.RawOf(`{"type":"tool_use"}`)},
		llm.ToolCall{CallID: "srv", Name: "web_search", Hosted: true},
		llm.Opaque{Kind: "x", Raw: codectest.RawOf(`{"type":"x"}`)},
	}}, Usage: llm.Usage{Input: 5, CacheRead: 4, CacheWrite5m: 1, Output: 3, Reasoning: 1}})
	got := codectest.Told(Dialect, codectest.Events(t, Codec{}, codectest.Encoded(t, Codec{}, events)))
	want := llm.Response{ID: "msg_1", Model: "claude", Stop: llm.StopTool, Reason: "STOP", Dialect: Dialect, Usage: llm.Usage{Input: 6, CacheRead: 4, Output: 3, Reasoning: 1}, Message: llm.Message{
		Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect, Parts: []llm.Part{
			llm.Thinking{Text: "hm", Signature: "c2ln"}, llm.Thinking{Text: "more"}, llm.Text{Text: "ok"}, llm.ToolCall{CallID: "toolu_1", Name: "f", Args: "{}"},
		},
	}}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// wrote returns the payloads that an encoder writes for each event.
func wrote(t *testing.T, events ...llm.Event) [][]string {
	t.Helper()
	n := &encoder{}
	var all [][]string
	for _, e := range events {
		out, err := n.Append(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		var each []string
		for _, p := range strings.Split(strings.TrimSpace(string(out)), "\n\n") {
			if p != "" {
				each = append(each, strings.TrimPrefix(p, "data: "))
			}
		}
		all = append(all, each)
	}
	return all
}

func delta(index int, text string) llm.Event {
	return llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaText, Index: index, Text: text}
}

// Clients drop a part that has a signature and nothing else, so that the signature goes
// with text; only the newest delta waits for it.
func TestSignatureGoesWithText(t *testing.T) {
	whole := llm.Thinking{Text: "ab", Signature: "c2ln"}
	got := wrote(
		t, llm.Event{Kind: llm.EventStart, Usage: llm.Usage{Input: 7, CacheRead: 2}}, llm.Event{Kind: llm.EventPartStart, Part: llm.Thinking{}}, delta(0, "a"), delta(0, "b"),
		llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaSignature, Text: "c2ln"}, llm.Event{Kind: llm.EventPartEnd, Part: whole},
		llm.Event{Kind: llm.EventPartStart, Index: 1, Part: llm.Thinking{}}, llm.Event{Kind: llm.EventPartEnd, Index: 1, Part: llm.Thinking{Signature: "czI="}},
		llm.Event{Kind: llm.EventPartStart, Index: 2, Part: llm.Text{}}, delta(2, "c"), llm.Event{Kind: llm.EventEnd, Stop: llm.StopEnd},
	)
	payload := func(parts, more string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `,"index":0}],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":2,"candidatesTokenCount":0,"totalTokenCount":9},"modelVersion":"","responseId":"response"}`
	}
	end := payload(`{"text":""}`, `,"finishReason":"STOP"`) // it states no usage: what is known holds
	want := [][]string{
		nil, nil, nil,
		{payload(`{"text":"a","thought":true}`, "")}, // as soon as there is a newer one
		nil,
		{payload(`{"text":"b","thought":true,"thoughtSignature":"c2ln"}`, "")},
		nil,
		{payload(`{"text":"","thought":true,"thoughtSignature":"czI="}`, "")}, // there is no text for it
		nil, nil,
		{payload(`{"text":"c"}`, ""), end},
	}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Of parts that overlap nothing is lost, and what was said first is written first.
func TestOverlappingParts(t *testing.T) {
	all := wrote(
		t, llm.Event{Kind: llm.EventStart}, llm.Event{Kind: llm.EventPartStart, Part: llm.Text{}}, delta(0, "a"),
		llm.Event{Kind: llm.EventPartStart, Index: 1, Part: llm.Thinking{}}, delta(1, "b"), delta(0, "c"),
		llm.Event{Kind: llm.EventPartStart, Index: 2, Part: llm.ToolCall{CallID: "i", Name: "f"}}, llm.Event{Kind: llm.EventPartEnd, Index: 2, Part: llm.ToolCall{CallID: "i", Name: "f"}},
		llm.Event{Kind: llm.EventPartEnd, Index: 1, Part: llm.Thinking{Text: "b", Signature: "c2ln"}}, llm.Event{Kind: llm.EventPartEnd, Part: llm.Text{Text: "ac"}}, llm.Event{Kind: llm.EventEnd, Stop: llm.StopTool},
	)
	var got []string
	for _, payloads := range all {
		for _, p := range payloads {
			_, rest, _ := strings.Cut(p, `"parts":[`)
			part, _, _ := strings.Cut(rest, `],"role"`)
			got = append(got, part)
		}
	}
	want := []string{
		`{"text":"a"}`, `{"text":"b","thought":true}`, `{"text":"c"}`, `{"functionCall":{"id":"i","name":"f","args":{}}}`,
		`{"text":"","thought":true,"thoughtSignature":"c2ln"}`, `{"text":""}`,
	}
	if d := codectest.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// An error ends a stream after all that was said before it, and is read back as it was.
func TestErrorEndsAStream(t *testing.T) {
	events := []llm.Event{{Kind: llm.EventStart, ID: "r"}, {Kind: llm.EventPartStart, Part: llm.Text{}}, delta(0, "a"), delta(0, "b")}
	for _, e := range []*wire.Error{
		{Class: wire.Overloaded, Message: "full"},
		{Class: wire.TooLong, Used: 5, Window: 4},
		{Class: wire.RateLimited, Body: []byte("{\"error\":{\n\"code\":429,\"message\":\"slow\",\"status\":\"RESOURCE_EXHAUSTED\"}}")},
		{Class: wire.ServerFault, Body: []byte("no JSON")},
	} {
		for n := range len(events) + 1 {
			_, before := codectest.ErrorEnds(t, Codec{}, events[:n], e)
			text := ""
			for _, x := range before {
				text += x.Text
			}
			if want := "ab"[:max(n-2, 0)]; text != want {
				t.Errorf("after %d events: want text %q before the error, got %q", n, want, text)
			}
		}
	}
}
