package proxy_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/proxytest"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A setup is a proxy in front of one upstream that stands for all providers.
type setup struct {
	*proxy.Server
	url   string
	log   *proxytest.Log
	close func() // waits for what is in flight
}

// start starts a proxy before an upstream; change, which may be nil, changes its options.
func start(t *testing.T, upstream string, change func(*proxy.Options)) setup {
	t.Helper()
	log := proxytest.NewLog()
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
