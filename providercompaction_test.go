package plimsoll_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A compactor is a model server that has its own summaries stand for long prompts, a client of it,
// and a session that asks for that.
type compactor struct {
	server  *scriptmodel.Server
	clients map[string]*client.Client
	options plimsoll.Options
	session *plimsoll.Session
	whole   bool // replies are asked for at once and not as streams
}

// compactors are the providers that can, each with a model, another one that cannot, and the size
// from which on it is asked.
var compactors = []struct {
	provider, model, other string
	tokens                 int
	items                  string // of a request
}{
	{"anthropic", "claude-opus-4-6", "claude-opus-4-5", 50_000, "messages"},
	{"openai", "gpt-5.2", "gpt-4-turbo", 20_000, "input"},
}

func newCompactor(t *testing.T, provider, model string, tokens int) *compactor {
	t.Helper()
	script, err := scriptmodel.Parse("window 1000000\nreply always\n  text \"On with it.\"\n  call read {\"path\": \"a.txt\"}\n")
	works(t, err)
	c := &compactor{server: scriptmodel.New(script, scriptmodel.Options{}), clients: map[string]*client.Client{}}
	at := httptest.NewServer(c.server)
	t.Cleanup(at.Close)
	for _, name := range []string{"anthropic", "openai"} {
		p, ok := client.Lookup(name)
		if !ok {
			t.Fatalf("provider %q, want a known one", name)
		}
		c.clients[name], err = client.New(p, client.Options{HTTP: at.Client(), Tries: 1, Env: func(name string) string {
			switch {
			case strings.HasSuffix(name, "_BASE_URL"):
				return at.URL
			case strings.HasSuffix(name, "_KEY"):
				return "sk-test"
			}
			return ""
		}})
		works(t, err)
	}
	p := preset(t, "balanced")
	p.Rules = append([]policy.Rule{{
		Name: "theirs", At: policy.AtPrepare, Do: policy.DoProvider, Args: policy.Args{What: policy.ProviderCompact, Tokens: tokens},
	}}, p.Rules...)
	works(t, policy.Validate(p))
	c.options = plimsoll.Options{
		Policy: p, Store: new(store.Memory), WithoutTools: true, Targets: []budget.Target{{Provider: provider, Model: model, Window: budget.Window{Capacity: 400_000, OutputReserve: 1000}}},
	}
	c.session = open(t, c.options)
	works(t, c.session.SetTools(t.Context(), []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object"}`}}))
	add(t, c.session, human("Read all of them."))
	return c
}

// step sends a request, to other targets if there are some, and answers the call that comes back.
func (c *compactor) step(t *testing.T, n int, to ...budget.Target) {
	t.Helper()
	send, err := c.session.Prepare(t.Context(), to...)
	works(t, err)
	reply, err := c.clients[send.Target.Provider].Complete(t.Context(), c.asked(send.Request()))
	works(t, err)
	works(t, c.session.Reply(t.Context(), reply))
	for _, call := range reply.Message.Calls() {
		add(t, c.session, llm.ToolText(call.CallID, logbook(n)))
	}
}

// logbook returns an output of some 5,000 tokens, like no other one.
func logbook(n int) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "file %d: the mate of vessel %d logged swell number %d\n", n, n+40, i*7+n)
	}
	return b.String()
}

func (c *compactor) asked(r llm.Request) llm.Request {
	if c.whole {
		return r
	}
	return r.Streamed()
}

// again opens the session anew.
func (c *compactor) again(t *testing.T) {
	t.Helper()
	c.session = open(t, c.options)
}

// bodies returns what the server got, none of which broke a rule.
func (c *compactor) bodies(t *testing.T) [][]byte {
	t.Helper()
	var out [][]byte
	for i, call := range c.server.Log() {
		if call.Error != nil || len(call.Faults) > 0 {
			t.Fatalf("call %d: %v %v", i+1, call.Error, call.Faults)
		}
		out = append(out, call.Body)
	}
	return out
}

// compactions returns how many of the provider's summaries a body has, and whether it begins with one.
func compactions(body []byte, items string) (n int, first bool) {
	for i, item := range gjson.GetBytes(body, items).Array() {
		blocks := append([]gjson.Result{item}, item.Get("content").Array()...)
		for at, b := range blocks {
			if b.Get("type").String() == "compaction" {
				n++
				first = first || i == 0 && at <= 1
			}
		}
	}
	return n, first
}

// TestCompactionOfTheProvider: under a rung that asks for it a provider has its own summary stand for
// the conversation. It is kept and sent back as it came, what it stands for is no part of requests
// and of the count any more and can be read back, nothing else is edited, the pass is on the bill,
// and restarts send the same.
func TestCompactionOfTheProvider(t *testing.T) {
	for _, p := range compactors {
		for name, whole := range map[string]bool{"streamed": false, "whole": true} {
			t.Run(p.provider+" "+name, func(t *testing.T) {
				c := newCompactor(t, p.provider, p.model, p.tokens)
				c.whole = whole
				var blocks []string
				for n := range 30 {
					c.step(t, n)
					log := c.server.Log()
					last := log[len(log)-1]
					if o, ok := last.Reply.Message.Parts[0].(llm.Opaque); ok {
						blocks = append(blocks, string(o.Data))
					}
					if got := c.session.Usage().Count.Point; got > p.tokens*3/2 {
						t.Fatalf("step %d: counted %d tokens, where the provider compacts above %d", n, got, p.tokens)
					}
				}
				bodies := c.bodies(t)
				if len(blocks) < 2 {
					t.Fatalf("%d compactions in %d steps", len(blocks), len(bodies))
				}
				for i, body := range bodies {
					if !gjson.GetBytes(body, "context_management").Exists() {
						t.Fatalf("request %d asks for nothing", i+1)
					}
					if n, first := compactions(body, p.items); n > 1 || n == 1 && !first {
						t.Fatalf("request %d has %d compactions, the first at its beginning: %v", i+1, n, first)
					}
				}
				if last := blocks[len(blocks)-1]; !bytes.Contains(bodies[len(bodies)-1], []byte(last)) {
					t.Errorf("want the newest compaction as it came, %s, in %.600s", last, bodies[len(bodies)-1])
				}
				c.stored(t)
				c.billed(t)
			})
		}
	}
}

func works(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stored demands that nothing was edited but by the provider, and that what its summaries stand for
// is in the store.
func (c *compactor) stored(t *testing.T) {
	t.Helper()
	for _, e := range edit.Holding(c.session.Edits()) {
		if e.Kind != edit.KindProvider {
			t.Errorf("want nothing edited but what the provider's summary stands for, got %s of %s", e.Kind, e.Rule)
			continue
		}
		holds := func(r llm.Ref) bool {
			body, err := c.options.Store.Get(t.Context(), "default", r)
			works(t, err)
			return bytes.Contains(body, []byte("Read all of them."))
		}
		if !slices.ContainsFunc(e.Refs, holds) {
			t.Errorf("want all that the summary stands for behind %q", e.Refs)
		}
	}
}

// billed demands that all that the server counted is on the bill.
func (c *compactor) billed(t *testing.T) {
	t.Helper()
	var want llm.Usage
	for _, call := range c.server.Log() {
		want = want.Add(call.Reply.Usage).Add(call.Reply.Extra)
	}
	for name, s := range map[string]*plimsoll.Session{"the session": c.session, "the records": open(t, c.options)} {
		lines := s.Bill().Lines
		if len(lines) != 1 || lines[0].Usage.Prompt() != want.Prompt() || lines[0].Usage.Output != want.Output {
			t.Errorf("%s: want %+v on the bill, got %+v", name, want, lines)
		}
	}
}

// TestCompactionAfterRestarts: law 4 and 5. A session that is opened anew before each call sends the
// same bytes.
func TestCompactionAfterRestarts(t *testing.T) {
	for _, p := range compactors {
		t.Run(p.provider, func(t *testing.T) {
			straight, again := newCompactor(t, p.provider, p.model, p.tokens), newCompactor(t, p.provider, p.model, p.tokens)
			for n := range 24 {
				straight.step(t, n)
				again.step(t, n)
				again.again(t)
			}
			want, got := straight.bodies(t), again.bodies(t)
			for i := range want {
				if !bytes.Equal(want[i], got[i]) {
					t.Fatalf("request %d:\n%.500s\nwant\n%.500s", i+1, got[i], want[i])
				}
			}
		})
	}
}

// TestCompactionForAnotherModel: who cannot read a provider's summary gets the history itself, without
// it; who can again has it stand again, and a list of targets that do not all read it asks for none.
func TestCompactionForAnotherModel(t *testing.T) {
	for _, p := range compactors {
		t.Run(p.provider, func(t *testing.T) {
			c := newCompactor(t, p.provider, p.model, p.tokens)
			mine := c.options.Targets[0]
			other := mine
			other.Model = p.other
			n := 0
			for ; len(c.session.Edits()) == 0; n++ {
				c.step(t, n)
			}
			c.step(t, n, other)
			c.again(t)
			c.step(t, n+1, other)
			bodies := c.bodies(t)
			for _, body := range bodies[len(bodies)-2:] {
				if found, _ := compactions(body, p.items); found > 0 || gjson.GetBytes(body, "context_management").Exists() {
					t.Errorf("want no compaction, and none asked for, got %.300s", body)
				}
				if !bytes.Contains(body, []byte("Read all of them.")) || !bytes.Contains(body, []byte("file 0")) {
					t.Errorf("want the history itself, got %.300s", body)
				}
			}
			c.step(t, n+2, mine)
			bodies = c.bodies(t)
			if found, first := compactions(bodies[len(bodies)-1], p.items); found != 1 || !first {
				t.Errorf("want the compaction to stand again, got %d, %.300s", found, bodies[len(bodies)-1])
			}
			said := 0
			for range 2 {
				send, err := c.session.Prepare(t.Context(), mine, other)
				works(t, err)
				if send.Clear.Compact > 0 || len(send.LeftOut.Summaries) == 0 {
					t.Errorf("want nobody asked, and the history shown, got %+v and unread %v", send.Clear, send.LeftOut.Summaries)
				}
			}
			for _, e := range c.session.Edits() {
				if slices.Contains([]edit.Kind{edit.KindProvider, edit.KindUndo}, e.Kind) {
					said++
				}
			}
			if said < 4 {
				t.Errorf("%d edits", said)
			}
		})
	}
}

// TestCompactionForAnotherProvider: the other provider gets the history, whatever it has of its own,
// and the one that made the summary can go on.
func TestCompactionForAnotherProvider(t *testing.T) {
	for i, p := range compactors {
		there := compactors[1-i]
		for _, model := range []string{there.model, there.other} {
			t.Run(p.provider+" "+model, func(t *testing.T) {
				c := newCompactor(t, p.provider, p.model, p.tokens)
				other := budget.Target{Provider: there.provider, Model: model, Window: c.options.Targets[0].Window}
				n := 0
				for ; len(c.session.Edits()) == 0; n++ {
					c.step(t, n)
				}
				c.step(t, n, other)
				bodies := c.bodies(t)
				body := bodies[len(bodies)-1]
				if found, _ := compactions(body, there.items); found > 0 || !bytes.Contains(body, []byte("Read all of them.")) || !bytes.Contains(body, []byte("file 0")) {
					t.Errorf("want the history itself and no compaction, got %d in %.300s", found, body)
				}
				for range 3 {
					n++
					c.again(t)
					c.step(t, n, other)
				}
				c.step(t, n+1)
				c.bodies(t)
			})
		}
	}
}

// TestCompactionAloneForAnotherProvider: a message that was nothing but a summary is not in a request
// to somebody else, and each cache mark stands on the message that it is for.
func TestCompactionAloneForAnotherProvider(t *testing.T) {
	for i, p := range compactors {
		t.Run(p.provider, func(t *testing.T) {
			c := newCompactor(t, p.provider, p.model, p.tokens)
			for n := range 2 {
				c.step(t, n)
			}
			_, err := c.session.Prepare(t.Context())
			works(t, err)
			block := `{"type":"compaction","id":"cmp_1","encrypted_content":"c2FpZA==","content":"What was said."}`
			works(t, c.session.Reply(t.Context(), llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
				llm.Opaque{Kind: "compaction", Compacts: p.provider, Raw: llm.Raw{Data: []byte(block)}},
			}}, Usage: llm.Usage{Input: 12_000, Output: 10}}))
			add(t, c.session, human("Go on."))
			there := compactors[1-i]
			send, err := c.session.Prepare(t.Context(), budget.Target{Provider: there.provider, Model: there.model, Window: c.options.Targets[0].Window})
			works(t, err)
			r := send.Request()
			if len(send.LeftOut.Summaries) != 1 || len(r.Messages) != 6 || slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return llm.Compacts(m) != "" }) {
				t.Errorf("want 6 messages without the summary, got %d, %v left out", len(r.Messages), send.LeftOut.Summaries)
			}
			if last := r.Marks.On(llm.OnMessage, len(r.Messages)-1); there.provider == "anthropic" && last == llm.NoMark {
				t.Errorf("want the newest message marked, got marks %v", send.Marks)
			}
		})
	}
}
