package testagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// An Agent is a client. Its fields may be changed between requests.
type Agent struct {
	HTTP    *http.Client // carries what it sends
	URL     string       // of the provider, or of what stands before it
	Dialect llm.Dialect
	Model   string
	Stream  bool
	Header  http.Header // of each request
	System  []string
	Tools   []llm.Tool
	Lines   int // of each output of a tool
	History []llm.Message
	Change  func(body []byte) []byte // of each request; nil: nothing
	Each    func(n int)              // before each step of Run, from 1; nil: nothing
	Prompts []int                    // tokens that it was told its prompts had
}

// mostSteps is where Run gives up, far above what any script here asks for.
const mostSteps = 200

// New returns an agent that has been told to read files with its one tool.
func New(url string, d llm.Dialect, stream bool) *Agent {
	a := &Agent{
		HTTP: Plain(), URL: url, Dialect: d, Model: "scripted-model", Stream: stream, Header: http.Header{}, Lines: 200, System: []string{"You read files."},
		Tools: []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}},
	}
	return a.Says("Read all of them.")
}

// Plain returns an HTTP client that changes nothing of what it sends and gets.
func Plain() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}}
}

// Says adds what a person says.
func (a *Agent) Says(text string) *Agent {
	a.History = append(a.History, llm.UserText(text))
	return a
}

// paths are where requests go.
var paths = map[llm.Dialect]string{
	"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses",
	"gemini": "/v1beta/models/MODEL:generateContent", "ollama": "/api/chat",
}

// Dialects returns those that an agent speaks.
func Dialects() []llm.Dialect {
	return []llm.Dialect{"anthropic", "openai-chat", "openai-responses", "gemini", "ollama"}
}

// Address returns the URL that the next request goes to.
func (a *Agent) Address() string { return a.URL + Path(a.Dialect, a.Model, a.Stream) }

// Path returns where requests of a dialect go below a provider's URL; empty: it is none of
// [Dialects].
func Path(d llm.Dialect, model string, stream bool) string {
	path := strings.ReplaceAll(paths[d], "MODEL", model)
	if d == "gemini" && stream {
		path = strings.ReplaceAll(path, "generateContent", "streamGenerateContent") + "?alt=sse"
	}
	return path
}

// Body returns the request that the agent would send now.
func (a *Agent) Body() ([]byte, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	d, _ := known.Dialect(a.Dialect)
	r := llm.Request{Model: a.Model, Tools: a.Tools, Messages: a.History, MaxOutput: 500, Settings: llm.Settings{Stream: a.Stream}}
	for _, text := range a.System {
		r.Sections = append(r.Sections, llm.Section{Text: text})
	}
	body, err := a.codec().EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
	if err == nil && a.Change != nil {
		body = a.Change(body)
	}
	return body, err
}

// Send sends a body and returns the answer. One that is an error of the provider is a
// [wire.Error].
func (a *Agent) Send(ctx context.Context, body []byte) (answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Address(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range a.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	if a.Dialect == "anthropic" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	resp, err := a.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = a.codec().DecodeError(resp.StatusCode, answer)
	}
	return answer, err
}

// Take takes the reply that an answer is into the history.
func (a *Agent) Take(answer []byte) error {
	reply, err := a.decoded(answer)
	if err != nil {
		return fmt.Errorf("testagent: reply: %w: %s", err, answer)
	}
	a.History = append(a.History, reply.Message)
	a.Prompts = append(a.Prompts, reply.Usage.Prompt())
	return nil
}

func (a *Agent) decoded(answer []byte) (llm.Response, error) {
	if !a.Stream {
		return a.codec().DecodeResponse(answer)
	}
	var gathered wire.Reply
	d := a.codec().NewDecoder()
	events, err := d.Feed(answer)
	for _, e := range events {
		gathered.Add(e)
	}
	if err == nil {
		events, err = d.Close()
		for _, e := range events {
			gathered.Add(e)
		}
	}
	return gathered.Response(a.Dialect), err
}

func (a *Agent) codec() codecs.Full {
	codec, _ := codecs.For(a.Dialect)
	return codec
}

// Step makes a request and takes the reply into the history.
func (a *Agent) Step(ctx context.Context) error {
	body, err := a.Body()
	if err != nil {
		return err
	}
	answer, err := a.Send(ctx, body)
	if err != nil {
		return err
	}
	return a.Take(answer)
}

// Work answers the calls of the last reply, of step n. It returns false if there are none.
func (a *Agent) Work(n int) bool {
	calls := a.History[len(a.History)-1].Calls()
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for i, call := range calls {
		output := strings.Repeat(fmt.Sprintf("line of file %d.%d\n", n, i), a.Lines)
		m.Parts = append(m.Parts, llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: output}}})
	}
	if len(calls) > 0 {
		a.History = append(a.History, m)
	}
	return len(calls) > 0
}

// Run goes on until the model has answered without a call.
func (a *Agent) Run(ctx context.Context) error {
	for n := 1; n <= mostSteps; n++ {
		if a.Each != nil {
			a.Each(n)
		}
		if err := a.Step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
		if !a.Work(n) {
			return nil
		}
	}
	return errors.New("testagent: run: no end")
}
