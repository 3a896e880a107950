package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// An inside is a length refusal that comes with the status of a success.
type inside struct {
	dialect llm.Dialect
	stream  bool
	kind    string // of its content
	text    string
}

var insides = map[string]inside{
	"responses_stream": {"openai-responses", true, "text/event-stream", "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r1\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n" +
		"event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":1,\"response\":{\"id\":\"r1\",\"object\":\"response\",\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"},\"output\":[]}}\n\n"},
	"chat_stream":                         {"openai-chat", true, "text/event-stream; charset=utf-8", "data: {\"error\": {\"object\": \"error\", \"message\": \"The input (5000 tokens) is longer than the model's context length (4000 tokens).\", \"type\": \"BadRequestError\", \"code\": 400}}\n\ndata: [DONE]\n\n"},
	"gemini_stream":                       {"gemini", true, "text/event-stream", "data: {\"error\":{\"code\":400,\"message\":\"The input token count (5000) exceeds the maximum number of tokens allowed (4000).\",\"status\":\"INVALID_ARGUMENT\"}}\r\n\r\n"},
	"ollama_stream":                       {"ollama", true, "application/x-ndjson", "{\"error\":\"the input length exceeds the context length\"}\n"},
	"responses":                           {"openai-responses", false, "application/json", `{"id":"r1","object":"response","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."},"output":[]}`},
	"chat":                                {"openai-chat", false, "application/json", `{"error":{"message":"This model's maximum context length is 4000 tokens. However, your messages resulted in 5000 tokens.","code":"context_length_exceeded"}}`},
	"chat_that_should_have_been_a_stream": {"openai-chat", true, "application/json; charset=utf-8", `{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}`},
	"anthropic":                           {"anthropic", false, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5000 tokens > 4000 maximum"}}`},
	"gemini":                              {"gemini", false, "application/json", `{"error":{"code":400,"message":"The input token count (5000) exceeds the maximum number of tokens allowed (4000).","status":"INVALID_ARGUMENT"}}`},
	"ollama":                              {"ollama", false, "application/json", `{"error":"the input length exceeds the context length"}`},
}

// TestRefusedInside: a length refusal comes with the status of a success, as a reply or as
// the end of a stream that has begun well, packed or not. The client sees nothing of it;
// where nothing can be made shorter it sees all of it.
func TestRefusedInside(t *testing.T) {
	for name, refusal := range insides {
		for _, coding := range []string{"", "gzip", "zstd"} {
			t.Run(strings.Trim(name+"_"+coding, "_"), func(t *testing.T) { refusal.try(t, coding) })
		}
	}
}

func (i inside) try(t *testing.T, coding string) {
	server, _ := scripted(t, "reply always\n  text \"Done.\"\n")
	asked, answer := 0, packed(coding, []byte(i.text))
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing the server below says
		if asked++; len(body) > 12_000 {
			w.Header().Set("Content-Type", i.kind)
			if coding != "" {
				w.Header().Set("Content-Encoding", coding)
			}
			_, _ = w.Write(answer)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	}))
	defer front.Close()
	c := testagent.New(front.URL, i.dialect, i.stream)
	c.HTTP = asItComes(through(t, gateway.Options{}, 100_000))
	for n := range 6 { // 20 kB
		id := fmt.Sprintf("call_%d", n)
		c.History = append(c.History,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"path":"%d"}`, n)}}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("line of file %d\n", n), 200)}}},
			}})
	}
	must(t, c.Step(t.Context()))
	if last := c.History[len(c.History)-1].Text(); last != "Done." || asked < 2 {
		t.Errorf("got %q after %d requests", last, asked)
	}

	c.HTTP = asItComes(through(t, gateway.Options{}, 100_000))
	c.Tools = slices.Clone(c.Tools)
	c.Tools[0].Description = strings.Repeat("Reads a file. ", 2_000)
	c.History = []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Go on."}}}}
	body, err := c.Body()
	must(t, err)
	resp, err := c.HTTP.Post(c.Address(), "application/json", bytes.NewReader(body))
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	if !bytes.Equal(data, answer) || resp.StatusCode != http.StatusOK {
		t.Errorf("a request that cannot be made shorter: got %d %q", resp.StatusCode, data)
	}
}

// asItComes makes a client unpack nothing.
func asItComes(c *http.Client) *http.Client {
	c.Transport.(*transport.Transport).Base = &http.Transport{DisableCompression: true}
	return c
}

// TestNotHeld: an answer is held back only while it can be a refusal. The provider goes on
// once the client has seen the beginning.
func TestNotHeld(t *testing.T) {
	const messages, chat = "/v1/messages", "/v1/chat/completions"
	for name, tt := range map[string]struct{ path, kind, coding, begin string }{
		"white space that keeps the line alive": {messages, "application/json", "", "\n"},
		"a long reply":                          {messages, "application/json", "", `{"id":"` + strings.Repeat("a", 1<<20)},
		"no JSON":                               {messages, "application/json", "", "data: "},
		"what begins to say something":          {messages, "application/json", "", `{"id":"msg","content":[{"type":"text","text":"Now`},
		"a coding that is not known":            {messages, "application/json", "snappy", `{"id`},
		"what is not packed as it says":         {messages, "application/json", "gzip", `{"id":"msg","type":"message"`},
		"the first event of a stream":           {chat, "text/event-stream", "", "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
		"one that says nothing yet":             {chat, "text/event-stream", "", "data: {\"id\":\"\",\"choices\":[],\"prompt_filter_results\":[]}\n\n"},
		"a comment that keeps the line alive":   {chat, "text/event-stream", "", ": PROCESSING"},
		"an endless event":                      {chat, "text/event-stream", "", "data: " + strings.Repeat("a", 1<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{})
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", tt.kind)
				w.Header().Set("Content-Encoding", tt.coding)
				begin := func() {
					_, _ = io.WriteString(w, tt.begin)
					_ = http.NewResponseController(w).Flush()
				}
				if begin(); tt.path == chat { // of a stream nothing is kept back
					<-seen
				}
				for {
					select {
					case <-seen:
						return
					default: // else the last of what came is
						begin()
					}
				}
			}))
			defer provider.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, provider.URL+tt.path, strings.NewReader(small))
			must(t, err)
			resp, err := asItComes(through(t, gateway.Options{}, 8000)).Do(req)
			must(t, err)
			defer resp.Body.Close()
			if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
				t.Error(err)
			}
			close(seen)
		})
	}
}
