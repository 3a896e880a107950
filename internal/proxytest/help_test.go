package proxytest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

const window = 8000 // of every model here, in tokens, if a test states no other one

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A front is a proxy before one upstream that stands for all providers.
type front struct {
	url   string
	log   *Log
	close func() // waits for what is in flight
}

// before starts a proxy. Each change, which may be nil, changes its options.
func before(t *testing.T, upstream http.Handler, ofGateway func(*gateway.Options), ofProxy func(*proxy.Options)) front {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	f := front{log: NewLog()}
	log := slog.New(slog.NewJSONHandler(f.log, nil))
	o := gateway.Options{Log: log, Window: func(string, string) budget.Window { return budget.Window{Capacity: window, OutputReserve: 500} }}
	if ofGateway != nil {
		ofGateway(&o)
	}
	g, err := gateway.New(o)
	must(t, err)
	p := proxy.Options{Gateway: g, Log: log, Env: func(string) string { return "" }}
	for _, name := range []string{"anthropic", "openai", "gemini", "ollama"} {
		u, err := proxy.ParseUpstream(name, up.URL)
		must(t, err)
		p.Upstreams = append(p.Upstreams, u)
	}
	if ofProxy != nil {
		ofProxy(&p)
	}
	s, err := proxy.New(p)
	must(t, err)
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	f.url, f.close = listener.URL, listener.Close
	return f
}

// direct starts an upstream without a proxy.
func direct(t *testing.T, upstream http.Handler) front {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	return front{url: up.URL}
}

// wide states a window that nothing here fills.
func wide(o *gateway.Options) {
	o.Window = func(string, string) budget.Window {
		return budget.Window{Capacity: 100_000_000, MaxBytes: 1 << 40, MaxImages: 1 << 20}
	}
}

func view(o *gateway.Options) { o.ClientView = true }

func scripted(t *testing.T, text string) *scriptmodel.Server {
	t.Helper()
	s, err := scriptmodel.Parse(text)
	must(t, err)
	return scriptmodel.New(s, scriptmodel.Options{})
}

// noFault fails if the model server refused anything or found a rule broken.
func noFault(t *testing.T, s *scriptmodel.Server) []scriptmodel.Call {
	t.Helper()
	calls := s.Log()
	for i, c := range calls {
		if c.Error != nil || len(c.Faults) > 0 {
			t.Fatalf("call %d of %d: %v %v", i+1, len(calls), c.Error, c.Faults)
		}
	}
	return calls
}

// A seen request is what an upstream got.
type seen struct {
	uri    string
	header http.Header
	body   []byte
}

// A mirror is an upstream that keeps what it gets and answers as it is told.
type mirror struct {
	mu     sync.Mutex
	got    []seen
	answer func(http.ResponseWriter, *http.Request)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.got = append(m.got, seen{r.RequestURI, r.Header, body})
	m.mu.Unlock()
	if m.answer != nil {
		m.answer(w, r)
	}
}

func (m *mirror) all() []seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]seen(nil), m.got...)
}

func (m *mirror) last(t *testing.T) seen {
	t.Helper()
	all := m.all()
	if len(all) == 0 {
		t.Fatal("nothing came to the upstream")
	}
	return all[len(all)-1]
}

// says answers with a stream, or with JSON if it is not one.
func says(kind string, chunks ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for _, c := range chunks {
			_, _ = io.WriteString(w, c)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

const (
	events = "text/event-stream"
	object = "application/json"
)

// plain changes nothing of what it sends and gets.
var plain = testagent.Plain()

// post sends a body and returns the answer, as far as it comes.
func post(t *testing.T, url string, header http.Header, body string) (status int, h http.Header, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := plain.Do(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, resp.Header, string(data)
}
