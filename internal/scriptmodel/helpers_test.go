package scriptmodel

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A rig is a server with a client of one dialect.
type rig struct {
	t      *testing.T
	server *Server
	url    string
	d      llm.Dialect
	codec  codec
	header http.Header
}

// start serves a script.
func start(t *testing.T, d llm.Dialect, script string) *rig {
	t.Helper()
	s, err := Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := New(s, Options{})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	c, ok := codecOf(d)
	if !ok {
		t.Fatalf("codec, want one of %s, got none", d)
	}
	return &rig{t: t, server: server, url: listener.URL, d: d, codec: c, header: http.Header{"Anthropic-Version": {"2023-06-01"}}}
}

// A got is what a server answered.
type got struct {
	status int
	header http.Header
	body   []byte
	broken error // the connection broke
}

// send sends a request.
func (r *rig) send(method, path string, body []byte) got {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = r.header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return got{broken: err}
	}
	defer resp.Body.Close()
	g := got{status: resp.StatusCode, header: resp.Header}
	g.body, g.broken = io.ReadAll(resp.Body)
	return g
}

// path returns the address of the model.
func (r *rig) path(stream bool) string {
	switch r.d {
	case messages:
		return "/v1/messages"
	case chat:
		return "/v1/chat/completions"
	case responses:
		return "/v1/responses"
	case native:
		return "/api/chat"
	}
	if stream {
		return "/v1beta/models/m:streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/m:generateContent"
}

// opening returns a hand-written first request: a system prompt, a shell tool, thinking
// where it can be asked for, and one text.
func (r *rig) opening(text string, stream bool) []byte {
	const schema = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`
	var body string
	switch r.d {
	case messages:
		body = `{"model":"m","max_tokens":2000,"stream":%[2]t,"thinking":{"type":"adaptive"},"system":"Be brief.",` +
			`"tools":[{"name":"bash","input_schema":%[3]s}],"messages":[{"role":"user","content":%[1]q}]}`
	case chat:
		body = `{"model":"m","stream":%[2]t,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"bash","parameters":%[3]s}}],` +
			`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%[1]q}]}`
		if !stream {
			body = strings.Replace(body, `"stream_options":{"include_usage":true},`, "", 1)
		}
	case responses:
		body = `{"model":"m","stream":%[2]t,"store":false,"include":["reasoning.encrypted_content"],"instructions":"Be brief.",` +
			`"tools":[{"type":"function","name":"bash","parameters":%[3]s}],"input":[{"type":"message","role":"user","content":%[1]q}]}`
	case native:
		body = `{"model":"m","stream":%[2]t,"think":true,"tools":[{"type":"function","function":{"name":"bash","parameters":%[3]s}}],` +
			`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%[1]q}]}`
	default:
		_ = stream // it stands in the address
		body = `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"bash","parametersJsonSchema":%[3]s}]}],` +
			`"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[{"role":"user","parts":[{"text":%[1]q}]}]}`
		return fmt.Appendf(nil, strings.Replace(body, "%[2]t", "", 1), text, stream, schema)
	}
	return fmt.Appendf(nil, body, text, stream, schema)
}

// ask sends a request and reads the reply with the dialect's codec.
func (r *rig) ask(body []byte, stream bool) llm.Response {
	r.t.Helper()
	g := r.send("POST", r.path(stream), body)
	if g.status != 200 || g.broken != nil {
		r.t.Fatalf("answer, want 200, got %d %v: %s\nto %s", g.status, g.broken, g.body, body)
	}
	return r.read(g.body, stream)
}

func (r *rig) read(body []byte, stream bool) llm.Response {
	r.t.Helper()
	if !stream {
		reply, err := r.codec.DecodeResponse(body)
		if err != nil {
			r.t.Fatalf("reply: %v\n%s", err, body)
		}
		return reply
	}
	events, err := r.events(body)
	if err != nil {
		r.t.Fatalf("stream: %v\n%s", err, body)
	}
	var reply wire.Reply
	for _, e := range events {
		reply.Add(e)
	}
	if !reply.Ended() {
		r.t.Fatalf("stream, want a whole reply, got %s", body)
	}
	return reply.Response(r.d)
}

func (r *rig) events(stream []byte) ([]llm.Event, error) {
	dec := r.codec.NewDecoder()
	fed, err := dec.Feed(stream)
	events := append([]llm.Event(nil), fed...)
	if err != nil {
		return events, err
	}
	rest, err := dec.Close()
	return append(events, rest...), err
}

// extend returns the request with more messages, written by the dialect's codec.
func (r *rig) extend(body []byte, more ...llm.Message) []byte {
	r.t.Helper()
	req, err := r.codec.DecodeRequest(body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Messages = append(req.Messages, more...)
	out, err := r.codec.EncodeRequest(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// answered returns the results of all calls of a reply.
func answered(m llm.Message, output string) llm.Message {
	out := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for _, c := range m.Calls() {
		out.Parts = append(out.Parts, llm.ToolResult{CallID: c.CallID, Content: []llm.Part{llm.Text{Text: output}}})
	}
	return out
}

func person(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}
}

// refused returns the error of a request that must be refused.
func (r *rig) refused(body []byte) *wire.Error {
	r.t.Helper()
	g := r.send("POST", r.path(false), body)
	if g.status < 400 {
		r.t.Fatalf("answer, want an error, got %d: %s\nto %s", g.status, g.body, body)
	}
	return r.codec.DecodeError(g.status, g.body)
}

// each runs a test for each dialect.
func each(t *testing.T, test func(t *testing.T, d llm.Dialect)) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) { test(t, llm.Dialect(d)) })
	}
}
