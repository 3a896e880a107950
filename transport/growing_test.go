package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// A client is an agent that holds its whole history, as agents do, and sends all of it
// with every request.
type client struct {
	http    *http.Client
	url     string
	dialect llm.Dialect
	model   string
	system  string
	tools   []llm.Tool
	history []llm.Message
	stream  bool
	prompts []int // that the client was told
}

var paths = map[llm.Dialect]string{
	"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses",
	"gemini": "/v1beta/models/{model}:generateContent", "ollama": "/api/chat",
}

func (c *client) address() string {
	path := strings.ReplaceAll(paths[c.dialect], "{model}", c.model)
	if c.dialect == "gemini" && c.stream {
		path = strings.ReplaceAll(path, "generateContent", "streamGenerateContent") + "?alt=sse"
	}
	return c.url + path
}

// body returns the request that the client would send now.
func (c *client) body() ([]byte, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	d, _ := known.Dialect(c.dialect)
	codec, _ := codecs.For(c.dialect)
	r := llm.Request{
		Model: c.model, Sections: []llm.Section{{Text: c.system}}, Tools: c.tools, Messages: c.history, MaxOutput: 500,
		Settings: llm.Settings{Stream: c.stream},
	}
	return codec.EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
}

// step makes a request and takes the reply into the history.
func (c *client) step(ctx context.Context) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.dialect == "anthropic" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	codec, _ := codecs.For(c.dialect)
	if resp.StatusCode != http.StatusOK {
		return codec.DecodeError(resp.StatusCode, data)
	}
	reply, err := decode(codec, data, c.stream)
	if err != nil {
		return fmt.Errorf("%w: %s", err, data)
	}
	c.history = append(c.history, reply.Message)
	c.prompts = append(c.prompts, reply.Usage.Prompt())
	return nil
}

func decode(codec codecs.Full, data []byte, stream bool) (llm.Response, error) {
	if !stream {
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

// work answers the calls of the last reply, if it has any.
func (c *client) work(output string) bool {
	calls := c.history[len(c.history)-1].Calls()
	if len(calls) == 0 {
		return false
	}
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for _, call := range calls {
		m.Parts = append(m.Parts, llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: output}}})
	}
	c.history = append(c.history, m)
	return true
}

const script = `
window 8000
output 500
reply 40 times when tools
  thinking "Let me look."
  call read {"path": "a.txt"}
reply always
  text "Done."
`

func scripted(t *testing.T, text string) (*scriptmodel.Server, string) {
	t.Helper()
	s, err := scriptmodel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener.URL
}

// TestGrows: an agent whose task needs several windows ends it, in every dialect,
// streaming or not; the provider refuses nothing, and without the transport it does.
func TestGrows(t *testing.T) {
	for d := range paths {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				server, url := scripted(t, script)
				g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 8000, OutputReserve: 500}
				}})
				if err != nil {
					t.Fatal(err)
				}
				c := grower(d, url, stream)
				c.http = &http.Client{Transport: transport.New(g)}
				if err := c.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				calls := server.Log()
				if len(calls) != 41 {
					t.Errorf("%d calls, want 41", len(calls))
				}
				for i, call := range calls {
					if call.Error != nil || len(call.Faults) > 0 {
						t.Fatalf("call %d: %v %v", i+1, call.Error, call.Faults)
					}
				}
				direct := grower(d, url, stream)
				direct.http = http.DefaultClient
				server.Reset()
				if err := direct.run(t.Context()); err == nil && d != "ollama" {
					t.Error("without the transport the task ends, want a refusal")
				}
			})
		}
	}
}

func grower(d llm.Dialect, url string, stream bool) *client {
	return &client{
		url: url, dialect: d, model: "scripted-model", stream: stream, system: "You read files.",
		tools:   []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}},
		history: []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Read all of them."}}}},
	}
}

// run goes on until the model has answered.
func (c *client) run(ctx context.Context) error {
	for n := 1; ; n++ {
		if err := c.step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
		if !c.work(strings.Repeat(fmt.Sprintf("line of file %d\n", n), 200)) {
			return nil
		}
	}
}

// TestClientView: a client is told what was used, or, where the gateway is asked for it,
// what its own history would use.
func TestClientView(t *testing.T) {
	for d := range paths {
		for _, stream := range []bool{false, true} {
			for _, view := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s_stream_%t_view_%t", d, stream, view), func(t *testing.T) {
					_, url := scripted(t, script)
					g, err := gateway.New(gateway.Options{ClientView: view, Window: func(string, string) budget.Window {
						return budget.Window{Capacity: 8000, OutputReserve: 500}
					}})
					must(t, err)
					c := grower(d, url, stream)
					c.http = &http.Client{Transport: transport.New(g)}
					must(t, c.run(t.Context()))
					if last := c.prompts[len(c.prompts)-1]; (last > 3*8000) != view || last == 0 {
						t.Errorf("the client is told a prompt of %d tokens: %v", last, c.prompts)
					}
				})
			}
		}
	}
}

// TestRefusedWithin: a provider whose window is smaller than anybody knows refuses for
// length; the request is sent again, shorter, before the client hears of it.
func TestRefusedWithin(t *testing.T) {
	for d := range paths {
		if d == "ollama" { // it cuts and says nothing
			continue
		}
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				server, url := scripted(t, script)
				g, err := gateway.New(gateway.Options{})
				must(t, err)
				attempts := 0
				tr := transport.New(g)
				tr.Done = func(_ *http.Request, r gateway.Report) { attempts = max(attempts, r.Attempts) }
				c := grower(d, url, stream)
				c.http = &http.Client{Transport: tr}
				must(t, c.run(t.Context()))
				refused := 0
				for _, call := range server.Log() {
					if call.Error != nil {
						refused++
					}
				}
				if refused == 0 || refused > 8 || attempts < 2 {
					t.Errorf("%d requests refused, at most %d attempts, want a few and 2", refused, attempts)
				}
			})
		}
	}
}
