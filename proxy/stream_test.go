package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/proxytest"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

const question = `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"x"}]}`

// send begins a request that the test ends with cancel.
func send(t *testing.T, url string, header http.Header) (answer <-chan io.ReadCloser, cancel func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range header {
		req.Header[name] = v
	}
	got := make(chan io.ReadCloser, 1)
	go func() {
		if resp, err := plainClient.Do(req); err == nil { //nolint:bodyclose // whoever receives it does
			got <- resp.Body
		}
	}()
	return got, cancel
}

// When a client goes, the call upstream ends with it: before the first byte, and in the
// middle of a stream, also of what is only passed on.
func TestClientGone(t *testing.T) {
	for _, path := range []string{"/v1/messages", "/v1/messages/batches", "/v1/chat/completions"} {
		for _, begun := range []bool{false, true} {
			came, gone := make(chan bool), make(chan time.Time)
			p := start(t, behind(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if begun {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "event: ping\ndata: {\"type\": \"ping\"}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				came <- true
				<-r.Context().Done()
				gone <- time.Now()
			}), nil)
			answer, cancel := send(t, p.url+path, nil)
			<-came
			if begun {
				resp := <-answer
				defer resp.Close()
				if _, err := resp.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			left := time.Now()
			cancel()
			t.Logf("%s, begun %v: the upstream was told after %v", path, begun, (<-gone).Sub(left))
			p.log.Requests(t, 1)
		}
	}
}

// A recorder is a client that reads as it is written to.
type recorder struct {
	mu     sync.Mutex
	header http.Header
	text   bytes.Buffer
	until  time.Time // what is written later fails; zero: nothing does
}

func (r *recorder) SetWriteDeadline(until time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = until
	return nil
}

// deadline returns when what is written from now on fails; zero: never.
func (r *recorder) deadline() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(int)     {}
func (r *recorder) Flush()              {}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.until.IsZero() && time.Now().After(r.until) {
		return 0, os.ErrDeadlineExceeded
	}
	return r.text.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// base answers every request with one answer.
type base struct{ answer *http.Response }

func (b base) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	b.answer.Request = r
	return b.answer, nil
}

// A stream in which nothing comes gets a ping of its dialect after a while, and only between
// whole events.
func TestPing(t *testing.T) {
	const one, two, ping = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	for name, c := range map[string]struct {
		path, coding string
		chunks       []string // a minute passes after each
		want         string
	}{
		"between events":     {"/v1/messages", "", []string{one, two}, one + strings.Repeat(ping, 4) + two},
		"inside an event":    {"/v1/messages", "", []string{one[:20], one[20:], two}, one + strings.Repeat(ping, 4) + two},
		"before the first":   {"/v1/messages", "", []string{"", one, two}, one + strings.Repeat(ping, 4) + two},
		"split at its end":   {"/v1/messages", "", []string{one[:len(one)-1], "\n", two}, one + strings.Repeat(ping, 4) + two},
		"a packed one":       {"/v1/messages", "gzip", []string{one, two}, one + two},
		"a dialect that has": {"/v1/chat/completions", "", []string{"data: {}\n\n", "data: [DONE]\n\n"}, "data: {}\n\ndata: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, in := io.Pipe()
				header := http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
				if c.coding != "" {
					header.Set("Content-Encoding", c.coding)
				}
				log := proxytest.NewLog()
				s, err := proxy.New(proxy.Options{
					Gateway: newGateway(t, nil, nil), Log: slog.New(slog.NewJSONHandler(log, nil)), PingAfter: 14 * time.Second,
					Base: base{&http.Response{StatusCode: 200, Header: header, Body: out, ContentLength: -1}},
				})
				if err != nil {
					t.Fatal(err)
				}
				got := &recorder{header: http.Header{}}
				ended := make(chan bool)
				go func() {
					defer close(ended)
					s.ServeHTTP(got, httptest.NewRequest("POST", "http://localhost"+c.path, strings.NewReader(question)))
				}()
				for _, chunk := range c.chunks {
					_, _ = io.WriteString(in, chunk)
					time.Sleep(time.Minute) // of the bubble's clock
				}
				_ = in.Close()
				<-ended
				time.Sleep(time.Hour) // nothing comes behind the end
				if got.String() != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// A stream may be silent for as long as it likes; a client may not leave it unread so long.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, in := io.Pipe()
		s, err := proxy.New(proxy.Options{
			Gateway: newGateway(t, nil, nil), PingAfter: -1,
			Base: base{&http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, ContentLength: -1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := &recorder{header: http.Header{}}
		ended := make(chan bool)
		go func() {
			defer close(ended)
			s.ServeHTTP(got, httptest.NewRequest("POST", "http://localhost/v1/chat/completions", strings.NewReader(question)))
		}()
		_, _ = io.WriteString(in, "data: 1\n\n")
		time.Sleep(time.Hour) // of the bubble's clock
		if until := got.deadline(); !until.IsZero() {
			t.Error("the silence of the upstream ends at", until)
		}
		_ = in.Close()
		<-ended
		if until := got.deadline(); until.IsZero() || until.Before(time.Now()) {
			t.Error("what is left to be sent: want some time for it, got", until)
		}
	})
}

// serve runs a server until end is called; its result is sent.
func serve(t *testing.T, s *proxy.Server, l net.Listener) (end func(), result <-chan error) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return end, ended
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A server that ends finishes what it has begun, and takes in nothing new; what takes too
// long is cut off.
func TestEnds(t *testing.T) {
	for _, patient := range []bool{true, false} {
		more := make(chan bool)
		up := behind(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-more:
				_, _ = io.WriteString(w, "data: 2\n\n")
			case <-r.Context().Done():
			}
		})
		grace := time.Minute
		if !patient {
			grace = time.Millisecond
		}
		s, err := proxy.New(proxy.Options{Gateway: newGateway(t, nil, nil), Upstreams: []proxy.Upstream{mustUpstream(t, "openai", up)}, Grace: grace})
		if err != nil {
			t.Fatal(err)
		}
		l := listen(t)
		end, result := serve(t, s, l)
		url := "http://" + l.Addr().String()
		answer, cancel := send(t, url+"/v1/chat/completions", nil)
		defer cancel()
		resp := <-answer
		defer resp.Close()
		lines := bufio.NewReader(resp)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		end()
		if !patient {
			if err := <-result; err == nil || !strings.Contains(err.Error(), "1 requests were cut off") {
				t.Errorf("got %v", err)
			}
			if _, err := io.ReadAll(lines); err == nil {
				t.Error("a stream that was cut off looks whole")
			}
			continue
		}
		for { // nothing new is taken in, as soon as the server knows of its end
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				break
			}
			_ = conn.Close()
			runtime.Gosched()
		}
		more <- true
		rest, err := io.ReadAll(lines)
		if err != nil || string(rest) != "\ndata: 2\n\n" {
			t.Errorf("got %q, %v", rest, err)
		}
		if err := <-result; err != nil {
			t.Errorf("got %v", err)
		}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/readyz", nil)); w.Code != 503 {
			t.Errorf("readyz: got %d", w.Code)
		}
	}
}

// A listener that other machines can reach is not served without keys.
func TestServeOpen(t *testing.T) {
	s, err := proxy.New(proxy.Options{Gateway: newGateway(t, nil, nil)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip("no address of other machines here:", err)
	}
	if err := s.Serve(t.Context(), l); !errors.Is(err, proxy.ErrOpen) {
		t.Errorf("got %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("it listens still")
	}
}

// What is too much is refused in the words of the client's dialect, which say when to come
// again.
func TestSheds(t *testing.T) {
	came, on := make(chan bool), make(chan bool)
	up := behind(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Wait") != "" {
			came <- true
			<-on
		}
	})
	p := start(t, up, func(o *proxy.Options) { o.MaxInFlight = 1 })
	_, cancel := send(t, p.url+"/v1/messages", http.Header{"X-Wait": {"1"}})
	defer cancel()
	<-came
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/v1/messages": {529, "overloaded_error"}, "/v1/chat/completions": {503, "server_is_overloaded"},
		"/v1beta/models/m:generateContent": {503, "UNAVAILABLE"}, "/api/chat": {503, "full"},
	} {
		resp, body := ask(t, "POST", p.url+path, nil, []byte(question))
		if resp.StatusCode != want.status || !strings.Contains(string(body), want.text) || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %v %s", path, resp.StatusCode, resp.Header, body)
		}
	}
	if resp, _ := ask(t, "GET", p.url+"/readyz", nil, nil); resp.StatusCode != 200 {
		t.Errorf("readyz: got %d", resp.StatusCode)
	}
	on <- true
	p.log.Requests(t, 5)
	if resp, _ := ask(t, "POST", p.url+"/v1/messages", nil, []byte(question)); resp.StatusCode != 200 {
		t.Errorf("where there is room again: got %d", resp.StatusCode)
	}
}

// An owner that has used up what it may is refused; others are not.
func TestKeyLimits(t *testing.T) {
	came, on := make(chan bool), make(chan bool)
	up := behind(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Wait") != "" {
			came <- true
			<-on
		}
	})
	keys, secrets := newKeys(t, "ann rpm=2", "bob inflight=1", "eve")
	p := start(t, up, func(o *proxy.Options) { o.Keys = keys })
	as := func(i int) int {
		h := http.Header{"X-Plimsoll-Key": {secrets[i]}, "X-Api-Key": {"own"}}
		resp, body := ask(t, "POST", p.url+"/v1/messages", h, []byte(question))
		if resp.StatusCode == 429 && (resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "rate_limit_error")) {
			t.Errorf("got %v %s", resp.Header, body)
		}
		return resp.StatusCode
	}
	if a, b, c := as(0), as(0), as(0); a != 200 || b != 200 || c != 429 {
		t.Errorf("two a minute: got %d, %d, %d", a, b, c)
	}
	_, cancel := send(t, p.url+"/v1/messages", http.Header{"X-Wait": {"1"}, "X-Plimsoll-Key": {secrets[1]}, "X-Api-Key": {"own"}})
	defer cancel()
	<-came
	if got := as(1); got != 429 {
		t.Errorf("one at a time: got %d", got)
	}
	if got := as(2); got != 200 {
		t.Errorf("another owner: got %d", got)
	}
	on <- true
	p.log.Requests(t, 6)
	if got := as(1); got != 200 {
		t.Errorf("the next one: got %d", got)
	}
}
