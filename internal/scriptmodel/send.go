package scriptmodel

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An answer is what is sent: a status, and bytes in one or more chunks.
type answer struct {
	status int
	header http.Header
	chunks [][]byte
	delay  time.Duration // before the first byte
	pause  time.Duration // between chunks
	drop   bool          // the connection is broken at the end
}

func newAnswer(contentType string, chunks ...[]byte) answer {
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {contentType}}, chunks: chunks}
}

func jsonAnswer(body []byte) answer { return newAnswer("application/json", body) }

// send writes a. It ends early if the client goes.
func (a answer) send(ctx context.Context, w http.ResponseWriter) {
	if !wait(ctx, a.delay) {
		return
	}
	out := http.NewResponseController(w)
	if a.drop && len(a.chunks) == 0 {
		hangUp(out)
		return // not even a status
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	for i, chunk := range a.chunks {
		if i > 0 && !wait(ctx, a.pause) {
			return
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
		_ = out.Flush() // a writer that cannot flush sends at the end
	}
	if a.drop {
		hangUp(out)
	}
}

// wait waits for d; false if the client has gone.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// hangUp breaks the connection, so that the client sees it broken and not ended.
func hangUp(out *http.ResponseController) {
	conn, _, err := out.Hijack()
	if err != nil {
		return // not a connection of HTTP/1: the answer only ends
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the end looks orderly
	}
	_ = conn.Close()
}

// frames cuts a stream into the events that are on the wire.
func frames(d llm.Dialect, stream []byte) [][]byte {
	end := []byte("\n\n")
	if d == native {
		end = []byte("\n")
	}
	var out [][]byte
	for len(stream) > 0 {
		n := bytes.Index(stream, end)
		if n < 0 {
			return append(out, stream)
		}
		n += len(end)
		out, stream = append(out, stream[:n:n]), stream[n:]
	}
	return out
}

// spoil makes the faults of a reply happen: to the chunks of an answer, of which those of a
// stream are one event each.
func (a answer) spoil(x *exchange, faults []Fault) answer {
	for _, f := range faults {
		head, at := a.chunks, min(f.After, len(a.chunks))
		if f.Events {
			head = head[:at:at]
		} else {
			head = firstBytes(head, f.After)
		}
		switch f.Kind {
		case FaultCut:
			a.chunks = head
		case FaultDrop:
			a.chunks, a.drop = head, true
		case FaultFail:
			a.chunks = append(head, x.failure(at))
		case FaultMalformed:
			a.chunks = append(append(head, malformed(x.route.dialect)), a.chunks[at:]...)
		case FaultPing:
			if ping := ping(x.route.dialect); ping != nil {
				a.chunks = append(append(head, ping), a.chunks[at:]...)
			}
		}
	}
	return a
}

// firstBytes returns the first n bytes of chunks.
func firstBytes(chunks [][]byte, n int) (head [][]byte) {
	for _, c := range chunks {
		if len(c) >= n {
			return append(head, c[:n:n])
		}
		head, n = append(head, c), n-len(c)
	}
	return head
}

// malformed returns an event that is no JSON.
func malformed(d llm.Dialect) []byte {
	const broken = `{"type":"content_block_del`
	if d == native {
		return []byte(broken + "\n")
	}
	return []byte("data: " + broken + "\n\n")
}

// ping returns what keeps a stream alive; nil where the dialect has nothing of the kind.
func ping(d llm.Dialect) []byte {
	switch d {
	case messages:
		return []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")
	case native, generate:
		return nil // a comment is an error to the official Go SDK of the latter
	}
	return []byte(": keep-alive\n\n")
}
