package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A shape is how one provider answers: the same reply whole and as a stream, and the
// refusal of a prompt that is too long. Written by hand after the providers' references.
type shape struct {
	provider   string
	base       string // environment variable of the base URL
	keyEnv     string
	keyHeader  string // name: value, for the key k-123
	complete   string // path and query of a request for the model m-1
	stream     string
	reply      string
	events     string
	eventsType string
	tooLong    string // an error body that says so
	used       int    // as it states them
	window     int
}

// What every reply says.
const (
	replyText   = "Hello there"
	replyInput  = 12
	replyOutput = 3
)

func shapes() []shape {
	return []shape{anthropicShape(), responsesShape(), chatShape(), geminiShape(), ollamaShape()}
}

func shapeOf(t testing.TB, provider string) shape {
	t.Helper()
	for _, s := range shapes() {
		if s.provider == provider {
			return s
		}
	}
	t.Fatalf("no shape of %s", provider)
	return shape{}
}

func anthropicShape() shape {
	return shape{
		provider: "anthropic", base: "ANTHROPIC_BASE_URL", keyEnv: "ANTHROPIC_API_KEY", keyHeader: "X-Api-Key: k-123",
		complete: "/v1/messages", stream: "/v1/messages", eventsType: "text/event-stream; charset=utf-8",
		reply: `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello there"}],` +
			`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3}}`,
		events: sse("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],`+
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`) +
			sse("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
			sse("ping", `{"type":"ping"}`) +
			sse("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`) +
			sse("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" there"}}`) +
			sse("content_block_stop", `{"type":"content_block_stop","index":0}`) +
			sse("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}`) +
			sse("message_stop", `{"type":"message_stop"}`),
		tooLong: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"req_1"}`,
		used:    210_000, window: 200_000,
	}
}

func responsesShape() shape {
	const message = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello there","annotations":[]}]}`
	const usage = `"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}`
	done := `{"id":"resp_1","object":"response","created_at":1,"status":"completed","error":null,"incomplete_details":null,"model":"m-1","output":[` + message + `],` + usage + `}`
	return shape{
		provider: "openai", base: "OPENAI_BASE_URL", keyEnv: "OPENAI_API_KEY", keyHeader: "Authorization: Bearer k-123",
		complete: "/v1/responses", stream: "/v1/responses", eventsType: "text/event-stream", reply: done,
		events: sse("response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m-1","output":[],"usage":null}}`) +
			sse("response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`) +
			sse("response.content_part.added", `{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`) +
			sse("response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello there"}`) +
			sse("response.output_text.done", `{"type":"response.output_text.done","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hello there"}`) +
			sse("response.content_part.done", `{"type":"response.content_part.done","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello there","annotations":[]}}`) +
			sse("response.output_item.done", `{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":`+message+`}`) +
			sse("response.completed", `{"type":"response.completed","sequence_number":7,"response":`+done+`}`),
		tooLong: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
	}
}

func chatShape() shape {
	return shape{
		provider: "openai-compatible", base: "OPENAI_COMPATIBLE_BASE_URL", keyEnv: "OPENAI_COMPATIBLE_API_KEY", keyHeader: "Authorization: Bearer k-123",
		complete: "/v1/chat/completions", stream: "/v1/chat/completions", eventsType: "text/event-stream",
		reply: `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`,
		events: sse("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`) +
			sse("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"Hello there"},"finish_reason":null}]}`) +
			sse("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) +
			sse("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`) +
			sse("", `[DONE]`),
		tooLong: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		used:    9000, window: 8192,
	}
}

func geminiShape() shape {
	const usage = `"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":3,"totalTokenCount":15},"modelVersion":"m-1","responseId":"r-1"`
	return shape{
		provider: "gemini", base: "GOOGLE_GEMINI_BASE_URL", keyEnv: "GEMINI_API_KEY", keyHeader: "X-Goog-Api-Key: k-123",
		complete: "/v1beta/models/m-1:generateContent", stream: "/v1beta/models/m-1:streamGenerateContent?alt=sse", eventsType: "text/event-stream",
		reply: `{"candidates":[{"content":{"parts":[{"text":"Hello there"}],"role":"model"},"finishReason":"STOP","index":0}],` + usage + `}`,
		events: sse("", `{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"totalTokenCount":12},"modelVersion":"m-1","responseId":"r-1"}`) +
			sse("", `{"candidates":[{"content":{"parts":[{"text":" there"}],"role":"model"},"finishReason":"STOP","index":0}],`+usage+`}`),
		tooLong: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
		used:    1_200_000, window: 1_048_576,
	}
}

func ollamaShape() shape {
	return shape{
		provider: "ollama", base: "OLLAMA_HOST", keyEnv: "OLLAMA_API_KEY", keyHeader: "Authorization: Bearer k-123",
		complete: "/api/chat", stream: "/api/chat", eventsType: "application/x-ndjson",
		reply: `{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hello there"},"done_reason":"stop","done":true,"prompt_eval_count":12,"eval_count":3}`,
		events: `{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hello"},"done":false}` + "\n" +
			`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":" there"},"done":false}` + "\n" +
			`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":12,"eval_count":3}` + "\n",
		tooLong: `{"error":"the input length exceeds the context length"}`,
	}
}

func sse(name, data string) string {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return name + "data: " + data + "\n\n"
}

// env is an environment with nothing but these pairs.
func env(pairs ...string) func(string) string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return all[name] }
}

// question is a request for the model m-1.
func question() llm.Request {
	return llm.Request{
		Model: "m-1", MaxOutput: 100,
		Messages: []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Say hello."}}}},
	}
}

// newClient returns a client of a known provider.
func newClient(t testing.TB, provider string, o client.Options) *client.Client {
	t.Helper()
	p, ok := client.Lookup(provider)
	if !ok {
		t.Fatalf("provider %s is not known", provider)
	}
	c, err := client.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dial returns a client of a shape's provider at a server, with the key k-123.
func dial(t testing.TB, s shape, url string, o client.Options) *client.Client {
	t.Helper()
	if s.provider == "openai" || s.provider == "openai-compatible" {
		url += "/v1"
	}
	o.Env = env(s.base, url, s.keyEnv, "k-123")
	return newClient(t, s.provider, o)
}

// serve starts a server that the test ends.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answer writes a body.
func answer(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// A step answers one attempt.
type step struct {
	do func(*http.Request) (*http.Response, error)
}

// A script answers attempts one after the other, without a network.
type script struct {
	mu      sync.Mutex
	answers []step
	times   []time.Time // of the attempts
	open    int         // bodies that have not been closed
}

// RoundTrip answers the next attempt; the last answer stays.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	i := min(len(s.times), len(s.answers)-1)
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	resp, err := s.answers[i].do(r)
	if resp != nil {
		s.mu.Lock()
		s.open++
		s.mu.Unlock()
		resp.Body = &countedBody{ReadCloser: resp.Body, s: s}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	s    *script
	once sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() {
		b.s.mu.Lock()
		b.s.open--
		b.s.mu.Unlock()
	})
	return b.ReadCloser.Close()
}

// waits are the times between the attempts.
func (s *script) waits() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(s.times); i++ {
		out = append(out, s.times[i].Sub(s.times[i-1]))
	}
	return out
}

// collect reads a stream to its end.
func collect(t testing.TB, ctx context.Context, c *client.Client) (llm.Response, error) { //nolint:revive // the test comes first everywhere else, too
	t.Helper()
	var reply wire.Reply
	for e, err := range c.Stream(ctx, question()) {
		if err != nil {
			return reply.Response(""), err
		}
		reply.Add(e)
	}
	if !reply.Ended() {
		t.Error("the stream ended without an error and without the end of the reply")
	}
	return reply.Response(""), nil
}

// wantReply checks that a reply says what all of them do.
func wantReply(t testing.TB, r llm.Response, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Message.Text(); got != replyText || r.Stop != llm.StopEnd || r.Usage.Input != replyInput || r.Usage.Output != replyOutput {
		t.Errorf("got %q, stop %v, usage %+v, want %q, end, %d in, %d out", got, r.Stop, r.Usage, replyText, replyInput, replyOutput)
	}
}

// memory is a network in memory, for tests with synthetic time.
type memory struct{ conns chan net.Conn }

func newMemory(t testing.TB, h http.HandlerFunc) *http.Client {
	t.Helper()
	m := memory{make(chan net.Conn)}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // no network
		body, err := io.ReadAll(r.Body) // only then does a server see that the client is gone
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			h(w, r)
		}
	})}
	go func() { _ = server.Serve(m) }()
	transport := &http.Transport{DialContext: m.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	return &http.Client{Transport: transport}
}

func (m memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m memory) Accept() (net.Conn, error) {
	conn, ok := <-m.conns
	if !ok {
		return nil, errors.New("closed")
	}
	return conn, nil
}
func (m memory) Close() error   { close(m.conns); return nil }
func (m memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func says(status int, contentType, body string, head ...string) step {
	return step{func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		for i := 0; i < len(head); i += 2 {
			rec.Header().Set(head[i], head[i+1])
		}
		answer(rec, status, contentType, body)
		resp := rec.Result()
		resp.Request = r
		return resp, nil
	}}
}

// saysCut answers with the beginning of a body, and then breaks the connection.
func saysCut(contentType, body string, why error) step {
	return step{func(r *http.Request) (*http.Response, error) {
		resp, err := says(200, contentType, "").do(r)
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), broken{why}))
		return resp, err
	}}
}

type broken struct{ why error }

func (b broken) Read([]byte) (int, error) { return 0, b.why }

func breaks(err error) step {
	return step{func(*http.Request) (*http.Response, error) { return nil, err }}
}

// contains fails the test unless text has every part.
func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("want %q in %q", p, text)
		}
	}
}
