package scriptmodel

import (
	"net/http/httptest"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestThink: what the script has no reply for is thought of, from what stands in the request.
func TestThink(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "reply when user \"first\"\n  text \"scripted\"\n")
		r.server = New(r.server.script, Options{Think: func(req llm.Request) Reply {
			return Reply{Parts: []Saying{{Kind: SayText, Text: "thought of " + req.Messages[len(req.Messages)-1].Text()}}}
		}})
		listener := httptest.NewServer(r.server)
		t.Cleanup(listener.Close)
		r.url = listener.URL
		for _, want := range []string{"scripted", "thought of first"} {
			if got := r.ask(r.opening("first", false), false).Message.Text(); got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
	})
}
