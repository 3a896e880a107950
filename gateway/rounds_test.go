package gateway_test

import (
	"net/http"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// streamed returns the stream of a reply.
func streamed(t *testing.T, m llm.Message, stop llm.Stop) (out []byte) {
	t.Helper()
	codec, _ := codecs.For(dialect)
	e := codec.NewEncoder()
	for _, event := range wire.Events(llm.Response{ID: "m1", Model: "scripted", Message: m, Stop: stop, Usage: llm.Usage{Input: 60, Output: 9}}) {
		var err error
		out, err = e.Append(out, event)
		must(t, err)
	}
	return out
}

// TestServedLate: between the end of a reply that calls a tool unseen by the client and the
// answer to that call, the same request comes in again and is answered. The late reply is not
// put behind the other one, and its client is told to ask again.
func TestServedLate(t *testing.T) {
	g, err := gateway.New(gateway.Options{Allow: func(_, _, tool string) bool { return tool != "shell" }})
	must(t, err)
	c := newTalk(t, "Clean up.")
	first := c.sends(g).Relay(t.Context(), true)
	_, _ = first.Write(streamed(t, llm.AssistantText("I see.", llm.ToolCall{CallID: "c1", Name: "shell", Args: `{}`}), llm.StopTool))
	second := c.sends(g).Relay(t.Context(), true)
	_, _ = second.Write(streamed(t, llm.AssistantText("I will not."), llm.StopEnd))
	_, _ = second.Again(t.Context())
	second.End()
	if _, again := first.Again(t.Context()); again || first.Status() < http.StatusInternalServerError {
		t.Errorf("want an error, got another Round %t, status %d", again, first.Status())
	}
	first.End()
	if r := c.answered("I will not.").says("Why?").sends(g).Report(); r.Match != gateway.MatchNext {
		t.Errorf("want the conversation to go on, got %s", r.Match)
	}
}
