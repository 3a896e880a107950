package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// mostError is how much of an error's body is looked at, in bytes. A longer one passes by
// unread.
const mostError = 1 << 20

// A Transport is an http.RoundTripper that keeps the conversations of whoever uses it
// within their windows. Make one with [New]; its fields may be set before its first use.
// It is safe for concurrent use.
type Transport struct {
	// Base carries the requests; nil: [http.DefaultTransport].
	Base http.RoundTripper
	// Owner says whose a request is, by what the program knows about it and never by what
	// the request states; nil: all are of one owner.
	Owner func(*http.Request) string
	// Route says what a request asks for; nil: what its address says, see [RouteOf].
	Route func(*http.Request) (Route, bool)
	// Done is told of each exchange with a model that has ended; nil: nobody is. It may be
	// called from any goroutine.
	Done func(*http.Request, gateway.Report)

	gateway *gateway.Gateway
}

// New returns a transport whose conversations g keeps.
func New(g *gateway.Gateway) *Transport { return &Transport{gateway: g} }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	route, ok := t.route(req)
	if !ok || req.Body == nil || req.Body == http.NoBody {
		return t.base().RoundTrip(bare(req))
	}
	packed, err := readAll(req.Body, req.ContentLength)
	closed := req.Body.Close()
	switch {
	case errors.Is(err, errTooLarge):
		return t.tooLarge(req, route, err), nil
	case err != nil:
		return nil, err
	case closed != nil:
		return nil, closed
	}
	body, err := Unpack(req.Header.Get("Content-Encoding"), packed)
	switch {
	case errors.Is(err, errTooLarge):
		return t.tooLarge(req, route, err), nil
	}
	streams := strings.Contains(req.URL.Path, ":streamGenerateContent")
	call := gateway.Call{
		Owner: t.owner(req), Provider: route.Provider, Dialect: route.Dialect, Model: route.Model, Header: req.Header.Get, Body: body,
		Stream: streams && req.URL.Query().Get("alt") == "sse", List: streams && req.URL.Query().Get("alt") != "sse",
		Window: t.windowOf(req, route), Complete: t.completeOf(req, route),
	}
	if err != nil {
		return t.unread(req, call, packed)
	}
	x, err := t.gateway.Begin(req.Context(), call)
	if refusal, ok := errors.AsType[*gateway.RefusalError](err); ok {
		t.done(req, refusal.Report)
		return answer(req, refusal.Status, refusal.Body), nil
	}
	if err != nil {
		return nil, err
	}
	if a, ok := x.Answer(); ok {
		t.done(req, x.Report())
		resp := answer(req, http.StatusOK, a.Body)
		resp.Header.Set("Content-Type", a.Kind)
		return resp, nil
	}
	return t.exchange(req, &exchange{Exchange: x, packed: packed})
}

// errPacked says that a request is packed in an unknown way, or broken.
var errPacked = errors.New("the body cannot be unpacked")

// unread sends a request that cannot be unpacked, if it may pass: whoever wrote it and whoever
// reads it may know more than we do.
func (t *Transport) unread(req *http.Request, call gateway.Call, packed []byte) (*http.Response, error) {
	if refusal, ok := errors.AsType[*gateway.RefusalError](t.gateway.Unread(call, errPacked)); ok {
		t.done(req, refusal.Report)
		return answer(req, refusal.Status, refusal.Body), nil
	}
	resp, err := t.base().RoundTrip(withBody(req, packed))
	t.done(req, gateway.Report{Model: call.Model, Passed: errPacked.Error()})
	return resp, err
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

func (t *Transport) route(req *http.Request) (Route, bool) {
	if t.Route != nil {
		return t.Route(req)
	}
	return RouteOf(req.Method, req.URL.Path)
}

func (t *Transport) owner(req *http.Request) string {
	if t.Owner == nil {
		return ""
	}
	return t.Owner(req)
}

func (t *Transport) done(req *http.Request, r gateway.Report) {
	if t.Done != nil {
		t.Done(req, r)
	}
}

// An exchange is one of the gateway's with the bytes that the client sent for it.
type exchange struct {
	*gateway.Exchange
	packed []byte
}

// exchange sends until there is an answer for the client.
func (t *Transport) exchange(req *http.Request, x *exchange) (*http.Response, error) {
	for {
		resp, err := t.base().RoundTrip(x.outgoing(req))
		if err != nil {
			t.done(req, x.Report())
			return nil, err
		}
		if resp.StatusCode >= http.StatusBadRequest {
			again, err := x.refused(req.Context(), resp)
			if err != nil {
				t.done(req, x.Report())
				return nil, err
			}
			if again {
				continue
			}
			t.done(req, x.Report())
			return resp, nil
		}
		again, err := t.relay(req, x, resp)
		if err != nil {
			return nil, err
		}
		if !again {
			return resp, nil
		}
	}
}

// outgoing returns the request as it leaves: the client's own bytes where nothing is due.
func (x *exchange) outgoing(req *http.Request) *http.Request {
	data := x.packed
	if x.Edited() {
		data = x.Body()
	}
	out := withBody(req, data)
	if x.Rewrites() {
		out.Header.Set("Accept-Encoding", "identity") // what is packed in a way unknown here cannot be rewritten
	}
	if !x.Edited() {
		return out
	}
	out.Header.Del("Content-Encoding")
	if betas := x.Betas(); len(betas) > 0 {
		all := append(out.Header.Values("Anthropic-Beta"), betas...)
		out.Header.Set("Anthropic-Beta", strings.Join(all, ","))
	}
	return out
}

// bare returns req, or a copy of it, without the headers that are for us alone.
func bare(req *http.Request) *http.Request {
	out := req
	for name := range req.Header {
		if !strings.HasPrefix(name, "X-Plimsoll-") {
			continue
		}
		if out == req {
			out = req.Clone(req.Context())
		}
		out.Header.Del(name)
	}
	return out
}

// withBody returns a copy of req that sends body, without the headers that are for us alone.
func withBody(req *http.Request, body []byte) *http.Request {
	out := bare(req)
	if out == req {
		out = req.Clone(req.Context())
	}
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	if out.Header.Get("Content-Length") != "" {
		out.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return out
}

// refused looks at an error. Where it is not sent again, the answer keeps its bytes.
func (x *exchange) refused(ctx context.Context, resp *http.Response) (again bool, err error) {
	packed, err := io.ReadAll(io.LimitReader(resp.Body, mostError+1))
	if err != nil {
		return false, errors.Join(err, resp.Body.Close())
	}
	rest := resp.Body
	resp.Body = body{io.MultiReader(bytes.NewReader(packed), rest), rest}
	if len(packed) > mostError {
		return false, nil
	}
	if plain, err := Unpack(resp.Header.Get("Content-Encoding"), packed); err == nil && x.Refused(ctx, resp.StatusCode, plain) {
		return true, rest.Close()
	}
	return false, nil
}

// A body reads from one thing and closes another.
type body struct {
	io.Reader
	io.Closer
}

// answer returns an answer that no provider gave.
func answer(req *http.Request, status int, text []byte) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(text))}},
		ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)), Request: req,
	}
}

// tooLarge returns the answer to a request that is larger than one may be.
func (t *Transport) tooLarge(req *http.Request, route Route, err error) *http.Response {
	status, text := http.StatusRequestEntityTooLarge, []byte(err.Error())
	if codec, ok := codecs.For(route.Dialect); ok {
		status, text = codec.EncodeError(&wire.Error{Class: wire.TooLarge, Message: err.Error()})
	}
	t.done(req, gateway.Report{Class: wire.TooLarge, Model: route.Model, Refused: err.Error()})
	return answer(req, status, text)
}
