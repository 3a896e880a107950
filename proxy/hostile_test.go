package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// A body larger than one may be is refused in the client's dialect, packed or not, before
// anything of it leaves; nothing that asks no model has a limit.
func TestTooLarge(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	large := append([]byte(`{"model":"m","messages":[{"role":"user","content":"`), bytes.Repeat([]byte("a"), transport.MostBody)...)
	large = append(large, []byte(`"}]}`)...)
	for _, coding := range append([]string{""}, codings...) {
		h := http.Header{}
		if coding != "" {
			h.Set("Content-Encoding", coding)
		}
		resp, body := ask(t, "POST", p.url+"/v1/chat/completions", h, pack(t, coding, large)) // but for "" a bomb: some thousand bytes
		if resp.StatusCode != 413 || !strings.Contains(string(body), "request_too_large") || m.count() > 0 {
			t.Errorf("%q: got %d %.200s", coding, resp.StatusCode, body)
		}
	}
	if resp, _ := ask(t, "POST", p.url+"/v1/files", nil, large); resp.StatusCode != 200 || len(m.last(t).body) != len(large) {
		t.Errorf("a file: got %d", resp.StatusCode)
	}
}

// A packed body that is cut, or packed in an unknown way, goes as it came: the provider says
// what it thinks of it.
func TestOddPacking(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	for _, coding := range append([]string{"compress", "gzip, br", "nonsense"}, codings...) {
		body := pack(t, coding, []byte(question+strings.Repeat(" ", 1000)))
		body = body[:len(body)/2]
		resp, _ := ask(t, "POST", p.url+"/v1/messages", http.Header{"Content-Encoding": {coding}}, body)
		if resp.StatusCode != 200 || !bytes.Equal(m.last(t).body, body) || m.last(t).header.Get("Content-Encoding") != coding {
			t.Errorf("%s: got %d", coding, resp.StatusCode)
		}
	}
}

// raw sends bytes as they are, and nothing more where it is cut, and returns all that comes
// back until the server hangs up.
func raw(t *testing.T, url, text string, cut bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if cut {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	got, _ := io.ReadAll(conn) // a connection that is reset has said what it had to
	return string(got)
}

// What no two readers read alike reaches no upstream as two requests, or not at all.
func TestSmuggling(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), nil)
	const hidden = "GET /v1/hidden HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	for name, text := range map[string]string{
		"two lengths":     "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 45\r\n\r\n" + hidden,
		"odd coding":      "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
		"folded header":   "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding\r\n : chunked\r\n\r\n" + hidden,
		"name with space": "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length : 45\r\n\r\n" + hidden,
		"broken chunk":    "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcdeXX\r\n0\r\n\r\n" + hidden,
		"endless chunk":   "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nabc",
		"cut body":        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc",
	} {
		before := m.count()
		got := raw(t, p.url, text, strings.HasPrefix(name, "cut") || strings.HasPrefix(name, "endless"))
		if m.count() != before || !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 501") && got != "" || strings.Count(got, "HTTP/1.1") > 1 {
			t.Errorf("%s: the upstream got %d requests, the client %.100q", name, m.count()-before, got)
		}
	}
	both := "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"
	raw(t, p.url, both, false)
	if got := m.last(t); m.count() != 1 || string(got.body) != "abcde" || got.header.Get("Content-Length") != "" {
		t.Errorf("a length and chunks: got %d requests, the last one %+v", m.count(), got)
	}
}

// An upstream that ends early leaves the client with an answer that is seen to be cut.
func TestEndsEarly(t *testing.T) {
	for path, text := range map[string]string{"/v1/messages": "event: message_start\ndata: {}\n\n", "/v1/files/f/content": "half of it", "/v1/chat/completions": "data: {\"choi"} {
		p := start(t, behind(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}), nil)
		resp, err := plainClient.Post(p.url+path, "application/json", strings.NewReader(question))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil || string(got) != text {
			t.Errorf("%s: got %q, %v, want %q and an error", path, got, err, text)
		}
	}
}

// An answer of 200 with an error inside is passed on, and the log tells what it was.
func TestErrorInside(t *testing.T) {
	const text = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	m := &mirror{answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}}
	p := start(t, behind(t, m.ServeHTTP), nil)
	if _, got := ask(t, "POST", p.url+"/v1/messages", nil, []byte(question)); string(got) != text {
		t.Errorf("got %s", got)
	}
	if line := p.log.Requests(t, 1)[0]; line["class"] != "overloaded" {
		t.Errorf("got %v", line)
	}
}

// An answer of a gigabyte streams through in bounded memory, whatever it is.
func TestGigabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("copies a gigabyte")
	}
	const size = 1 << 30
	event := []byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("0123456789", 6400) + "\"}}]}\n\n")
	p := start(t, behind(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; n < size; n += len(event) {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
	}), nil)
	for path, bound := range map[string]uint64{
		"/v1/files/f/content":  16 << 20,
		"/v1/chat/completions": 192 << 20, // it is looked at until it is as long as no reply is
	} {
		resp, err := plainClient.Post(p.url+path, "application/json", strings.NewReader(question))
		if err != nil {
			t.Fatal(err)
		}
		first := held()
		most, total, next := first, 0, size/8
		buffer := make([]byte, 256<<10)
		for err == nil {
			var n int
			n, err = resp.Body.Read(buffer)
			if total += n; total >= next {
				most, next = max(most, held()), next+size/8
			}
		}
		_ = resp.Body.Close()
		if !errors.Is(err, io.EOF) || total < size {
			t.Errorf("%s: got %d bytes, %v\n%s", path, total, err, p.log)
		}
		if most > first+bound {
			t.Errorf("%s: %d MB were held", path, (most-first)>>20)
		}
	}
}

// held returns how much memory is in use, in bytes.
func held() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A client that reads nothing holds up its own upstream and nobody else.
func TestSlowReader(t *testing.T) {
	var written atomic.Int64
	stuck := make(chan bool)
	p := start(t, behind(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/slow" {
			return
		}
		chunk := make([]byte, 1<<20)
		for range 64 {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := w.Write(chunk); err != nil {
				close(stuck)
				return
			}
			written.Add(int64(len(chunk)))
		}
		t.Error("64 MB went somewhere though nobody reads")
		close(stuck)
	}), nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprint(conn, "GET /v1/slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if resp, _ := ask(t, "GET", p.url+"/v1/other", nil, nil); resp.StatusCode != 200 {
		t.Errorf("another client: got %d", resp.StatusCode)
	}
	<-stuck
}

// Ten thousand connections that say nothing keep nobody from being answered.
func TestIdleConnections(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 100
	}
	s, err := proxy.New(proxy.Options{Gateway: newGateway(t, nil, nil)})
	if err != nil {
		t.Fatal(err)
	}
	l := newPipes()
	end, result := serve(t, s, l)
	for range n {
		l.dial()
	}
	conn := l.dial()
	go fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("got %v, %v", resp, err)
	}
	_ = resp.Body.Close()
	l.hangUp()
	end()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// pipes is a listener in memory.
type pipes struct {
	in     chan net.Conn
	closed chan struct{}
	once   sync.Once
	ours   []net.Conn
}

func newPipes() *pipes { return &pipes{in: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	a, b := net.Pipe()
	p.in <- b
	p.ours = append(p.ours, a)
	return a
}

func (p *pipes) hangUp() {
	for _, c := range p.ours {
		_ = c.Close()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.in:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// A broken store takes and gives nothing.
type broken struct{ store.Memory }

var errBroken = errors.New("no space left on device")

func (*broken) Append(context.Context, string, int, [][]byte) error { return errBroken }

func (*broken) Records(context.Context, string, int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) { yield(nil, errBroken) }
}

// Without its store the proxy lets pass what fits, and says so; what does not fit is
// refused in the client's own words, and goes nowhere.
func TestStoreFails(t *testing.T) {
	m := &mirror{}
	p := start(t, behind(t, m.ServeHTTP), func(o *proxy.Options) { o.Gateway = newGateway(t, &broken{}, o.Log) })
	if resp, _ := ask(t, "POST", p.url+"/v1/messages", nil, []byte(question)); resp.StatusCode != 200 || string(m.last(t).body) != question {
		t.Errorf("what fits: got %d", resp.StatusCode)
	}
	line := p.log.Requests(t, 1)[0]
	if passed, _ := line["passed"].(string); !strings.Contains(passed, "no space left") {
		t.Errorf("the log: got %v", line)
	}
	long := fmt.Sprintf(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("all of it ", 10_000))
	resp, body := ask(t, "POST", p.url+"/v1/messages", nil, []byte(long))
	if resp.StatusCode != 400 || !strings.Contains(string(body), "prompt is too long: ") || m.count() != 1 {
		t.Errorf("what does not fit: got %d %s", resp.StatusCode, body)
	}
}

// An upstream that is not there is an error of the client's dialect that may pass, and the
// log has a hint.
func TestUnreachable(t *testing.T) {
	p := start(t, "http://127.0.0.1:1", nil) // where nobody may listen
	for path, want := range map[string]string{"/v1/messages": `"api_error"`, "/v1/chat/completions": `"server_error"`, "/v1beta/models/m:generateContent": `"code":502`, "/api/tags": `"error":"plimsoll`} {
		resp, body := ask(t, "POST", p.url+path+"?key=hidden", nil, []byte(question))
		if resp.StatusCode != 502 || !strings.Contains(string(body), want) {
			t.Errorf("%s: got %d %s", path, resp.StatusCode, body)
		}
	}
	for _, line := range p.log.Requests(t, 4) {
		if hint, _ := line["hint"].(string); !strings.Contains(hint, "--upstream") || line["level"] != "WARN" {
			t.Errorf("got %v", line)
		}
	}
	if strings.Contains(p.log.String(), "hidden") {
		t.Error("the log has a query:", p.log)
	}
}
