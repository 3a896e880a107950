package transport

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/gateway"
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
// waits for the first events only where a refusal can be among them; again is true if it
// was one, and a shorter request is to be sent.
func (t *Transport) relay(req *http.Request, x *exchange, resp *http.Response) (again bool, err error) {
	coding := resp.Header.Get("Content-Encoding")
	r := &reply{src: resp.Body, relay: x.Relay(req.Context(), isStream(req, resp)), done: func() { t.done(req, x.Report()) }}
	if r.relay.Rewrites() {
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	if coding != "" && !strings.EqualFold(coding, "identity") {
		r.packed = newSide(coding, r.relay)
	}
	var chunk []byte
	for r.packed == nil && r.relay.Holding() {
		if chunk == nil {
			chunk = make([]byte, 16<<10)
		}
		n, err := r.src.Read(chunk)
		pass, refusal := r.relay.Write(chunk[:n])
		if refusal != nil && x.RefusedInside(req.Context(), refusal) {
			return true, r.src.Close()
		}
		if refusal != nil {
			pass = r.relay.Release()
		}
		if r.ready = append(r.ready, pass...); err != nil {
			r.end(err)
			break
		}
	}
	resp.Body = r
	return false, nil
}

// A reply is the body of an answer while it is relayed. As with the bodies of net/http, it
// may be closed while somebody reads.
type reply struct {
	src    io.ReadCloser
	mu     sync.Mutex // held while the relay is used, never while somebody waits for src
	relay  *gateway.Relay
	packed *side // of a packed answer: what unpacks a copy of it
	ready  []byte
	err    error // of src, once everything that is ready was read
	done   func()
	once   sync.Once
}

// Read implements io.Reader. Bytes are passed on as they come.
func (r *reply) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.ready) == 0 {
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
	if err != nil {
		pass = append(append([]byte(nil), pass...), r.relay.End()...)
		r.finish(err)
	}
	return pass
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

// end is for an answer that ended while its beginning was held back.
func (r *reply) end(err error) {
	r.ready = append(r.ready, r.relay.End()...)
	r.finish(err)
}

func (r *reply) finish(err error) {
	r.err = err
	r.once.Do(r.done)
}

// Close implements io.Closer.
func (r *reply) Close() error {
	if r.packed != nil {
		r.packed.close()
	}
	r.ended()
	return r.src.Close()
}

// ended is for an answer of which nobody wants more.
func (r *reply) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.relay.End()
	r.once.Do(r.done)
}

// A side unpacks a copy of what passes by, for the relay's eyes.
type side struct {
	in   *io.PipeWriter
	gone chan struct{}
	once sync.Once
}

func newSide(coding string, relay *gateway.Relay) *side {
	out, in := io.Pipe()
	s := &side{in: in, gone: make(chan struct{})}
	go func() {
		defer close(s.gone)
		defer out.CloseWithError(io.ErrClosedPipe) // what still comes is not looked at
		plain, err := unpacker(coding, out)
		if err != nil {
			return
		}
		if c, ok := plain.(io.Closer); ok {
			defer c.Close() //nolint:errcheck // nothing is written
		}
		chunk := make([]byte, 16<<10)
		for {
			n, err := plain.Read(chunk)
			_, _ = relay.Write(chunk[:n]) // the client gets it packed
			if err != nil || !relay.Looking() {
				return
			}
		}
	}()
	return s
}

func (s *side) write(chunk []byte) {
	if len(chunk) > 0 {
		_, _ = s.in.Write(chunk) // it fails once nobody looks any more
	}
}

// close waits for what was written to be looked at.
func (s *side) close() {
	s.once.Do(func() { _ = s.in.Close() })
	<-s.gone
}
