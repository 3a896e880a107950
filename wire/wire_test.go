package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestEventsTellTheReply(t *testing.T) {
	want := llm.Response{
		ID: "id", Model: "m", Stop: llm.StopTool, Reason: "tool_use", Dialect: "x",
		Usage: llm.Usage{Input: 1, CacheRead: 2, Output: 3, Reasoning: 1}, Extra: llm.Usage{Input: 4},
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: "x", Parts: []llm.Part{
			llm.Thinking{Text: "hm", Signature: "s"},
			llm.Thinking{Signature: "hidden", Redacted: true},
			llm.Text{Text: "a"},
			llm.Text{},
			llm.ToolCall{CallID: "c", Name: "f", Args: `{"x":1}`},
			llm.ToolCall{CallID: "d", Name: "g", Hosted: true},
			llm.Opaque{Kind: "k", Raw: llm.Raw{Data: []byte(`{}`)}},
		}},
	}
	var reply Reply
	deltas := map[int]string{}
	for _, e := range Events(want) {
		if reply.Ended() {
			t.Fatal("want End to be the last event")
		}
		reply.Add(e)
		if e.Kind == llm.EventDelta {
			deltas[e.Index] += e.Text
		}
	}
	if d := cmp.Diff(want, reply.Response("x")); d != "" || !reply.Ended() {
		t.Errorf("ended %v (-want +got)\n%s", reply.Ended(), d)
	}
	if d := cmp.Diff(map[int]string{0: "hms", 2: "a", 4: `{"x":1}`}, deltas); d != "" {
		t.Errorf("deltas (-want +got)\n%s", d)
	}
}

func TestReplyOfAStreamThatIsCut(t *testing.T) {
	var reply Reply
	for _, e := range []llm.Event{
		{Kind: llm.EventStart, ID: "id"},
		{Kind: llm.EventPartStart, Index: 0, Part: llm.Text{}},
		{Kind: llm.EventPartStart, Index: 1, Part: llm.Text{}},
		{Kind: llm.EventPartEnd, Index: 1, Part: llm.Text{Text: "second"}},
		{Kind: llm.EventPartEnd, Index: 0, Part: llm.Text{Text: "first"}},
		{Kind: llm.EventPartStart, Index: 2, Part: llm.Text{}},
		{Kind: llm.EventDelta, Index: 2, Delta: llm.DeltaText, Text: "half"},
	} {
		reply.Add(e)
	}
	r := reply.Response("x")
	if got := r.Message.Text(); got != "first\nsecond" || reply.Ended() || r.Stop != llm.StopUnknown {
		t.Errorf("want the whole parts in their order and no end, got %q, %v, %v", got, reply.Ended(), r.Stop)
	}
}

func TestClassOfStatus(t *testing.T) {
	for status, want := range map[int]Class{
		200: Unclassified, 400: BadRequest, 401: Auth, 402: Billing, 403: Auth, 404: NotFound, 408: Timeout, 409: BadRequest,
		413: TooLarge, 418: BadRequest, 429: RateLimited, 500: ServerFault, 502: ServerFault, 503: Overloaded, 504: Timeout, 529: Overloaded,
	} {
		if got := ClassOfStatus(status); got != want {
			t.Errorf("%d: want %s, got %s", status, want, got)
		}
	}
}

func TestError(t *testing.T) {
	for want, e := range map[string]*Error{
		"provider: rate limited (429 rate_limit_error): slow down":    {Class: RateLimited, Status: 429, Type: "rate_limit_error", Code: "rate_limit_error", Message: "slow down"},
		"provider: too long (invalid_request_error context): too big": {Class: TooLong, Type: "invalid_request_error", Code: "context", Message: "too big"},
		"provider: server fault (502): <html>":                        {Class: ServerFault, Status: 502, Body: []byte("<html>")},
		"provider: server fault (500): no reply, {\ufffd":             {Class: ServerFault, Status: 500, Message: "no reply,\n\t{\xe2\x80\n"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	if got := (&Error{Body: []byte(strings.Repeat("x", 5000))}).Error(); len(got) > 300 {
		t.Errorf("want a body to be shown short, got %d bytes", len(got))
	}
	for c := range ServerFault + 1 {
		if c.String() == "" || c > 0 && c.String() == Unclassified.String() {
			t.Errorf("class %d has no name", c)
		}
	}
}
