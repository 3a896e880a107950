package gateway_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// tooLong is a provider's refusal of a prompt's length.
const tooLong = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 6000 maximum"}}`

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
	if !x.Refused(t.Context(), http.StatusBadRequest, []byte(tooLong)) || len(x.Body()) >= len(long.body()) {
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
// request that goes on with it goes on with what it means now, also after a restart.
func TestResponseIDAgain(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		s := &store.Memory{}
		responseIDAgain(t, func() store.Store { return s })
	})
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		var open *sqlite.Store
		again := func() store.Store {
			if open != nil {
				must(t, open.Close())
			}
			var err error
			open, err = sqlite.Open(t.Context(), path, sqlite.Options{})
			must(t, err)
			return open
		}
		defer func() { must(t, open.Close()) }()
		responseIDAgain(t, again)
	})
}

// responseIDAgain is TestResponseIDAgain on one store, which is opened at each restart.
func responseIDAgain(t *testing.T, open func() store.Store) {
	g := begin(t, open())
	restart := func() {
		must(t, g.Close(t.Context()))
		g = begin(t, open())
	}
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
		restart()
	}
	next := call(`{"model":"m","input":"And then?","previous_response_id":"resp_1"}`).Report()
	restart()
	again := call(`{"model":"m","input":[{"role":"user","content":"The new story."},{"role":"user","content":"Go on."}]}`).Report()
	if next.Match != gateway.MatchNext || next.Messages != 4 {
		t.Fatalf("want the next request of a conversation, with 4 messages, got %+v", next)
	}
	if next.Session[:len(next.Session)-2] != again.Session[:len(again.Session)-2] {
		t.Errorf("want it to go on with %s, the conversation that has the id now, got %s", again.Session, next.Session)
	}
}

// TestResponsesInMemory: responses that were read once are not read again, and what an id means
// changes with the store, whoever changes that: the same process or another one.
func TestResponsesInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	var all []*gateway.Gateway
	for range 2 {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		must(t, err)
		defer func() { must(t, s.Close()) }()
		all = append(all, begin(t, s))
	}
	call := func(g *gateway.Gateway, body string) *gateway.Exchange {
		x, err := g.Begin(t.Context(), gateway.Call{Provider: "openai", Dialect: "openai-responses", Body: []byte(body)})
		must(t, err)
		return x
	}
	tells := func(g *gateway.Gateway, words string) {
		r := call(g, `{"model":"m","input":"`+words+`"}`).Relay(t.Context(), false)
		_, _ = r.Write([]byte(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed",` +
			`"content":[{"type":"output_text","text":"Once.","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`))
		r.End()
	}
	family := func(r gateway.Report) string { return r.Session[:len(r.Session)-2] }
	for n, g := range []*gateway.Gateway{all[0], all[0], all[1], all[0], all[1]} {
		words := fmt.Sprintf("Story number %d.", n)
		tells(g, words)
		want := family(call(all[0], `{"model":"m","input":"`+words+`"}`).Report())
		for range 2 {
			next := call(all[0], `{"model":"m","input":"And then?","previous_response_id":"resp_1"}`).Report()
			if family(next) != want || next.Messages != 3 {
				t.Errorf("story %d: want it gone on with, in %s with 3 messages, got %+v", n, want, next)
			}
		}
	}
}

// TestResponseIncomplete: a client goes on with a response that had no room for its end, streamed
// or not.
func TestResponseIncomplete(t *testing.T) {
	const response = `{"id":"resp_1","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[` +
		`{"type":"message","id":"msg_1","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":"Once upon","annotations":[]}]}],` +
		`"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`
	for _, streamed := range []bool{false, true} {
		g := begin(t, nil)
		call := func(body string) *gateway.Exchange {
			x, err := g.Begin(t.Context(), gateway.Call{Provider: "openai", Dialect: "openai-responses", Body: []byte(body)})
			if err != nil {
				t.Fatalf("streamed %t: %v", streamed, err)
			}
			return x
		}
		reply := response
		if streamed {
			reply = `event: response.created` + "\n" + `data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}` + "\n\n" +
				`event: response.incomplete` + "\n" + `data: {"type":"response.incomplete","sequence_number":1,"response":` + response + "}\n\n"
		}
		r := call(fmt.Sprintf(`{"model":"m","stream":%t,"input":"A story."}`, streamed)).Relay(t.Context(), streamed)
		_, _ = r.Write([]byte(reply))
		r.End()
		if next := call(`{"model":"m","input":"Go on.","previous_response_id":"resp_1"}`).Report(); next.Match != gateway.MatchNext || next.Messages != 3 {
			t.Errorf("streamed %t: want the next request of a conversation, with 3 messages, got %+v", streamed, next)
		}
	}
}

// TestRefusedTwiceAtOnce: a client sends the same request twice at once, and the provider
// refuses both for their length. Both are sent again, shorter, and with the same bytes.
func TestRefusedTwiceAtOnce(t *testing.T) {
	for name, order := range map[string][]int{"in_order": {0, 1}, "the_other_first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window {
				return budget.Window{Capacity: 100_000, OutputReserve: 500}
			}})
			must(t, err)
			c := newTalk(t, "Read.")
			for range 8 {
				c.reads(100)
			}
			both := []*gateway.Exchange{c.sends(g), c.sends(g)}
			for _, n := range order {
				x := both[n]
				if !x.Refused(t.Context(), http.StatusBadRequest, []byte(tooLong)) || len(x.Body()) >= len(c.body()) {
					t.Fatalf("request %d: want a shorter body, got one of %d bytes of the client's %d", n+1, len(x.Body()), len(c.body()))
				}
			}
			if string(both[0].Body()) != string(both[1].Body()) {
				t.Errorf("want the same bytes, got %d and %d", len(both[0].Body()), len(both[1].Body()))
			}
			if r := both[0].Report(); r.Match != gateway.MatchNew || r.Class != wire.Unclassified || r.Attempts != 2 {
				t.Errorf("want a new conversation that was sent twice, got %+v", r)
			}
			for _, x := range both {
				ends(t, x)
			}
		})
	}
}

// TestRefusedBehind: a request is refused for its length after the client has gone on from
// it. It is sent again, shorter, and what the client sent since goes on as before.
func TestRefusedBehind(t *testing.T) {
	g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 100_000, OutputReserve: 500}
	}})
	must(t, err)
	c := newTalk(t, "Read.")
	for range 4 {
		c.reads(100)
	}
	first := c.sends(g)
	refusal := fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > 2000 maximum"}}`, len(first.Body())*2/7)
	next := c.other().reads(10)
	ends(t, next.sends(g))
	if !first.Refused(t.Context(), http.StatusBadRequest, []byte(refusal)) || len(first.Body()) >= len(c.body()) {
		t.Fatalf("want a shorter body, got one of %d bytes of the client's %d", len(first.Body()), len(c.body()))
	}
	ends(t, first)
	if x := next.reads(1).sends(g); x.Report().Match != gateway.MatchNext || x.Report().Passed != "" {
		t.Errorf("want the next request of the conversation, got %+v", x.Report())
	}
}

// TestUsageOutOfMemory: what a reply used is learnt, also if more conversations are in flight
// than are kept in memory.
func TestUsageOutOfMemory(t *testing.T) {
	var got []gateway.Report
	for _, sessions := range []int{64, 1} {
		g := beginWith(t, nil, sessions)
		c, other := newTalk(t, "Read.").reads(50), newTalk(t, "Something else.")
		x := c.sends(g)
		ends(t, other.sends(g))
		ends(t, x)
		next := c.reads(1).sends(g)
		got = append(got, next.Report())
	}
	if kept, gone := got[0], got[1]; kept != gone || gone.Kind == token.Estimated {
		t.Errorf("want the same as with all in memory\n%+v, got\n%+v", kept, gone)
	}
}
