package proxytest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
)

// streamFailures are those of streams that were rebuilt, held back, repacked or served to
// nobody.
func streamFailures() []scenario {
	return []scenario{
		{"bifrost#5169_bifrost#4556_no_event_is_made_up", func(t *testing.T) { passesAsItIs(t, oddEvents) }},
		{"litellm#12854_each_event_comes_when_it_was_sent", unbuffered},
		{"claude-code-router#1672_characters_that_are_cut", func(t *testing.T) {
			passesAsItIs(t, bytewise("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界 🎉\"}}]}\n\ndata: [DONE]\n\n"))
		}},
		{"bitrouter#422_pings_pass", func(t *testing.T) {
			passesAsItIs(t, []string{"event: ping\ndata: {\"type\": \"ping\"}\n\n", ": a comment\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"})
		}},
		{"tale#3396_who_asks_again_ends_the_first_call", asksAgain},
		{"litellm#37140_a_reply_that_is_no_stream_is_ended", goesEarly},
		{"claude-relay-service#1027_superlocalmemory#79_packed_streams_are_what_they_say", packedViews},
	}
}

// oddEvents is a stream that no provider should send: thinking without a start, a start that
// comes twice, an event that nobody knows, a call of a server's own tool.
var oddEvents = []string{
	"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n",
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":4,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
	"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n",
	"event: unheard_of\ndata: {\"type\":\"unheard_of\",\"x\":[1.50]}\n\n",
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}}}\n\n",
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"query\\\"\"}}\n\n",
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
}

func bytewise(text string) (out []string) {
	for i := range len(text) {
		out = append(out, text[i:i+1])
	}
	return out
}

// passesAsItIs: the client gets the stream that was sent, also where it is told other
// figures.
func passesAsItIs(t *testing.T, chunks []string) {
	t.Helper()
	want := strings.Join(chunks, "")
	for _, change := range []func(*gateway.Options){nil, view} {
		p := before(t, &mirror{answer: says(events, chunks...)}, change, nil)
		for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"} {
			body := askMore
			if path == "/v1/responses" {
				body = `{"model":"m","input":"x","stream":true}`
			}
			if status, _, got := post(t, p.url+path, nil, body); status != 200 || got != want {
				t.Errorf("%s: got %d %q, want %q", path, status, got, want)
			}
		}
	}
}

// unbuffered: the client has an event before the next one is sent.
func unbuffered(t *testing.T) {
	all := map[string]string{
		"/v1/messages":         "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%d\"}}\n\n",
		"/v1/chat/completions": "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d\"}}]}\n\n",
		"/v1/responses":        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"%d\"}\n\n",
		"/api/chat":            "{\"message\":{\"role\":\"assistant\",\"content\":\"%d\"}}\n",
		"/v1beta/models/m:streamGenerateContent?alt=sse": "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"%d\"}]}}]}\n\n",
	}
	for path, event := range all {
		next := make(chan bool)
		p := before(t, &mirror{answer: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", events)
			if strings.HasPrefix(path, "/api") {
				w.Header().Set("Content-Type", "application/x-ndjson")
			}
			for i := range 5 {
				fmt.Fprintf(w, event, i)
				_ = http.NewResponseController(w).Flush()
				<-next
			}
		}}, view, nil)
		body := askMore
		if path == "/v1/responses" {
			body = `{"model":"m","input":"x","stream":true}`
		} else if strings.HasPrefix(path, "/v1beta") {
			body = `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`
		}
		resp, err := plain.Post(p.url+path, object, strings.NewReader(body))
		must(t, err)
		lines := bufio.NewReader(resp.Body)
		for i := range 5 {
			for want := fmt.Sprintf(`"%d"`, i); ; {
				line, err := lines.ReadString('\n')
				must(t, err)
				if strings.Contains(line, want) {
					break
				}
			}
			next <- true
		}
		_ = resp.Body.Close()
	}
}

// asksAgain: a client that gives up and asks again has ended its first call upstream, and
// what leaves is the same.
func asksAgain(t *testing.T) {
	came, gone := make(chan bool, 1), make(chan bool, 1)
	first := true
	m := &mirror{answer: func(w http.ResponseWriter, r *http.Request) {
		if !first {
			says(object, reply)(w, r)
			return
		}
		first = false
		came <- true
		<-r.Context().Done()
		gone <- true
	}}
	p := before(t, m, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-came
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/messages", strings.NewReader(ask))
	must(t, err)
	if resp, err := plain.Do(req); err == nil {
		t.Errorf("got %d", resp.StatusCode)
		_ = resp.Body.Close()
	}
	<-gone
	p.log.Requests(t, 1)
	status, _, got := post(t, p.url+"/v1/messages", nil, ask)
	all := m.all()
	if status != 200 || got != reply || len(all) != 2 || string(all[0].body) != string(all[1].body) {
		t.Errorf("%d requests left; got %d %s", len(all), status, got)
	}
	if line := p.log.Requests(t, 2)[1]; line["match"] != "retry" {
		t.Errorf("got %v", line)
	}
}

// goesEarly: a client that goes in the middle of a reply that is no stream ends the call.
func goesEarly(t *testing.T) {
	gone := make(chan bool, 1)
	p := before(t, &mirror{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", object)
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, reply)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- true
	}}, nil, nil)
	resp, err := plain.Post(p.url+"/v1/messages", object, strings.NewReader(ask))
	must(t, err)
	_ = resp.Body.Close() // which breaks the connection: there is more to come
	<-gone
}

// packedViews: where a client is told other figures and its stream comes packed all the
// same, the header and the bytes say the same.
func packedViews(t *testing.T) {
	for _, coding := range []string{"gzip", "br"} {
		model := scripted(t, "window 8000\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
		p := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", coding)
			var z io.WriteCloser = gzip.NewWriter(w)
			if coding == "br" {
				z = brotli.NewWriter(w)
			}
			model.ServeHTTP(packed{w, z}, r)
			_ = z.Close()
		}), view, nil)
		a := testagent.New(p.url, "anthropic", true)
		for n := 1; ; n++ {
			body, err := a.Body()
			must(t, err)
			status, h, got := post(t, p.url+"/v1/messages", nil, string(body))
			if status != 200 || h.Get("Content-Encoding") != coding {
				t.Fatalf("%s: step %d: got %d %v %q", coding, n, status, h, got)
			}
			var r io.Reader = brotli.NewReader(strings.NewReader(got))
			if coding == "gzip" {
				r, err = gzip.NewReader(strings.NewReader(got))
				must(t, err)
			}
			text, err := io.ReadAll(r)
			must(t, err)
			must(t, a.Take(text))
			if !a.Work(n) {
				break
			}
		}
		noFault(t, model)
		if lines := p.log.Requests(t, 13); lines[12]["edited"] != true || lines[12]["usage_output"] == nil {
			t.Errorf("%s: got %v", coding, lines[12])
		}
	}
}

// packed is a writer of an answer that packs what is written.
type packed struct {
	http.ResponseWriter
	z io.Writer
}

func (p packed) Write(b []byte) (int, error) { return p.z.Write(b) }

func (p packed) WriteHeader(status int) {
	p.Header().Del("Content-Length")
	p.ResponseWriter.WriteHeader(status)
}
