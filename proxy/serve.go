package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x := &exchange{start: time.Now(), method: r.Method, path: r.URL.Path}
	x.upstream, x.rest = s.find(r)
	x.dialect = dialect(x.upstream, x.rest)
	if x.upstream != nil {
		x.route, x.routed = route(r, x.upstream, x.rest)
	}
	w := newWriter(rw, x, s.o.PingAfter)
	if s.own(w, r, x) {
		w.end()
		return
	}
	s.meters.begin(r.Context())
	defer func() { // also when the answer breaks off, which is a panic
		w.end()
		s.meters.end(r.Context(), x, w)
		s.log(r, x, w)
		s.keep(x, w)
		if s.o.Done != nil && x.routed {
			s.o.Done(x.upstream.name, x.reported())
		}
	}()
	if s.recorder != nil && x.routed {
		x.record = newRecording(r)
	}
	if release := s.admit(w, r, x); release != nil {
		defer release()
		s.proxy.ServeHTTP(w, x.in(r))
	}
}

// keep writes the file of an exchange that is recorded and that an upstream was asked for.
func (s *Server) keep(x *exchange, w *writer) {
	if x.record == nil || x.body == nil {
		return
	}
	if err := s.recorder.write(x, w); err != nil {
		s.o.Log.Warn("an exchange was not recorded", "error", err.Error())
	}
}

// admit looks at whether a request may pass. If not it answers it and returns nil.
func (s *Server) admit(w *writer, r *http.Request, x *exchange) (release func()) {
	if !s.known(w, r, x) {
		return nil
	}
	switch {
	case upgrades(r.Header):
		w.Header().Set("Upgrade", "HTTP/1.1")
		w.Header().Set("Connection", "Upgrade")
		x.refuse(w, &wire.Error{Class: wire.BadRequest, Status: http.StatusUpgradeRequired, Message: "plimsoll: connections are not upgraded here; send the request over plain HTTP"})
		return nil
	case x.upstream == nil:
		x.refuse(w, &wire.Error{Class: wire.BadRequest, Status: http.StatusNotFound, Type: "not_found_error", Message: fmt.Sprintf("plimsoll: no upstream for %s %s; put the name of one in front, as in /openai/v1/…, or start the proxy with --upstream NAME=URL", r.Method, short(r.URL.Path))})
		return nil
	}
	if release = s.room(w, x); release == nil {
		return nil
	}
	r.Header.Del("Upgrade") // to h2c
	r.Header.Del("Http2-Settings")
	x.forwards = forwards(r.Header)
	if r.Body != nil && r.Body != http.NoBody {
		x.body = newBody(r, w.control)
		r.Body = x.body
		if x.record != nil {
			x.body.record = &x.record.request
		}
	}
	return release
}

// known finds out whose a request is; if nobody's, it answers it.
func (s *Server) known(w *writer, r *http.Request, x *exchange) bool {
	if s.o.Keys == nil {
		r.Header.Del(keyHeader)
		if why := notHere(r); why != "" {
			x.refuse(w, &wire.Error{Class: wire.BadRequest, Status: http.StatusForbidden, Type: "permission_error", Message: "plimsoll: " + why})
			return false
		}
		return true
	}
	if at := strings.Index(r.URL.Path, keyStart); at >= 0 {
		x.path = r.URL.Path[:at] + "[secret]"
		x.refuse(w, &wire.Error{Class: wire.BadRequest, Message: "plimsoll: a key of this proxy does not belong in a path"})
		return false
	}
	found, own := s.o.Keys.takeKey(r)
	if found == nil {
		w.Header().Set("Www-Authenticate", "Bearer")
		x.refuse(w, &wire.Error{Class: wire.Auth, Message: "plimsoll: a key of this proxy is needed, in the header X-Plimsoll-Key or in place of the provider's key"})
		return false
	}
	if x.owner = found; own || x.upstream == nil {
		return true
	}
	err := x.upstream.authorizer.Authorize(r.Context(), &http.Request{URL: x.upstream.base, Header: r.Header})
	if err != nil {
		x.trouble = err.Error()
		x.refuse(w, &wire.Error{Class: wire.ServerFault, Message: "plimsoll: the proxy has no key for " + x.upstream.name + "; its log says more"})
		return false
	}
	return true
}

// notHere says why a request to a server without keys does not come from a program of this
// machine; empty: it may. A page in a browser can reach this machine, under a name of its
// own that leads here, or as what it is: another origin.
func notHere(r *http.Request) string {
	if !isHere(r.Host) {
		return "without keys the Host header must be an address of this machine or localhost"
	}
	for _, o := range r.Header.Values("Origin") {
		u, err := url.Parse(o)
		if err != nil || o == "null" || strings.HasPrefix(u.Scheme, "http") && !isHere(u.Host) {
			return "without keys no page of another origin may ask"
		}
	}
	return ""
}

func isHere(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return client.IsLoopback(host)
}

// upgrades reports whether a client wants another protocol. An offer of HTTP/2 is left
// alone, as a server may: some libraries make it with every first request.
func upgrades(h http.Header) bool {
	up := h.Get("Upgrade")
	return up != "" && !strings.EqualFold(up, "h2c")
}

// room takes a request in where there is room for it; if not, it answers it.
func (s *Server) room(w *writer, x *exchange) (release func()) {
	if n := s.inFlight.Add(1); s.o.MaxInFlight > 0 && n > int64(s.o.MaxInFlight) {
		s.inFlight.Add(-1)
		x.shed(w, wire.Overloaded, time.Second, "plimsoll: the proxy is full")
		return nil
	}
	if x.owner == nil {
		return func() { s.inFlight.Add(-1) }
	}
	owned, wait := x.owner.admit(x.start)
	if owned == nil {
		s.inFlight.Add(-1)
		x.shed(w, wire.RateLimited, wait, "plimsoll: the limit of this proxy key is reached")
		return nil
	}
	return func() {
		owned()
		s.inFlight.Add(-1)
	}
}

// shed refuses a request that may come again.
func (x *exchange) shed(w *writer, c wire.Class, wait time.Duration, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	x.refuse(w, &wire.Error{Class: c, Message: why, RetryAfter: wait})
}

// refuse answers a request with an error of the client's dialect.
func (x *exchange) refuse(w *writer, e *wire.Error) {
	x.trouble = cmp.Or(x.trouble, e.Message)
	status, text := http.StatusInternalServerError, []byte(e.Message)
	if codec, ok := codecs.For(x.dialect); ok {
		status, text = codec.EncodeError(e)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone needs no answer
}

// replaced are the headers that a reverse proxy takes for its own.
var replaced = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

func forwards(h http.Header) http.Header {
	var kept http.Header
	for _, name := range replaced {
		if v, ok := h[name]; ok {
			if kept == nil {
				kept = http.Header{}
			}
			kept[name] = v
		}
	}
	return kept
}

// rewrite makes the request that leaves. What the client said stays as it is.
func (s *Server) rewrite(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In)
	base := x.upstream.base
	p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host, p.Out.URL.User = base.Scheme, base.Host, "", nil
	joined := client.JoinPath(base.EscapedPath(), x.rest)
	p.Out.URL.RawPath = joined
	if plain, err := url.PathUnescape(joined); err == nil { // it came parsed
		p.Out.URL.Path = plain
	}
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	if base.RawQuery != "" {
		p.Out.URL.RawQuery = strings.TrimSuffix(base.RawQuery+"&"+p.In.URL.RawQuery, "&")
	}
	for name, values := range x.forwards {
		p.Out.Header[name] = values
	}
	for name := range p.Out.Header {
		if !x.routed && strings.HasPrefix(name, "X-Plimsoll-") {
			p.Out.Header.Del(name)
		}
	}
}

// failed answers a request that got no answer from its upstream.
func (s *Server) failed(rw http.ResponseWriter, r *http.Request, err error) {
	x, w := exchangeOf(r), rw.(*writer)
	x.trouble = cause(err)
	if r.Context().Err() != nil {
		x.trouble = "the client has gone"
		panic(http.ErrAbortHandler) // there is nobody to answer, and an empty answer would be a wrong one
	}
	if x.body != nil && x.body.wrong.Load() != nil {
		w.Header().Set("Connection", "close") // where the next request begins nobody knows
		x.refuse(w, &wire.Error{Class: wire.BadRequest, Message: "plimsoll: the request's body could not be read"})
		return
	}
	e := &wire.Error{Class: wire.ServerFault, Status: http.StatusBadGateway, Message: "plimsoll: " + x.upstream.name + " cannot be reached; the proxy's log says more"}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		e.Class, e.Status = wire.Timeout, http.StatusGatewayTimeout
	}
	x.refuse(w, e)
}

// cause returns an error's text without a URL, whose query can hold a key.
func cause(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
