package clienttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// The task: as many Steps, each with an output of about 4,000 tokens, which together are
// four times the window.
const (
	taskSteps  = 60
	taskWindow = 60_000
)

// sideReplies answer what an agent asks beside its task: Gemini CLI asks another model whether
// this one runs in a loop.
const sideReplies = "reply always when no tools, json\n  text `{\"unproductive_state_analysis\":\"\",\"unproductive_state_confidence\":0.0}`\n"

// taskScript lets the model run taskSteps commands, no two alike, and then end.
func taskScript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "window %d\nsignatures error\n", taskWindow)
	b.WriteString(sideReplies)
	b.WriteString("reply always when no tools\n  text \"A title\"\n")
	for n := range taskSteps {
		fmt.Fprintf(&b, "reply when tools\n  thinking \"On to %d.\"\n  call shell \"seq %d %d\"\n", n+1, 10_000+n*2_800, 10_000+n*2_800+2_799)
	}
	fmt.Fprintf(&b, "reply always\n  text %q\n", lastWords)
	return b.String()
}

// TestAgentsThroughTheProxy: agents that know nothing of it end a task that needs four
// windows of the model, by the model server's own count and rules; without the proxy the
// server refuses them. They never compact by themselves (but for Cline, which counts its
// history): each request of an agent brings at least what the one before brought.
func TestAgentsThroughTheProxy(t *testing.T) {
	prefix := installed(t)
	for _, c := range []struct {
		name  string
		agent agent
	}{
		{"codex", codex()},
		{"gemini_cli", geminiCLI()},
		{"pi_anthropic", pi("anthropic-messages", "", anthropic.Dialect)},
		{"pi_chat", pi("openai-completions", "/v1", openai.DialectChat)},
		{"pi_responses", pi("openai-responses", "/v1", openai.DialectResponses)},
		{"pi_gemini", pi("google-generative-ai", "/v1beta", gemini.Dialect)},
		{"grok_cli", grok()},
		{"qwen_code", qwen()},
		{"opencode", opencode()},
		{"cline", cline()},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !exists(filepath.Join(prefix, c.agent.client)) {
				t.Skipf("%s is not installed: scripts/clients FOLDER %s", c.agent.client, c.agent.client)
			}
			through(t, prefix, c.agent)
			direct(t, prefix, c.agent)
		})
	}
}

// taskServer returns a model server for the task.
func taskServer(t *testing.T) (*scriptmodel.Server, *httptest.Server) {
	t.Helper()
	script, err := scriptmodel.Parse(taskScript())
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(script, scriptmodel.Options{})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener
}

// A tap notes the requests that an agent makes, before the proxy sees them.
type tap struct {
	next http.Handler
	url  string

	mu       sync.Mutex
	messages []int           // of each request with tools
	calls    map[string]bool // names of the tools that were called, as the agent has it
	faulty   int             // requests that break a rule before anybody has touched them
}

func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if d, kind, err := codecs.Detect(body); err == nil && kind == codecs.KindRequest {
		if codec, ok := codecs.For(d); ok {
			req, err := codec.DecodeRequest(body)
			p.mu.Lock()
			if err == nil && len(req.Tools) > 0 {
				p.messages = append(p.messages, len(req.Messages))
			}
			for _, m := range req.Messages {
				for _, c := range m.Calls() {
					p.calls[c.Name] = true
				}
			}
			if len(check.Request(d, body)) > 0 {
				p.faulty++
			}
			p.mu.Unlock()
		}
	}
	p.next.ServeHTTP(w, r)
}

// judge checks that the provider takes all that the proxy sent it, but for as many requests as
// came from the agent with a fault, and that the agent never compacted by itself.
func (p *tap) judge(t *testing.T, calls []scriptmodel.Call, a agent) {
	t.Helper()
	refused := 0
	for i, c := range calls {
		if c.Error != nil || len(c.Faults) > 0 {
			// Gemini CLI asks now and then whether the model runs in a loop, with the last messages
			// of its history, which it cuts inside a Round.
			if refused++; refused > p.faulty {
				t.Errorf("request %d, want one that the provider takes, got %s %s: %v %v", i+1, c.Method, c.Path, c.Error, c.Faults)
			}
		}
	}
	for i := 1; i < len(p.messages) && !a.compacts; i++ {
		if p.messages[i] < p.messages[i-1] {
			t.Errorf("the agent compacted by itself: %d messages after %d", p.messages[i], p.messages[i-1])
		}
	}
}

// behind starts a proxy before a model server, for as long as the test runs.
func behind(t *testing.T, g *gateway.Gateway, upstream string) *tap {
	t.Helper()
	var upstreams []proxy.Upstream
	for _, name := range []string{"anthropic", "openai", "gemini"} {
		up, err := proxy.ParseUpstream(name, upstream)
		if err != nil {
			t.Fatal(err)
		}
		upstreams = append(upstreams, up)
	}
	p, err := proxy.New(proxy.Options{Gateway: g, Upstreams: upstreams})
	if err != nil {
		t.Fatal(err)
	}
	watched := &tap{next: p, calls: map[string]bool{}}
	front := httptest.NewServer(watched)
	t.Cleanup(front.Close)
	watched.url = front.URL
	return watched
}

// through runs the task behind the proxy.
func through(t *testing.T, prefix string, a agent) {
	t.Helper()
	server, listener := taskServer(t)
	g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window { return budget.Window{Capacity: taskWindow} }})
	if err != nil {
		t.Fatal(err)
	}
	watched := behind(t, g, listener.URL)
	out, errs, err := run(t, prefix, a, t.TempDir(), repository(t), watched.url)
	if err != nil || !strings.Contains(out, lastWords) {
		t.Errorf("through the proxy: want the task to end with %s, got %v\nstdout: %s\nstderr: %s", lastWords, err, tail(out), tail(errs))
	}
	watched.judge(t, server.Log(), a)
	steps, largest := 0, 0
	for _, c := range server.Log() {
		if len(c.Reply.Message.Calls()) > 0 {
			steps++
		}
		largest = max(largest, c.Prompt)
	}
	if steps != taskSteps {
		t.Errorf("%d Steps, want %d", steps, taskSteps)
	}
	t.Logf("%d requests, the largest of %d tokens of %d", len(server.Log()), largest, taskWindow)
}

// direct runs the task without the proxy: the server refuses it.
func direct(t *testing.T, prefix string, a agent) {
	t.Helper()
	server, listener := taskServer(t)
	_, _, _ = run(t, prefix, a, t.TempDir(), repository(t), listener.URL)
	for _, c := range server.Log() {
		if c.Error != nil && c.Error.Class == wire.TooLong {
			return
		}
	}
	t.Errorf("without the proxy: %d requests and none was refused for its length, want one", len(server.Log()))
}
