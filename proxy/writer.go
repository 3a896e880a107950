package proxy

import (
	"bytes"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// readerStall is how long a client may leave an answer unread.
const readerStall = 5 * time.Minute

// A writer writes an answer to a client, counts it, and fills the silence of a stream.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	x       *exchange
	quiet   time.Duration // after which a stream gets a ping; 0 or less: never

	mu     sync.Mutex
	status int
	size   int64
	first  time.Duration // from the request's start to the first byte of the body; 0: there was none
	pings  int
	timer  *time.Timer // nil: this answer gets none
	tail   []byte      // the last bytes of the stream
	over   bool        // nothing more may be written
}

func newWriter(w http.ResponseWriter, x *exchange, quiet time.Duration) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), x: x, quiet: quiet}
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status != 0 {
		return
	}
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.status = status
		if _, stated := w.Header()["Content-Type"]; !stated {
			w.Header()["Content-Type"] = nil // net/http would guess one
		}
		if status == http.StatusOK && w.quiet > 0 && pingable(w.x.dialect, w.Header()) {
			w.timer = time.AfterFunc(w.quiet, w.ping)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 { // only this goroutine sets it
		w.WriteHeader(http.StatusOK)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == 0 && len(p) > 0 {
		w.first = time.Since(w.x.start)
	}
	w.expect(readerStall)
	n, err := w.ResponseWriter.Write(p)
	w.expect(0)
	w.size += int64(n)
	if w.x.record != nil {
		w.x.record.response.add(p[:n])
	}
	if w.timer != nil {
		w.tail = append(w.tail, p[max(0, len(p)-len("\r\n\r\n")):]...)
		w.tail = w.tail[max(0, len(w.tail)-len("\r\n\r\n")):]
		if bytes.Contains(p, []byte("event: message_stop")) && wholeEvent(w.tail) {
			w.stopPings()
		} else {
			w.timer.Reset(w.quiet)
		}
	}
	return n, err
}

// FlushError is what http.ResponseController looks for.
func (w *writer) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expect(readerStall)
	defer w.expect(0)
	return w.control.Flush()
}

// expect bounds how long the client may leave unread what is written from here on; 0: for
// ever. Between two writes of a stream any time may pass.
func (w *writer) expect(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = w.control.SetWriteDeadline(until) // what has no deadlines has no slow clients
}

// end says that the handler returns.
func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.stopPings()
	w.expect(readerStall) // for what net/http has not sent yet
}

func (w *writer) stopPings() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// pingEvent is what the provider itself sends when it has nothing to say.
const pingEvent = "event: ping\ndata: {\"type\": \"ping\"}\n\n"

// pingable reports whether an answer is a stream of a dialect that has pings. One that is
// packed cannot be added to.
func pingable(d llm.Dialect, h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return d == anthropic.Dialect && kind == "text/event-stream" && h.Get("Content-Encoding") == "" && h.Get("Content-Length") == ""
}

// ping writes a ping where a whole event stands before it.
func (w *writer) ping() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.timer == nil {
		return
	}
	w.timer.Reset(w.quiet)
	if !wholeEvent(w.tail) {
		return
	}
	w.expect(readerStall)
	defer w.expect(0)
	if _, err := w.ResponseWriter.Write([]byte(pingEvent)); err == nil { // else the next write of the answer fails, too
		w.pings++
		_ = w.control.Flush()
	}
}

// wholeEvent reports whether a stream that ends so ends behind an event.
func wholeEvent(tail []byte) bool {
	return bytes.HasSuffix(tail, []byte("\n\n")) || bytes.HasSuffix(tail, []byte("\r\n\r\n")) || bytes.HasSuffix(tail, []byte("\r\r"))
}

// buffers keeps what bodies are copied with.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}
}

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte { return *b.pool.Get().(*[]byte) }

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
