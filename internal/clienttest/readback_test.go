package clienttest

import (
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

const (
	// readRoom is what the task may have above the client's first request, in tokens. The
	// logs have five times as many.
	readRoom = 8_000
	readSeed = 14
)

// TestAgentsReadBack: behind the proxy, the model of a real client reads back what has left
// its window, with the tools of the policy, and ends with all facts right; without the tools
// it does not. The client never sees any of that.
func TestAgentsReadBack(t *testing.T) {
	prefix := installed(t)
	for _, c := range []struct {
		name  string
		agent agent
	}{
		{"codex", codex()},
		{"pi_anthropic", pi("anthropic-messages", "", anthropic.Dialect)},
		{"gemini_cli", geminiCLI()},
		{"grok_cli", grok()},
	} {
		t.Run(c.name, func(t *testing.T) {
			present(t, prefix, c.agent)
			a := c.agent.asked(readTask)
			first, reply := firstRequest(t, prefix, a)
			task := readingTask{prefix: prefix, agent: a, limit: first + readRoom, reply: reply}
			for _, way := range []struct{ id, policy string }{
				{"R002-7", "layered"}, {"law2", "balanced"}, {"R001-8", "cache-compact"}, {"R000-21", "guard"},
			} {
				p, err := policy.Preset(way.policy)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(way.id+"_"+way.policy, func(t *testing.T) {
					all := len(ships())
					if right := task.run(t, p, true); right != all {
						t.Errorf("with the tools %d of %d facts are right, want all", right, all)
					}
					if right := task.run(t, p, false); right > all/2 {
						t.Errorf("without the tools %d of %d facts are right, want half of them at most", right, all)
					}
				})
			}
		})
	}
}

// present skips a test of an agent that is not installed; on CI it fails.
func present(t *testing.T, prefix string, a agent) {
	t.Helper()
	switch {
	case exists(filepath.Join(prefix, a.client)):
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is not installed: scripts/clients FOLDER %s", a.client, a.client)
	default:
		t.Skipf("%s is not installed: scripts/clients FOLDER %s", a.client, a.client)
	}
}

// asked returns an agent with another task.
func (a agent) asked(task string) agent {
	a.args = slices.Clone(a.args)
	a.args[slices.Index(a.args, prompt)] = task
	return a
}

// readServer returns a model server of a window that thinks for itself, but for what an agent
// asks beside its task.
func readServer(t *testing.T, window int, think func(llm.Request) scriptmodel.Reply) (*scriptmodel.Server, *httptest.Server) {
	t.Helper()
	script, err := scriptmodel.Parse(fmt.Sprintf("window %d\nsignatures error\n%s", window, sideReplies))
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(script, scriptmodel.Options{Think: think})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener
}

// firstRequest returns the tokens of the first request of an agent, by the server's count, and
// those that it leaves free for the reply.
func firstRequest(t *testing.T, prefix string, a agent) (prompt, reply int) {
	t.Helper()
	server, listener := readServer(t, largeWindow, func(llm.Request) scriptmodel.Reply {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: lastWords}}}
	})
	if out, errs, err := run(t, prefix, a, t.TempDir(), repository(t), listener.URL); err != nil {
		t.Fatalf("first request: %v\nstdout: %s\nstderr: %s", err, tail(out), tail(errs))
	}
	for _, c := range server.Log() {
		if len(c.Request.Tools) > 0 {
			return c.Prompt, max(c.Request.MaxOutput, 1_000)
		}
	}
	t.Fatal("no request offers tools")
	return 0, 0
}

// A readingTask is the task for one agent.
type readingTask struct {
	prefix string
	agent  agent
	limit  int // of a prompt
	reply  int // that the model has room for beside it
}

// run runs the task behind a gateway and returns how many facts the agent ends with that are
// right.
func (r readingTask) run(t *testing.T, p policy.Policy, offer bool) (right int) {
	t.Helper()
	server, listener := readServer(t, r.limit+r.reply, think)
	g, err := gateway.New(gateway.Options{Policy: p, Offer: offer, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: r.limit, Buffer: budget.None, OutputReserve: budget.None}
	}})
	if err != nil {
		t.Fatal(err)
	}
	watched := behind(t, g, listener.URL)
	home, work := t.TempDir(), repository(t)
	heights := writeLogs(t, work, readSeed)
	out, errs, err := run(t, r.prefix, r.agent, home, work, watched.url)
	if err != nil || !strings.Contains(out, lastWords) {
		t.Errorf("tools offered %t: want the task to end with %s, got %v\nstdout: %s\nstderr: %s", offer, lastWords, err, tail(out), tail(errs))
	}
	watched.judge(t, server.Log(), r.agent)
	unseen(t, watched, home, out)
	told := facts(saidIn, out)
	for ship, high := range heights {
		if told[ship] == high {
			right++
		}
	}
	calls, largest := 0, 0
	for _, c := range server.Log() {
		largest = max(largest, c.Prompt)
		for _, call := range c.Reply.Message.Calls() {
			if slices.Contains(ownTools(), call.Name) {
				calls++
			}
		}
	}
	if largest > r.limit || offer != (calls > 0) {
		t.Errorf("tools offered %t: %d calls of them, the largest prompt of %d tokens of %d", offer, calls, largest, r.limit)
	}
	t.Logf("tools offered %t: %d of %d facts are right, %d requests of the agent, %d of the proxy, %d calls of its tools, the largest prompt of %d tokens of %d",
		offer, right, len(heights), len(watched.messages), len(server.Log()), calls, largest, r.limit)
	return right
}

// unseen checks that an agent knows nothing of the tools that the model reads on with: not in
// its requests, in what it says, or in what it has written down.
func unseen(t *testing.T, watched *tap, home, out string) {
	t.Helper()
	own := regexp.MustCompile(`\b(` + strings.Join(ownTools(), "|") + `)\b`)
	if found := own.FindString(out); found != "" {
		t.Errorf("stdout, want no %s, got %s", found, tail(out))
	}
	for _, name := range ownTools() {
		if watched.calls[name] {
			t.Errorf("requests of the agent, want no call of %s, got one", name)
		}
	}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := own.Find(text); found != nil {
			t.Errorf("%s: want no %s, got one", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
