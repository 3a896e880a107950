package proxy_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// A seen request is what an upstream got.
type seen struct {
	method, uri, host string
	header            http.Header
	body              []byte
}

// mirror is an upstream that keeps what it gets and answers as it is told.
type mirror struct {
	mu     sync.Mutex
	got    []seen
	answer func(http.ResponseWriter)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.got = append(m.got, seen{r.Method, r.RequestURI, r.Host, r.Header, body})
	m.mu.Unlock()
	if m.answer != nil {
		m.answer(w)
	}
}

func (m *mirror) last(t *testing.T) seen {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.got) == 0 {
		t.Fatal("nothing came to the upstream")
	}
	return m.got[len(m.got)-1]
}

func (m *mirror) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.got)
}

// Requests that ask no model, and those that no edit is due in, arrive as they left: the
// method, the path with its escapes, the query, headers with duplicates, the body.
func TestPassesOn(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	chat := []byte(`{ "model":"scripted-model",  "messages":[{"role":"user","content":"hi\u0021"}], "unknown_field": [1.50, 1e3] }`)
	for _, c := range []struct {
		method, uri string
		body        []byte
	}{
		{"POST", "/v1/chat/completions?a=1;b=2&c=%zz&&d", chat},
		{"POST", "/v1/messages?beta=true", []byte(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}],"zz":{}}`)},
		{"POST", "/v1/messages/count_tokens", []byte(`{"model": "m"}`)},
		{"POST", "/v1/messages", []byte("this is no JSON")},
		{"POST", "/v1/embeddings", bytes.Repeat([]byte("\x00\xff"), 100_000)},
		{"GET", "/v1/models?limit=1000", nil},
		{"GET", "/v1/files/a%2Fb/..%2f/content", nil},
		{"GET", "/v1//double//slashes/", nil},
		{"DELETE", "/v1/responses/resp_1", nil},
		{"PATCH", "/v1/unheard/of?x=", []byte("{}")},
		{"PURGE", "/v1/thing", nil},
		{"POST", "/v1beta/models/a:b:countTokens?alt=json", []byte(`{}`)},
		{"POST", "/v1beta/models/m:generateContent", []byte(`{"contents":[{"parts":[{"text":"x"}]}],"more":1}`)},
		{"POST", "/api/generate", []byte(`{"model":"m","prompt":"x"}`)},
	} {
		header := http.Header{
			"Authorization": {"Bearer sk-of-the-client"}, "Anthropic-Beta": {"one-2025", "two-2025,three-2025"}, "X-Forwarded-For": {"10.0.0.1"},
			"X-Forwarded-Proto": {"https"}, "Forwarded": {"for=10.0.0.1"}, "X-Odd": {"", " b", "c"}, "Accept-Encoding": {"gzip, br"},
			"Te": {"trailers"}, "Cookie": {"a=b; c=d"}, "User-Agent": {"agent/1.0 (odd; thing)"}, "Keep-Alive": {"timeout=5"}, "X-Plimsoll-Session": {"mine"},
		}
		if strings.HasPrefix(c.uri, "/v1beta") {
			header.Set("X-Goog-Api-Key", "g-key")
		}
		resp, _ := ask(t, c.method, p.url+c.uri, header, c.body)
		if resp.StatusCode != 200 {
			t.Errorf("%s %s: status %d", c.method, c.uri, resp.StatusCode)
			continue
		}
		got := m.last(t)
		if got.method != c.method || got.uri != c.uri || !bytes.Equal(got.body, c.body) {
			t.Errorf("%s %s: got %s %s with %d bytes, want %d", c.method, c.uri, got.method, got.uri, len(got.body), len(c.body))
		}
		for name, want := range header {
			for i := range want {
				want[i] = strings.TrimSpace(want[i]) // HTTP's own rule
			}
			if gone := name == "Keep-Alive" || name == "X-Plimsoll-Session"; gone != (len(got.header[name]) == 0) || !gone && !slices.Equal(got.header[name], want) {
				t.Errorf("%s: header %s: got %q, want %q", c.uri, name, got.header[name], want)
			}
		}
	}
}

// Nothing is added to what a client sends, nor to what it gets.
func TestAddsNothing(t *testing.T) {
	m := &mirror{answer: func(w http.ResponseWriter) {
		w.Header()["Content-Type"] = nil
		w.Header()["Date"] = nil
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "<html>short and stout")
	}}
	up := behind(t, m.ServeHTTP)
	p := start(t, up, nil)
	resp, body := ask(t, "GET", p.url+"/v1/thing", http.Header{"User-Agent": {""}}, nil)
	if _, ok := resp.Header["Content-Type"]; ok || resp.StatusCode != 418 || string(body) != "<html>short and stout" {
		t.Errorf("got %d %v %s", resp.StatusCode, resp.Header, body)
	}
	got := m.last(t)
	if len(got.header) != 0 {
		t.Errorf("headers, want none, got %v", got.header)
	}
	if u, _ := url.Parse(up); got.host != u.Host {
		t.Errorf("host %q, want the upstream's own", got.host)
	}
}

func pack(t *testing.T, coding string, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return plain
	}
	_, err := w.Write(plain)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var codings = []string{"gzip", "deflate", "br", "zstd"}

// Packed bodies stay packed both ways, byte for byte, and what a packed answer used is in
// the log all the same.
func TestPacked(t *testing.T) {
	events := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, coding := range codings {
		reply := pack(t, coding, []byte(events))
		m := &mirror{answer: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", coding)
			_, _ = w.Write(reply)
		}}
		p := start(t, behind(t, m.ServeHTTP), nil)
		request := pack(t, coding, []byte(`{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"x"}]}`))
		resp, got := ask(t, "POST", p.url+"/v1/messages", http.Header{"Content-Encoding": {coding}}, request)
		if !bytes.Equal(m.last(t).body, request) || m.last(t).header.Get("Content-Encoding") != coding {
			t.Errorf("%s: the request was changed", coding)
		}
		if !bytes.Equal(got, reply) || resp.Header.Get("Content-Encoding") != coding {
			t.Errorf("%s: the answer was changed", coding)
		}
		if line := p.log.Requests(t, 1)[0]; line["usage_input"] != float64(7) || line["usage_output"] != float64(3) {
			t.Errorf("%s: usage is not in the log: %v", coding, line)
		}
	}
}

// What a provider answers to what it refuses is passed on byte for byte.
func TestErrorsPass(t *testing.T) {
	for status, text := range map[int]string{
		400: `{"type":"error", "error":{"type":"invalid_request_error","message":"messages.1: odd"},"request_id":"req_1"}`,
		429: "slow down\n", 529: `{ "type":"error","error":{"type":"overloaded_error","message":"Overloaded"} }`, 503: "", 302: "elsewhere",
	} {
		m := &mirror{answer: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Location", "https://elsewhere.example/")
			w.Header().Add("Set-Cookie", "a=1")
			w.Header().Add("Set-Cookie", "b=2")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}}
		p := start(t, behind(t, m.ServeHTTP), nil)
		for _, path := range []string{"/v1/messages", "/v1/messages/batches"} {
			resp, got := ask(t, "POST", p.url+path, nil, []byte(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`))
			if resp.StatusCode != status || string(got) != text || resp.Header.Get("Retry-After") != "7" || len(resp.Header.Values("Set-Cookie")) != 2 {
				t.Errorf("%d at %s: got %d %q %v", status, path, resp.StatusCode, got, resp.Header)
			}
		}
	}
}

// Requests find their provider by path and headers; where nothing tells, the answer says
// what to do.
func TestFindsUpstream(t *testing.T) {
	var mu sync.Mutex
	var at string
	o := func(o *proxy.Options) {
		o.Upstreams = nil
		for _, name := range []string{"anthropic", "openai", "gemini", "ollama", "openrouter"} {
			base := behind(t, func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				at = name + " " + r.RequestURI
			})
			if name == "openai" {
				base += "/v1"
			}
			if name == "openrouter" {
				base += "/api/v1"
			}
			o.Upstreams = append(o.Upstreams, mustUpstream(t, name, base))
		}
	}
	p := start(t, "http://127.0.0.1:1", o)
	anthropic := http.Header{"Anthropic-Version": {"2023-06-01"}}
	for _, c := range []struct {
		uri    string
		header http.Header
		want   string
	}{
		{"/v1/messages?beta=true", nil, "anthropic /v1/messages?beta=true"},
		{"/v1/messages/batches", nil, "anthropic /v1/messages/batches"},
		{"/v1/models", anthropic, "anthropic /v1/models"},
		{"/v1/models", http.Header{"X-Api-Key": {"k"}}, "anthropic /v1/models"},
		{"/v1/models", http.Header{"Authorization": {"Bearer k"}}, "openai /v1/models"},
		{"/v1/models", http.Header{"X-Goog-Api-Key": {"k"}}, "gemini /v1/models"},
		{"/v1/chat/completions", nil, "openai /v1/chat/completions"},
		{"/v1/responses/compact", nil, "openai /v1/responses/compact"},
		{"/chat/completions", nil, "openai /v1/chat/completions"},
		{"/v1beta/models/m:streamGenerateContent?alt=sse", nil, "gemini /v1beta/models/m:streamGenerateContent?alt=sse"},
		{"/v1beta/openai/chat/completions", nil, "gemini /v1beta/openai/chat/completions"},
		{"/v1alpha/models", nil, "gemini /v1alpha/models"},
		{"/api/chat", nil, "ollama /api/chat"},
		{"/api/tags", nil, "ollama /api/tags"},
		{"/api/event_logging/batch", anthropic, "anthropic /api/event_logging/batch"},
		{"/openrouter/v1/chat/completions", nil, "openrouter /api/v1/chat/completions"},
		{"/openrouter/api/v1/models", nil, "openrouter /api/v1/models"},
		{"/openrouter/credits", nil, "openrouter /api/v1/credits"},
		{"/ollama/v1/chat/completions", nil, "ollama /v1/chat/completions"},
		{"/v1messages", nil, ""},
		{"/api/unheard", nil, ""},
		{"/favicon.ico", nil, ""},
	} {
		at = ""
		resp, body := ask(t, "POST", p.url+c.uri, c.header, nil)
		if at != c.want {
			t.Errorf("%s %v: went to %q, want %q", c.uri, c.header, at, c.want)
		}
		if c.want == "" && (resp.StatusCode != 404 || !strings.Contains(string(body), "--upstream NAME=URL") || strings.Contains(string(body), "model_not_found")) {
			t.Errorf("%s: got %d %s", c.uri, resp.StatusCode, body)
		}
	}
}

// TestUpstreamNames: a name that would hide a provider's paths, or an address that is none,
// is refused.
func TestUpstreamNames(t *testing.T) {
	for _, c := range [][2]string{{"v1", "http://127.0.0.1"}, {"a/b", "http://127.0.0.1"}, {"", "http://127.0.0.1"}, {"x", "ftp://h"}, {"x", "https://u:p@h"}, {"x", "gateway.example"}} {
		if _, err := proxy.ParseUpstream(c[0], c[1]); err == nil {
			t.Errorf("%v: want an error", c)
		}
	}
}

// The server answers for itself where clients look whether somebody is there.
func TestOwn(t *testing.T) {
	p := start(t, "http://127.0.0.1:1", func(o *proxy.Options) {
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "some 1\n") })
	})
	for uri, want := range map[string]string{"/": "Plimsoll proxy\n", "/healthz": "ok\n", "/readyz": "ready\n", "/metrics": "some 1\n"} {
		if resp, body := ask(t, "GET", p.url+uri, nil, nil); resp.StatusCode != 200 || string(body) != want {
			t.Errorf("%s: got %d %q", uri, resp.StatusCode, body)
		}
	}
	if resp, body := ask(t, "HEAD", p.url+"/", nil, nil); resp.StatusCode != 200 || len(body) > 0 {
		t.Errorf("HEAD: got %d %q", resp.StatusCode, body)
	}
	if resp, _ := ask(t, "POST", p.url+"/", nil, nil); resp.StatusCode != 404 {
		t.Errorf("POST /: got %d", resp.StatusCode)
	}
}

// Nobody is switched to another protocol: clients then send the whole request over HTTP.
func TestUpgrade(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	resp, body := ask(t, "GET", p.url+"/v1/responses", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Key": {"x"}}, nil)
	if resp.StatusCode != 426 || !strings.Contains(string(body), `"error"`) || m.count() > 0 {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	resp, _ = ask(t, "POST", p.url+"/v1/embeddings", http.Header{"Connection": {"Upgrade, HTTP2-Settings"}, "Upgrade": {"h2c"}, "Http2-Settings": {"AAMA"}}, []byte("{}"))
	if resp.StatusCode != 200 || m.last(t).header.Get("Upgrade") != "" || m.last(t).header.Get("Http2-Settings") != "" {
		t.Errorf("an offer of HTTP/2: got %d, %v", resp.StatusCode, m.last(t).header)
	}
}
