package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// model is what all requests ask for.
const model = "gpt-5"

// key is what clients and gateways present. The upstream looks at none; LiteLLM starts with none that is easy to guess.
const key = "sk-loadtest-5d41402abc4b2a76b9719d911017c592"

// events is how many parts of the answer a stream brings.
const events = 20

// An upstream is a provider that says the same at once, or after a while.
type upstream struct {
	delay time.Duration // before an answer, and before each event of a stream
	plain []byte
	parts [][]byte
	pool  sync.Pool
}

func newUpstream(delay time.Duration) *upstream {
	var text strings.Builder
	seed := uint32(1)
	prose(&text, &seed, 700)
	u := &upstream{delay: delay, pool: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
	const usage = `"usage":{"prompt_tokens":%d,"completion_tokens":150,"total_tokens":%d}`
	counted := fmt.Sprintf(usage, 2000, 2150)
	u.plain = fmt.Appendf(nil, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%q},"logprobs":null,"finish_reason":"stop"}],%s}`, model, text.String(), counted)
	event := func(choices, usage string) {
		u.parts = append(u.parts, fmt.Appendf(nil, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%q,"choices":[%s]%s}`+"\n\n", model, choices, usage))
	}
	words := strings.SplitAfter(text.String(), " ")
	for n := range events {
		event(fmt.Sprintf(`{"index":0,"delta":{"role":"assistant","content":%q},"finish_reason":null}`, words[n]), "")
	}
	event(`{"index":0,"delta":{},"finish_reason":"stop"}`, "")
	event("", ","+counted)
	u.parts = append(u.parts, []byte(endOfStream))
	return u
}

// endOfStream is what a whole stream ends with.
const endOfStream = "data: [DONE]\n\n"

// ServeHTTP implements http.Handler.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := u.pool.Get().(*bytes.Buffer)
	defer u.pool.Put(body)
	body.Reset()
	if _, err := io.Copy(body, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// Gateways write the body anew, each in its own way.
	stream := bytes.Contains(body.Bytes(), []byte(`"stream":true`)) || bytes.Contains(body.Bytes(), []byte(`"stream": true`))
	if !u.wait(r) {
		return
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(u.plain)))
		_, _ = w.Write(u.plain)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for n, part := range u.parts {
		if n > 0 && !u.wait(r) {
			return
		}
		if _, err := w.Write(part); err != nil {
			return
		}
		_ = flush.Flush() // a client that has gone shows at the next write
	}
}

// wait lets the delay pass. It returns false if the client has gone.
func (u *upstream) wait(r *http.Request) bool {
	if u.delay == 0 {
		return true
	}
	select {
	case <-time.After(u.delay):
		return true
	case <-r.Context().Done():
		return false
	}
}
