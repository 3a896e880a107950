package ollamatest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A server is what the environment names.
type server struct {
	url, model, thinker string
}

// serverOf returns the server, or skips the test.
func serverOf(t *testing.T) server {
	t.Helper()
	s := server{os.Getenv("PLIMSOLL_OLLAMA"), os.Getenv("PLIMSOLL_OLLAMA_MODEL"), os.Getenv("PLIMSOLL_OLLAMA_THINKER")}
	if s.url == "" || s.model == "" {
		t.Skip("PLIMSOLL_OLLAMA and PLIMSOLL_OLLAMA_MODEL are not set: no server to ask (scripts/ollama starts one)")
	}
	s.url = strings.TrimRight(s.url, "/")
	return s
}

// doors are the providers that reach the four dialects of the server.
func doors() []string { return []string{"ollama", "openai-compatible", "openai", "anthropic"} }

// A door is a client of one dialect of the server, and what has gone through it.
type door struct {
	*client.Client
	*recorder
	codec codecs.Full
}

// open returns the door of a provider as a user opens it: by environment variables alone. What goes
// through it is put to the laws when the test has ended.
func (s server) open(t *testing.T, provider string) door {
	t.Helper()
	p, ok := client.Lookup(provider)
	if !ok {
		t.Fatalf("provider %s: want one that is built in", provider)
	}
	codec, ok := codecs.For(p.Dialect)
	if !ok {
		t.Fatalf("dialect %s: want one with a codec", p.Dialect)
	}
	env := map[string]string{
		"OLLAMA_HOST":                strings.TrimPrefix(s.url, "http://"),
		"OPENAI_COMPATIBLE_BASE_URL": s.url + "/v1",
		"OPENAI_BASE_URL":            s.url + "/v1", "OPENAI_API_KEY": "not-needed-here",
		"ANTHROPIC_BASE_URL": s.url, "ANTHROPIC_API_KEY": "not-needed-here",
	}
	d := door{recorder: &recorder{}, codec: codec}
	var err error
	d.Client, err = client.New(p, client.Options{
		HTTP:  &http.Client{Transport: d.recorder},
		Env:   func(name string) string { return env[name] },
		Tries: 1, Total: 5 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, x := range d.all() {
			hold(t, codec, x)
		}
	})
	return d
}

// request returns a request that asks text, whose reply is short and as good as certain.
func request(model, text string) llm.Request {
	return llm.Request{Model: model, MaxOutput: 12, Settings: llm.Settings{Temperature: "0"}, Messages: []llm.Message{says(text)}}
}

func says(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}
}

// read returns the request that a body in the door's own dialect is.
func (d door) read(t *testing.T, body string) llm.Request {
	t.Helper()
	r, err := d.codec.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// complete asks for a whole reply.
func (d door) complete(t *testing.T, r llm.Request) llm.Response {
	t.Helper()
	reply, err := d.Complete(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// stream asks for a stream and returns the reply that it tells.
func (d door) stream(t *testing.T, r llm.Request) llm.Response {
	t.Helper()
	reply, err := d.listen(r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func (d door) listen(r llm.Request) (llm.Response, error) {
	var heard wire.Reply
	for e, err := range d.Stream(context.Background(), r) {
		if err != nil {
			return heard.Response(d.codec.Dialect()), err
		}
		heard.Add(e)
	}
	return heard.Response(d.codec.Dialect()), nil
}

// refusal returns the server's error inside err.
func refusal(t *testing.T, err error) *wire.Error {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("error, want one of the server's own, got %v", err)
	}
	return e
}

// An exchange is a request and its answer, as they were on the wire.
type exchange struct {
	path, kind string // kind is the answer's media type
	status     int
	request    []byte
	answer     bytes.Buffer
}

// A recorder sends requests and keeps what was said.
type recorder struct {
	mu   sync.Mutex
	kept []*exchange
}

func (r *recorder) all() []*exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept
}

// last returns the newest exchange, or an empty one.
func (r *recorder) last() *exchange {
	all := r.all()
	if len(all) == 0 {
		return &exchange{}
	}
	return all[len(all)-1]
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{path: req.URL.Path}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		x.request = body
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.status, x.kind = resp.StatusCode, resp.Header.Get("Content-Type")
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, &x.answer), resp.Body}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, x)
	return resp, nil
}

// post sends a body as it is.
func (s server) post(t *testing.T, path, body string) (int, []byte) {
	t.Helper()
	resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
