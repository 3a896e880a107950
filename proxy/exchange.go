package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// An exchange is one request and what is known of it beside its bytes.
type exchange struct {
	start    time.Time
	method   string
	path     string // as the client asked for it, without the query
	upstream *upstream
	rest     string // the path there, escaped
	route    transport.Route
	routed   bool // it asks a model
	dialect  llm.Dialect
	owner    *owner
	forwards http.Header // headers of the client's that a reverse proxy would replace
	body     *body
	record   *recording // nil: it is not recorded
	trouble  string     // what went wrong here; empty: nothing

	mu     sync.Mutex
	report gateway.Report
}

// exchangeKey is where a context has the exchange.
type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

func (x *exchange) in(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// ownerOf and routeOf are what the transport asks.
func ownerOf(r *http.Request) string {
	if o := exchangeOf(r).owner; o != nil {
		return o.name
	}
	return ""
}

func routeOf(r *http.Request) (transport.Route, bool) {
	x := exchangeOf(r)
	return x.route, x.routed
}

// done takes in what the transport reports.
func (s *Server) done(r *http.Request, report gateway.Report) {
	x := exchangeOf(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report = report
}

func (x *exchange) reported() gateway.Report {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.report
}

// uploadStall is how long a client may be silent in the middle of a body.
const uploadStall = 2 * time.Minute

// A body counts what a client sends, and remembers what was wrong with it.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	ended   bool // who carries a body looks behind its end, which net/http may have closed by then
	size    atomic.Int64
	wrong   atomic.Pointer[error]
	record  *kept // nil: it is not recorded
}

// newBody returns the body of r.
func newBody(r *http.Request, control *http.ResponseController) *body {
	return &body{ReadCloser: r.Body, control: control}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	_ = b.control.SetReadDeadline(time.Now().Add(uploadStall)) // what has no deadlines has no slow clients
	n, err := b.ReadCloser.Read(p)
	b.size.Add(int64(n))
	if b.record != nil {
		b.record.add(p[:n])
	}
	if err == nil {
		return n, nil
	}
	_ = b.control.SetReadDeadline(time.Time{})
	if b.ended = err == io.EOF; !b.ended {
		b.wrong.Store(&err)
	}
	return n, err
}
