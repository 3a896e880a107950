package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// An agent's run: the provider is overloaded, calls a tool, and ends when it has the result.
const agentScript = `
window 3000
key "sk-client-1"

reply
  status 529

reply always when no result
  text "I look into the file."
  call read_file {"path": "a.txt"}

reply always when result "42"
  text "It says 42."
`

// everywhere is an environment in which each provider is at the same server, with its key.
func everywhere(name string, more ...string) func(string) string {
	p, _ := client.Lookup(name)
	var pairs []string
	for _, base := range p.BaseEnv {
		pairs = append(pairs, base, "http://model.internal"+map[bool]string{true: "/v1"}[strings.HasPrefix(name, "open")])
	}
	pairs = append(pairs, p.Credentials[0].Env, "sk-client-1")
	return env(append(pairs, more...)...)
}

// scriptedModel returns a client of a provider whose part a scripted model plays, in memory.
func scriptedModel(t testing.TB, script string, name string, more ...string) (*client.Client, *scriptmodel.Server) {
	t.Helper()
	s, err := scriptmodel.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	c := newClient(t, name, client.Options{HTTP: newMemory(t, server.ServeHTTP), Env: everywhere(name, more...)})
	return c, server
}

// reply asks in either form.
func reply(ctx context.Context, c *client.Client, r llm.Request, stream bool) (llm.Response, error) {
	if !stream {
		return c.Complete(ctx, r)
	}
	var all wire.Reply
	var failed error
	for e, err := range c.Stream(ctx, r) {
		all.Add(e)
		failed = err
	}
	return all.Response(r.Messages[0].Dialect), failed
}

// With every provider an agent's run goes through: an attempt that fails, a tool call, its
// result, and the answer; and a prompt that is too long teaches the window.
func TestScriptedModel(t *testing.T) {
	for _, name := range client.Names() {
		for _, stream := range []bool{false, true} {
			title := name
			if stream {
				title += ", streamed"
			}
			t.Run(title, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { agentRun(t, name, stream) })
			})
		}
	}
	t.Run("azure with a version", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { agentRun(t, "azure", true, "OPENAI_API_VERSION", "2024-10-21") })
	})
}

func agentRun(t *testing.T, name string, stream bool, more ...string) {
	t.Helper()
	c, server := scriptedModel(t, agentScript, name, more...)
	p, _ := client.Lookup(name)
	r := llm.Request{
		Model: "gpt-5", MaxOutput: 500,
		Sections: []llm.Section{{Name: "system", Text: "You read files."}},
		Tools:    []llm.Tool{{Name: "read_file", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`}},
		Messages: []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "What does a.txt say?"}}}},
	}
	first, err := reply(t.Context(), c, r, stream)
	if err != nil {
		t.Fatal(err)
	}
	first.Message.Dialect = p.Dialect
	calls := first.Message.Calls()
	if len(calls) != 1 || calls[0].Name != "read_file" || first.Stop != llm.StopTool || first.Message.Text() != "I look into the file." || first.Usage.IsZero() {
		t.Fatalf("got %+v", first)
	}
	r.Messages = append(r.Messages, first.Message, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: calls[0].CallID, Content: []llm.Part{llm.Text{Text: "42"}}},
	}})
	second, err := reply(t.Context(), c, r, stream)
	if err != nil {
		t.Fatal(err)
	}
	if second.Message.Text() != "It says 42." || second.Stop != llm.StopEnd {
		t.Errorf("got %+v", second)
	}
	log := server.Log()
	if statuses := []int{log[0].Status, log[1].Status, log[2].Status}; len(log) != 3 || !slices.Equal(statuses, []int{529, 200, 200}) {
		t.Errorf("%d requests, answered %v", len(log), statuses)
	}
	for _, call := range log {
		if len(call.Faults) > 0 {
			t.Errorf("%s: faults %v in %s", call.Path, call.Faults, call.Body)
		}
	}
	if name != "ollama" { // which cuts such a prompt without a word
		tooLong(t, c, r, stream)
	}
}

func tooLong(t *testing.T, c *client.Client, r llm.Request, stream bool) {
	t.Helper()
	r.Messages = slices.Clone(r.Messages[:1])
	r.Messages[0].Parts = []llm.Part{llm.Text{Text: strings.Repeat("all work and no play ", 2000)}}
	_, err := reply(t.Context(), c, r, stream)
	used, window, ok := client.TooLong(err)
	if !ok || window != 0 && (window != 3000 || used <= 3000) {
		t.Errorf("used %d, window %d: %v", used, window, err)
	}
}

// A wrong key is told as one, by every provider that wants any.
func TestScriptedKey(t *testing.T) {
	for _, name := range client.Names() {
		if name == "ollama" { // which knows no keys
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			c, _ := scriptedModel(t, strings.Replace(agentScript, "sk-client-1", "sk-other", 1), name)
			_, err := c.Complete(t.Context(), question())
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != wire.Auth {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Where a provider counts and tells its window, the client understands it.
func TestScriptedCounts(t *testing.T) {
	for _, name := range []string{"anthropic", "gemini"} {
		synctest.Test(t, func(t *testing.T) {
			c, server := scriptedModel(t, agentScript, name)
			n, err := c.CountTokens(t.Context(), question())
			if log := server.Log(); err != nil || n <= 0 || len(log[0].Faults) > 0 {
				t.Errorf("%s: %d tokens, %v, faults %v in %s", name, n, err, log[0].Faults, log[0].Body)
			}
		})
	}
}
