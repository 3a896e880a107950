package gateway_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestIdle: what needs no edit leaves with the client's own bytes, the same slice.
func TestIdle(t *testing.T) {
	g := begin(t, nil)
	c := newTalk(t, "Read them.")
	for range 3 {
		call := c.call()
		x, err := g.Begin(t.Context(), call)
		must(t, err)
		if &x.Body()[0] != &call.Body[0] || x.Edited() || x.Report().Passed != "" {
			t.Errorf("got another body, or %+v", x.Report())
		}
		c.reads(3)
	}
}

// TestMatch: how a request goes on with what is known, and by which session.
func TestMatch(t *testing.T) {
	g := begin(t, nil)
	c := newTalk(t, "Read them.").reads(3)
	first := c.sends(g).Report()
	expect := func(name string, x *gateway.Exchange, match gateway.Match, same bool) {
		t.Helper()
		r := x.Report()
		if r.Match != match || (r.Session == first.Session) != same || r.Session == "" {
			t.Errorf("%s: got %s in session %q, want %s, in the first session: %t", name, r.Match, r.Session, match, same)
		}
	}
	if first.Match != gateway.MatchNew {
		t.Errorf("got %s, want new", first.Match)
	}
	expect("the same again", c.sends(g), gateway.MatchRetry, true)
	expect("one Round more", c.reads(3).sends(g), gateway.MatchNext, true)
	expect("two Rounds more", c.reads(3).reads(3).sends(g), gateway.MatchNext, true)
	expect("rewound", c.other().back(2).says("No, stop.").sends(g), gateway.MatchFork, false)
	expect("and the first goes on", c.reads(3).sends(g), gateway.MatchNext, true)

	title := newTalk(t, "Read them.")
	title.system, title.tools = "Give it a title.", nil
	expect("a title", title.sends(g), gateway.MatchNew, false)

	agent := newTalk(t, "Read them.")
	agent.system, agent.tools = "You are a reviewer.", []string{"grep"}
	expect("another agent", agent.reads(3).sends(g), gateway.MatchNew, false)

	other := c.other()
	other.owner = "somebody else"
	expect("another owner", other.sends(g), gateway.MatchNew, false)

	compacted := newTalk(t, "This is a summary of what was before.")
	expect("compacted by the client", compacted.says("Go on.").sends(g), gateway.MatchNew, false)

	dated := c.other()
	dated.system = "You read files. It is Tuesday."
	expect("another system prompt, the same tools", dated.reads(3).sends(g), gateway.MatchNext, true)
}

// TestStatedID: clients that state an id are held apart by it, whatever they say, and
// found by it when nothing they said is left.
func TestStatedID(t *testing.T) {
	for _, header := range []string{
		"X-Plimsoll-Session", "X-Claude-Code-Session-Id", "Thread-Id", "X-Opencode-Session", "X-Session-Affinity", "X-Session-Id", "X-Task-Id",
		"Session-Id", "Session_id", "Conversation_id",
	} {
		g := begin(t, nil)
		a, b := newTalk(t, "Hello."), newTalk(t, "Hello.")
		a.header, b.header = map[string]string{header: "a"}, map[string]string{header: "b"}
		one, two := a.sends(g).Report(), b.sends(g).Report()
		if one.Session == two.Session || two.Match != gateway.MatchNew {
			t.Errorf("%s: two ids share session %q", header, one.Session)
		}
		if again := a.reads(3).sends(g).Report(); again.Session != one.Session {
			t.Errorf("%s: got session %q, want %q", header, again.Session, one.Session)
		}
	}
	t.Run("R003-15_a_sub-agent_has_a_session_of_its_own", func(t *testing.T) {
		g := begin(t, nil)
		main, sub := newTalk(t, "Hello."), newTalk(t, "Hello.")
		main.header = map[string]string{"X-Claude-Code-Session-Id": "s"}
		sub.header = map[string]string{"X-Claude-Code-Session-Id": "s", "X-Claude-Code-Agent-Id": "1"}
		if main.sends(g).Report().Session == sub.sends(g).Report().Session {
			t.Error("a sub-agent shares its parent's session")
		}
	})
}

// TestRetry: a request that comes again leaves with the same bytes, also after a restart.
func TestRetry(t *testing.T) {
	s := &store.Memory{}
	g := begin(t, s)
	c := newTalk(t, "Read them.")
	want := c.grow(g).Body()
	for range 2 {
		if x := c.sends(g); !bytes.Equal(x.Body(), want) || x.Report().Match != gateway.MatchRetry {
			t.Errorf("got another body, or %+v", x.Report())
		}
	}
	if x := c.sends(begin(t, s)); !bytes.Equal(x.Body(), want) || x.Report().Match != gateway.MatchRetry {
		t.Errorf("after a restart: got another body, or %+v", x.Report())
	}
}

// TestSticky: what was edited once is shown the same in every later request, in forks from
// a later place, and not in forks from an earlier one.
func TestSticky(t *testing.T) {
	g := begin(t, nil)
	c := newTalk(t, "Read them.")
	edited := read(t, c.grow(g).Body())
	early := c.other()
	early.history = early.history[:2] // before anything was edited
	early.says("No, stop.")

	next := read(t, c.reads(3).sends(g).Body())
	samePrefix(t, "the next request", edited.Messages, next.Messages)
	fork := c.other().back(2).reads(5)
	x := fork.sends(g)
	samePrefix(t, "a fork", edited.Messages, read(t, x.Body()).Messages)
	if x.Report().Match != gateway.MatchFork {
		t.Errorf("got %+v, want a fork", x.Report())
	}
	if x := early.sends(g); x.Edited() {
		t.Errorf("a fork from before the edit is edited: %+v", x.Report())
	}
}

func samePrefix(t *testing.T, name string, a, b []llm.Message) {
	t.Helper()
	for i := range a {
		if i >= len(b) || llm.DigestOf(a[i]) != llm.DigestOf(b[i]) {
			t.Errorf("%s: message %d of %d is another one", name, i, len(a))
			return
		}
	}
}

// TestTwoProcesses: two gateways with one store file find each other's conversations and
// send the same.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	open := func() *gateway.Gateway {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return begin(t, s)
	}
	alone, one, two := begin(t, nil), open(), open()
	c := newTalk(t, "Read them.")
	for n := range 24 {
		g := one
		if n%2 == 1 {
			g = two
		}
		want, x := c.sends(alone), c.sends(g)
		if !bytes.Equal(x.Body(), want.Body()) || x.Report().Passed != "" {
			t.Fatalf("request %d: got another body than one process alone, or %+v", n, x.Report())
		}
		ends(t, want)
		ends(t, x)
		c.reads(100)
	}
}

// TestRefusal: what cannot be made to fit is refused in the client's own dialect.
func TestRefusal(t *testing.T) {
	g := beginOldestFirst(t)
	c := newTalk(t, fmt.Sprintf("Read this: %s", output(1, 3_000)))
	_, err := g.Begin(t.Context(), c.call())
	e := refused(t, err)
	if e.Status != 400 || !bytes.Contains(e.Body, []byte("prompt is too long: ")) || !bytes.Contains(e.Body, []byte("invalid_request_error")) {
		t.Errorf("got %d %s", e.Status, e.Body)
	}
}

// TestOutputReserve: where a provider refuses prompt and output that exceed the window
// together, the output that the client wants is kept free; where it does not, and where
// nobody knows, the policy's reserve holds.
func TestOutputReserve(t *testing.T) {
	g, err := gateway.New(gateway.Options{})
	must(t, err)
	limits := map[string]int{}
	for _, model := range []string{"claude-haiku-4-5", "gpt-4o", "claude-opus-5-5", "scripted"} {
		for _, output := range []int{500, 60_000} {
			body := fmt.Appendf(nil, `{"model":%q,"max_tokens":%d,"messages":[{"role":"user","content":"Hello."}]}`, model, output)
			x, err := g.Begin(t.Context(), gateway.Call{
				Provider: "p", Dialect: dialect, Body: body,
				Header: func(name string) string { return map[string]string{"X-Session-Id": fmt.Sprint(model, output)}[name] },
			})
			must(t, err)
			limits[fmt.Sprint(model, " ", output)] = x.Report().Limit
		}
	}
	for model, moves := range map[string]bool{"gpt-4o": true, "claude-opus-5-5": false, "scripted": false} {
		if small, large := limits[model+" 500"], limits[model+" 60000"]; (small > large) != moves || large <= 0 {
			t.Errorf("%s: a limit of %d, and %d for a long reply; want the second smaller: %t", model, small, large, moves)
		}
	}
}
