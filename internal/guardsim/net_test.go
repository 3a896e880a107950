package guardsim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// A cable carries requests to a handler in memory and keeps the body of the last one.
type cable struct {
	handler http.Handler
	mu      sync.Mutex // summaries are written beside
	body    []byte
}

// RoundTrip implements http.RoundTripper.
func (c *cable) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.body = body
	c.mu.Unlock()
	in := req.Clone(req.Context())
	in.Body, in.RequestURI = io.NopCloser(bytes.NewReader(body)), req.URL.RequestURI()
	out := httptest.NewRecorder()
	c.handler.ServeHTTP(out, in)
	return out.Result(), nil
}

// A caller sends what a session prepared, as a host does: made fit for the target's dialect,
// encoded and read by the module's own client.
type caller struct {
	cable   *cable
	known   catalog.Catalog
	mu      sync.Mutex // guards clients
	clients map[string]*client.Client
	stream  bool
}

// client returns the client of a provider, without retries of its own.
func (c *caller) client(name string) (*client.Client, client.Provider, error) {
	p, _ := client.Lookup(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.clients[name]; made != nil {
		return made, p, nil
	}
	made, err := client.New(p, client.Options{
		HTTP: &http.Client{Transport: c.cable}, Tries: 1, Attempt: -1, Idle: -1, Total: -1,
		Env: func(name string) string {
			switch {
			case strings.HasSuffix(name, "_KEY"):
				return "sk-simulated"
			case strings.HasPrefix(name, "OPENAI") && strings.HasSuffix(name, "_BASE_URL"):
				return "http://127.0.0.1/v1"
			case strings.HasSuffix(name, "_BASE_URL"):
				return "http://127.0.0.1"
			}
			return ""
		},
	})
	c.clients[name] = made
	return made, p, err
}

// leastOutput is the output that is asked for where a dialect demands a figure and the policy
// reserves none.
const leastOutput = 1024

// call sends s and returns the reply, its names as the conversation has them.
func (c *caller) call(ctx context.Context, s *engine.Send) (llm.Response, error) {
	cl, p, err := c.client(s.Target.Provider)
	if err != nil {
		return llm.Response{}, err
	}
	dialect, _ := c.known.Dialect(p.Dialect)
	r := llm.Request{
		Model: s.Target.Model, Sections: s.Sections, Tools: s.Tools, Messages: s.Messages(), MaxOutput: s.Target.Window.OutputReserve,
		Settings: llm.Settings{Stream: c.stream, DropBrokenThinking: s.DropBrokenThinking},
	}
	if r.MaxOutput == 0 && dialect.Output > 0 {
		r.MaxOutput = leastOutput
	}
	fit := convert.Request(r, dialect, convert.Options{})
	if !c.stream {
		reply, err := cl.Complete(ctx, fit.Request)
		return fit.Aliases.Restore(reply), err
	}
	var all wire.Reply
	for e, err := range cl.Stream(ctx, fit.Request) {
		if err != nil {
			return llm.Response{}, err
		}
		all.Add(e)
	}
	return fit.Aliases.Restore(all.Response(p.Dialect)), nil
}
