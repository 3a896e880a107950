package sdktest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A provider answers every request with one reply, in the dialect of its codec, streamed
// where the request asks for that. The scripted server covers what a script can say; this
// one takes any reply.
type provider struct {
	t     *testing.T
	codec codecs.Full
	reply llm.Response
	// body and stream are sent in place of what the codec makes of reply, if they are set.
	body, stream []byte
	refusals     []*wire.Error // answered first, one a request
	chunk        int           // bytes of a stream that are sent at once; 0: all

	mu   sync.Mutex
	seen []call
}

// A call is a request as the provider got it.
type call struct {
	path   string
	header http.Header
	body   []byte
	answer []byte
}

// start returns the base URL of a server of p.
func (p *provider) start() string {
	s := httptest.NewServer(p)
	p.t.Cleanup(s.Close)
	return s.URL
}

func (p *provider) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		p.t.Errorf("request: %v", err)
	}
	if refused := p.note(req, body); refused != nil {
		p.refuse(w, refused)
		return
	}
	if !streams(req, body) {
		w.Header().Set("content-type", "application/json")
		p.send(w, p.whole(), 0)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	p.send(w, p.streamed(), p.chunk)
}

// note writes a request down and returns the error that it is to be answered with.
func (p *provider) note(req *http.Request, body []byte) *wire.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, call{path: req.URL.Path, header: req.Header.Clone(), body: body})
	if n := len(p.seen); n <= len(p.refusals) {
		return p.refusals[n-1]
	}
	return nil
}

func (p *provider) refuse(w http.ResponseWriter, e *wire.Error) {
	status, body := p.codec.EncodeError(e)
	w.Header().Set("content-type", "application/json")
	if e.RetryAfter > 0 {
		w.Header().Set("retry-after", "1")
	}
	w.WriteHeader(status)
	p.send(w, body, 0)
}

func (p *provider) whole() []byte {
	if p.body != nil {
		return p.body
	}
	body, err := p.codec.EncodeResponse(p.reply)
	if err != nil {
		p.t.Errorf("encode response: %v", err)
	}
	return body
}

func (p *provider) streamed() []byte {
	if p.stream != nil {
		return p.stream
	}
	return encodeStream(p.t, p.codec, wire.Events(p.reply))
}

// encodeStream returns the stream of events in the dialect of c.
func encodeStream(t testing.TB, c codecs.Full, events []llm.Event) []byte {
	t.Helper()
	var out []byte
	encoder := c.NewEncoder()
	for _, e := range events {
		var err error
		if out, err = encoder.Append(out, e); err != nil {
			t.Errorf("encode stream: %v", err)
		}
	}
	return out
}

// send writes b, n bytes at once.
func (p *provider) send(w http.ResponseWriter, b []byte, n int) {
	p.mu.Lock()
	p.seen[len(p.seen)-1].answer = b
	p.mu.Unlock()
	for len(b) > 0 {
		k := len(b)
		if n > 0 {
			k = min(n, k)
		}
		if _, err := w.Write(b[:k]); err != nil {
			return // the client has what it wants
		}
		if n > 0 {
			_ = http.NewResponseController(w).Flush()
		}
		b = b[k:]
	}
}

// calls returns the requests so far.
func (p *provider) calls() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.seen...)
}

// streams reports whether a request wants its reply streamed.
func streams(req *http.Request, body []byte) bool {
	if strings.Contains(req.URL.Path, ":streamGenerateContent") {
		return true
	}
	compact := bytes.ReplaceAll(body, []byte(" "), nil)
	if strings.HasSuffix(req.URL.Path, "/api/chat") {
		return !bytes.Contains(compact, []byte(`"stream":false`))
	}
	return bytes.Contains(compact, []byte(`"stream":true`))
}
