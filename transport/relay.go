package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// isStream reports whether the answer to req is a stream: events, or lines of JSON. What
// carried it need not have said what it answers.
func isStream(req *http.Request, resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return false
	}
	switch kind {
	case "text/event-stream", "application/x-ndjson", "application/stream+json":
		return true
	}
	return kind == "application/json" && strings.Contains(req.URL.Path, ":streamGenerateContent") // one list of replies
}

// relay makes the body of an answer one that the gateway looks at while it is read. It
// waits for its beginning only where that can be a refusal; again is true if it was one,
// and a shorter request is to be sent.
func (t *Transport) relay(req *http.Request, x *exchange, resp *http.Response) (again bool, err error) {
	coding := resp.Header.Get("Content-Encoding")
	r := &reply{src: resp.Body, relay: x.Relay(req.Context(), isStream(req, resp)), done: func() { t.done(req, x.Report()) }, ctx: req.Context()}
	if r.relay.Rewrites() {
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	if r.relay.Hides() {
		r.next = func(ctx context.Context) (io.ReadCloser, error) { return t.nextRound(req.WithContext(ctx), x, r) }
		if coding != "" { // it was asked not to be
			plain, unpacked := opened(coding, resp.Body)
			r.src = body{plain, resp.Body}
			if unpacked {
				coding = ""
				resp.Header.Del("Content-Encoding")
			}
		}
	}
	if coding != "" && !strings.EqualFold(coding, "identity") {
		if !knows(coding) {
			r.relay.Unread("the reply is packed in an unknown way")
		}
		r.packed = newSide(coding, r.relay)
	}
	var chunk []byte
	for r.holding() {
		if chunk == nil {
			chunk = make([]byte, 4<<10) // what tells a refusal from a reply comes early
		}
		n, err := r.src.Read(chunk)
		refusal := r.hold(chunk[:n], err)
		if refusal != nil && x.RefusedInside(req.Context(), refusal) {
			return true, r.src.Close()
		}
		if refusal != nil {
			r.release()
		}
		if err != nil {
			r.end(err)
		}
	}
	resp.Body = r
	if r.next != nil && !isStream(req, resp) {
		return false, r.whole(resp)
	}
	return false, nil
}

// whole waits until the status of an answer of all Rounds is known: that of the error where one
// of them failed. Then nothing is missing, but for a reply that is too long to be held, of
// which all passes.
func (r *reply) whole(resp *http.Response) error {
	begin := make([]byte, 16<<10)
	n, _ := r.Read(begin) // r.err says more
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return errors.Join(r.err, r.Close())
	}
	if status := r.relay.Status(); status != 0 {
		resp.StatusCode, resp.Status = status, strconv.Itoa(status)+" "+http.StatusText(status)
	}
	if r.err != nil {
		resp.ContentLength = int64(n + len(r.ready))
	}
	resp.Body = body{io.MultiReader(bytes.NewReader(begin[:n]), r), r}
	return nil
}

// nextRound sends the exchange's next request and returns the body of the reply. Where there
// is none the relay is told why.
func (t *Transport) nextRound(req *http.Request, x *exchange, r *reply) (io.ReadCloser, error) {
	for {
		resp, err := t.base().RoundTrip(x.outgoing(req))
		if err != nil {
			r.failed(err)
			return nil, err
		}
		coding := resp.Header.Get("Content-Encoding")
		if resp.StatusCode < http.StatusBadRequest {
			plain, err := unpacker(coding, resp.Body)
			if err != nil {
				r.failed(err)
				return nil, errors.Join(err, resp.Body.Close())
			}
			return body{plain, resp.Body}, nil
		}
		packed, err := io.ReadAll(io.LimitReader(resp.Body, mostError))
		if err = errors.Join(err, resp.Body.Close()); err == nil {
			packed, err = Unpack(coding, packed)
		}
		if !r.refused(x, resp.StatusCode, packed, err == nil) {
			return nil, errors.Join(errNoRound, err)
		}
	}
}

// refused takes in an answer to a Round that is an error, of which all was read or not. It
// returns true if another body is to be sent.
func (r *reply) refused(x *exchange, status int, body []byte, whole bool) (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if whole && !r.closed && x.Refused(r.ctx, status, body) {
		return true
	}
	r.relay.FailedWith(status, body)
	return false
}

// failed tells the relay that the next Round came to nothing.
func (r *reply) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.relay.Failed(&wire.Error{Class: wire.ServerFault, Message: err.Error()})
}

// errNoRound says that the answer to a Round after the first was an error.
var errNoRound = errors.New("transport: the provider answered a hidden Round with an error")

// A reply is the body of an answer while it is relayed. As with the bodies of net/http, it
// may be closed while somebody reads.
type reply struct {
	src    io.ReadCloser
	mu     sync.Mutex // held while the relay is used, never while somebody waits for src
	relay  *gateway.Relay
	packed *side                                        // of a packed answer: what unpacks a copy of it
	next   func(context.Context) (io.ReadCloser, error) // asks for the next Round, whose body it returns; nil: there is none
	ready  []byte
	err    error // of src, once everything that is ready was read
	done   func()
	once   sync.Once
	ctx    context.Context //nolint:containedctx // of the request, for the Rounds after the first
	again  bool            // the next Round is to be asked for
	stop   func()          // gives up the Rounds after the first; nil: none was asked for
	closed bool
}

// Read implements io.Reader. Bytes are passed on as they come.
func (r *reply) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.ready) == 0 {
		if r.again {
			r.goOn()
			continue
		}
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.src.Read(p)
		if r.packed != nil {
			return r.readPacked(p[:n], err)
		}
		pass := r.look(p[:n], err)
		if len(pass) > 0 && &pass[0] == &p[0] {
			return len(pass), nil
		}
		r.ready = append(r.ready, pass...)
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// look shows the relay what came, and returns what the client gets of it.
func (r *reply) look(chunk []byte, err error) (pass []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pass, _ = r.relay.Write(chunk)
	if err == nil {
		return pass
	}
	return append(bytes.Clone(pass), r.last(err)...)
}

// last takes in that the reply of a Round has ended, and returns what the client still gets
// of it. If r.again is true then, another Round goes on with it.
func (r *reply) last(err error) (pass []byte) {
	if errors.Is(err, io.EOF) && r.next != nil {
		if pass, r.again = r.relay.Again(r.ctx); r.again {
			return pass
		}
	}
	pass = append(pass, r.relay.End()...)
	r.finish(err)
	return pass
}

// goOn goes on with the reply to the next Round.
func (r *reply) goOn() {
	var src io.ReadCloser
	ctx, err := r.going()
	if err == nil {
		src, err = r.next(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = false
	if err == nil && !r.closed {
		_ = r.src.Close() // all of it was read
		r.src = src
		return
	}
	switch {
	case err == nil:
		err = errors.Join(net.ErrClosed, src.Close())
	case r.closed:
		err = net.ErrClosed
	default:
		err = io.EOF // the client is told in its own dialect
	}
	r.ready = append(r.ready, r.relay.End()...)
	r.finish(err)
}

// going returns what the next Round is asked for with. Nobody wants one of a reply that was
// closed.
func (r *reply) going() (context.Context, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, net.ErrClosed
	}
	if r.stop == nil {
		r.ctx, r.stop = context.WithCancel(r.ctx)
	}
	return r.ctx, nil
}

// readPacked passes on what is packed, and unpacks a copy.
func (r *reply) readPacked(chunk []byte, err error) (int, error) {
	r.packed.write(chunk)
	if err != nil {
		r.packed.close()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.relay.End()
		r.finish(err)
	}
	return len(chunk), err
}

// holding reports whether the beginning of the answer is held back. What nobody can unpack
// is not.
func (r *reply) holding() bool {
	return r.err == nil && r.relay.Holding() && (r.packed == nil || !r.packed.over())
}

// hold takes a chunk of an answer whose beginning is held back, and what was read with it.
// It returns the refusal that the answer is.
func (r *reply) hold(chunk []byte, err error) (refusal *wire.Error) {
	if r.packed != nil {
		r.ready = append(r.ready, chunk...) // the client gets it packed
		r.packed.write(chunk)
		if errors.Is(err, io.EOF) {
			r.packed.close()
		}
		return r.packed.refusal
	}
	pass, refusal := r.relay.Write(chunk)
	r.ready = append(r.ready, pass...)
	if refusal == nil && errors.Is(err, io.EOF) {
		refusal = r.relay.Ended()
	}
	return refusal
}

// release passes on what was held, a refusal that nothing can be done about.
func (r *reply) release() {
	if held := r.relay.Release(); r.packed == nil {
		r.ready = append(r.ready, held...)
	}
}

// end is for an answer that ended while its beginning was held back.
func (r *reply) end(err error) {
	if r.packed == nil {
		r.ready = append(r.ready, r.last(err)...)
		return
	}
	r.packed.close()
	r.relay.End()
	r.finish(err)
}

func (r *reply) finish(err error) {
	r.err = err
	r.over()
}

// over says that nothing more comes.
func (r *reply) over() {
	if r.stop != nil {
		r.stop()
	}
	r.once.Do(r.done)
}

// Close implements io.Closer.
func (r *reply) Close() error {
	if r.packed != nil {
		r.packed.close()
	}
	return r.ended().Close()
}

// ended is for an answer of which nobody wants more. It returns what is to be closed.
func (r *reply) ended() io.Closer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.relay.End()
	r.over()
	return r.src
}

// A side unpacks a copy of what passes by, for the relay's eyes.
type side struct {
	in      *io.PipeWriter
	gone    chan struct{}
	once    sync.Once
	refusal *wire.Error // that the answer is; good between two writes, and behind close
}

func newSide(coding string, relay *gateway.Relay) *side {
	out, in := io.Pipe()
	s := &side{in: in, gone: make(chan struct{})}
	go func() {
		defer close(s.gone)
		defer out.CloseWithError(io.ErrClosedPipe) // what still comes is not looked at
		s.look(coding, out, relay)
	}()
	return s
}

// look shows the relay what is unpacked, until it has seen enough.
func (s *side) look(coding string, packed io.Reader, relay *gateway.Relay) {
	plain, err := unpacker(coding, packed)
	if err != nil {
		return
	}
	if c, ok := plain.(io.Closer); ok {
		defer c.Close() //nolint:errcheck // nothing is written
	}
	chunk := make([]byte, 16<<10)
	for s.refusal == nil && relay.Looking() {
		n, err := plain.Read(chunk)
		if n > 0 {
			_, s.refusal = relay.Write(chunk[:n]) // the client gets it packed
		}
		if err == io.EOF && s.refusal == nil {
			s.refusal = relay.Ended()
		}
		if err != nil {
			return
		}
	}
}

// write returns once all that a chunk says was looked at.
func (s *side) write(chunk []byte) {
	if len(chunk) > 0 {
		_, _ = s.in.Write(chunk)                   // it fails once nobody looks any more
		if _, err := s.in.Write(nil); err != nil { // it is taken when more is wanted
			<-s.gone
		}
	}
}

// over reports whether nobody looks any more.
func (s *side) over() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// close waits for what was written to be looked at.
func (s *side) close() {
	s.once.Do(func() { _ = s.in.Close() })
	<-s.gone
}
