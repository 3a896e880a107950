package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// logged is what a server has logged.
type logged struct {
	mu   sync.Mutex
	more sync.Cond
	text bytes.Buffer
}

func newLogged() *logged {
	l := &logged{}
	l.more.L = &l.mu
	return l
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more.Broadcast()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// requests returns the lines of requests, of which it waits for n: one is written when its
// answer has left.
func (l *logged) requests(t *testing.T, n int) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for strings.Count(l.text.String(), `"msg":"request"`) < n {
		l.more.Wait()
	}
	var out []map[string]any
	for text := range strings.SplitSeq(strings.TrimSpace(l.text.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("log: %v in %q", err, text)
		}
		if line["msg"] == "request" {
			out = append(out, line)
		}
	}
	return out
}

// A setup is a proxy in front of one upstream that stands for all providers.
type setup struct {
	*proxy.Server
	url   string
	log   *logged
	close func() // waits for what is in flight
}

// start starts a proxy before an upstream; change, which may be nil, changes its options.
func start(t *testing.T, upstream string, change func(*proxy.Options)) setup {
	t.Helper()
	log := newLogged()
	o := proxy.Options{Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Env: func(string) string { return "" }}
	for _, name := range []string{"anthropic", "openai", "gemini", "ollama"} {
		o.Upstreams = append(o.Upstreams, mustUpstream(t, name, upstream))
	}
	if change != nil {
		change(&o)
	}
	if o.Gateway == nil {
		o.Gateway = newGateway(t, nil, o.Log)
	}
	s, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	return setup{s, listener.URL, log, listener.Close}
}

func mustUpstream(t *testing.T, name, base string) proxy.Upstream {
	t.Helper()
	up, err := proxy.ParseUpstream(name, base)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func newGateway(t *testing.T, s store.Store, log *slog.Logger) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{Store: s, Log: log, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 8000, OutputReserve: 500}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// behind starts an upstream.
func behind(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func scripted(t *testing.T, text string) (*scriptmodel.Server, string) {
	t.Helper()
	s, err := scriptmodel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	return server, behind(t, server.ServeHTTP)
}

// An agent holds its whole history, as agents do, and sends all of it with each request.
type agent struct {
	url     string
	dialect llm.Dialect
	stream  bool
	header  http.Header
	history []llm.Message
}

var paths = map[llm.Dialect]string{
	"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses",
	"gemini": "/v1beta/models/scripted-model:generateContent", "ollama": "/api/chat",
}

func newAgent(url string, d llm.Dialect, stream bool) *agent {
	return &agent{url: url, dialect: d, stream: stream, header: http.Header{}, history: []llm.Message{
		{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Read all of them."}}},
	}}
}

func (a *agent) path() string {
	if a.dialect == "gemini" && a.stream {
		return strings.ReplaceAll(paths[a.dialect], "generateContent", "streamGenerateContent") + "?alt=sse"
	}
	return paths[a.dialect]
}

func (a *agent) body() ([]byte, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	d, _ := known.Dialect(a.dialect)
	codec, _ := codecs.For(a.dialect)
	r := llm.Request{
		Model: "scripted-model", Sections: []llm.Section{{Text: "You read files."}}, Messages: a.history, MaxOutput: 500,
		Tools:    []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}},
		Settings: llm.Settings{Stream: a.stream},
	}
	return codec.EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
}

// step makes a request and takes the reply into the history.
func (a *agent) step(ctx context.Context) error {
	body, err := a.body()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+a.path(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = a.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	codec, _ := codecs.For(a.dialect)
	if resp.StatusCode != http.StatusOK {
		return codec.DecodeError(resp.StatusCode, data)
	}
	reply, err := a.decode(codec, data)
	if err != nil {
		return fmt.Errorf("%w: %s", err, data)
	}
	a.history = append(a.history, reply.Message)
	return nil
}

func (a *agent) decode(codec codecs.Full, data []byte) (llm.Response, error) {
	if !a.stream {
		return codec.DecodeResponse(data)
	}
	var gathered wire.Reply
	d := codec.NewDecoder()
	events, err := d.Feed(data)
	if err == nil {
		for _, e := range events {
			gathered.Add(e)
		}
		events, err = d.Close()
	}
	for _, e := range events {
		gathered.Add(e)
	}
	return gathered.Response(codec.Dialect()), err
}

// run goes on until the model has answered without a call.
func (a *agent) run(ctx context.Context) error {
	for n := 1; ; n++ {
		if err := a.step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
		calls := a.history[len(a.history)-1].Calls()
		if len(calls) == 0 {
			return nil
		}
		m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, call := range calls {
			output := strings.Repeat(fmt.Sprintf("line of file %d\n", n), 200)
			m.Parts = append(m.Parts, llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: output}}})
		}
		a.history = append(a.history, m)
	}
}

// An answered request is the head of an answer.
type answered struct {
	StatusCode int
	Header     http.Header
}

// ask sends one request and returns its answer with the whole body.
func ask(t *testing.T, method, url string, header http.Header, body []byte) (answered, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := plainClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header}, data
}

// plainClient changes nothing of what it sends and gets.
var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
