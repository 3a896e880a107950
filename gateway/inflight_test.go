package gateway_test

import (
	"net/http"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestRefusedOutOfMemory: more conversations are in flight than are kept in memory, and the
// provider refuses the one that was let go of. It is sent again, shorter, all the same.
func TestRefusedOutOfMemory(t *testing.T) {
	g, err := gateway.New(gateway.Options{Store: &store.Memory{}, Sessions: 1, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 100_000, OutputReserve: 500}
	}})
	must(t, err)
	long := newTalk(t, "Read.")
	for range 8 {
		long.reads(100)
	}
	call := func(c *talk) gateway.Call {
		return gateway.Call{Provider: "anthropic", Dialect: dialect, Body: c.body()}
	}
	x, err := g.Begin(t.Context(), call(long))
	must(t, err)
	_, err = g.Begin(t.Context(), call(newTalk(t, "Something else.")))
	must(t, err)
	const refusal = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 6000 maximum"}}`
	if !x.Refused(t.Context(), http.StatusBadRequest, []byte(refusal)) || len(x.Body()) >= len(long.body()) {
		t.Fatalf("want a shorter body, got one of %d bytes of the client's %d", len(x.Body()), len(long.body()))
	}
	ends(t, x)
	shorter := x.Body()
	if x, err = g.Begin(t.Context(), call(long)); err != nil || string(x.Body()) != string(shorter) {
		t.Errorf("a retry: want the bytes that were sent, got others (%v)", err)
	}
	if r := x.Report(); r.Match != gateway.MatchRetry || r.Class != wire.Unclassified {
		t.Errorf("want a retry, got %+v", r)
	}
}

// TestResponseIDAgain: a server that counts its responses begins again with the first id. A
// request that goes on with it goes on with what it means now.
func TestResponseIDAgain(t *testing.T) {
	g := begin(t, &store.Memory{})
	call := func(body string) *gateway.Exchange {
		x, err := g.Begin(t.Context(), gateway.Call{Provider: "openai", Dialect: "openai-responses", Body: []byte(body)})
		must(t, err)
		return x
	}
	for _, words := range []string{"The old story.", "The new story."} {
		r := call(`{"model":"m","input":[{"role":"user","content":"`+words+`"},{"role":"user","content":"Go on."}]}`).Relay(t.Context(), false)
		_, _ = r.Write([]byte(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed",` +
			`"content":[{"type":"output_text","text":"Once.","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`))
		r.End()
	}
	next := call(`{"model":"m","input":"And then?","previous_response_id":"resp_1"}`).Report()
	again := call(`{"model":"m","input":[{"role":"user","content":"The new story."},{"role":"user","content":"Go on."}]}`).Report()
	if next.Match != gateway.MatchNext || next.Messages != 4 {
		t.Fatalf("want the next request of a conversation, with 4 messages, got %+v", next)
	}
	if next.Session[:len(next.Session)-2] != again.Session[:len(again.Session)-2] {
		t.Errorf("want it to go on with %s, the conversation that has the id now, got %s", again.Session, next.Session)
	}
}
