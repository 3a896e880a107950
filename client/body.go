package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// A form is what a body is, by how it begins. Content types are wrong too often: a stream
// comes as text/plain, an error as text/event-stream, the page of a login with status 200.
type form uint8

const (
	undecided form = iota
	empty          // nothing but white space
	jsonText       // one JSON text, or one in each line
	events         // server-sent events
	neither        // something else, such as a page
)

const (
	byteOrderMark = "\xef\xbb\xbf"
	mostLine      = 1 << 20 // bytes of a line that is waited for to see whether a body is a stream
	mostShown     = 200     // bytes of a body that nobody can read
)

// formOf tells the form of a body by its first bytes, which are without white space in
// front; ended says that there are no more.
func formOf(start []byte, ended bool) form {
	switch {
	case len(start) == 0 && ended:
		return empty
	case len(start) == 0, !ended && bytes.HasPrefix([]byte(byteOrderMark), start):
		return undecided
	case start[0] == '{' || start[0] == '[':
		return jsonText
	case start[0] == ':': // a comment
		return events
	}
	for _, field := range []string{"data", "event", "id", "retry"} {
		rest, ok := bytes.CutPrefix(start, []byte(field))
		switch {
		case ok && len(rest) > 0 && bytes.IndexByte([]byte(":\r\n"), rest[0]) >= 0:
			return events
		case bytes.HasPrefix([]byte(field), start) && ended:
			return events // which were cut
		case bytes.HasPrefix([]byte(field), start):
			return undecided
		}
	}
	return neither
}

// An inlet is the body of an answer on its way in.
type inlet struct {
	l     *limits
	resp  *http.Response
	start []byte // what was read to find out what it is, and not yet given on
	err   error  // that came behind start
}

// Read reads the body from its start.
func (b *inlet) Read(buf []byte) (int, error) {
	if len(b.start) > 0 {
		n := copy(buf, b.start)
		b.start = b.start[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.l.read(b.resp.Body, buf)
}

// more reads on, without giving it on.
func (b *inlet) more(buf []byte) {
	n, err := b.l.read(b.resp.Body, buf)
	b.start, b.err = append(b.start, buf[:n]...), err
}

// form finds out what the body is. White space in front is dropped: some providers send
// it while they work. The error says that the body could not be read.
func (b *inlet) form() (form, error) {
	buf := make([]byte, 4<<10)
	for {
		b.more(buf)
		b.start = bytes.TrimPrefix(bytes.TrimLeft(b.start, " \t\r\n"), []byte(byteOrderMark))
		switch f := formOf(b.start, b.err != nil); {
		case f == empty && b.err != io.EOF && b.l.ctx.Err() != nil: //nolint:errorlint // a Reader returns it as it is
			return f, b.err
		case f == empty && b.err != io.EOF: //nolint:errorlint // a Reader returns it as it is
			return f, fmt.Errorf("%w: %w", wire.ErrCut, b.err)
		case f != undecided:
			return f, nil
		}
	}
}

// inLines reports whether a JSON body has its first text in a line of its own, as streams
// of Ollama have. The line is waited for.
func (b *inlet) inLines() bool {
	buf := make([]byte, 4<<10)
	for seen := 0; ; {
		if end := bytes.IndexByte(b.start[seen:], '\n'); end >= 0 {
			return json.Valid(b.start[:seen+end])
		}
		if seen = len(b.start); b.err != nil || seen > mostLine {
			return false
		}
		b.more(buf)
	}
}

// An answer is what came of an attempt. A stream has been given on, and is not whole.
type answer struct {
	reply llm.Response
	whole bool
}

// receive makes one attempt. The events of a stream go to give; a whole reply is returned.
func (c *Client) receive(l *limits, k *call, give func(llm.Event) bool) (answer, error) {
	resp, err := c.send(l.ctx, k)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	typed, wanted := streams(resp), k.op == opStream
	if typed && wanted {
		l.stream()
	}
	b := &inlet{l: l, resp: resp}
	f, err := b.form()
	if err != nil {
		return answer{}, err
	}
	lines := c.p.Dialect == ollama.Dialect // its streams are JSON texts
	switch {
	case f == events,
		f == empty && typed && resp.StatusCode == http.StatusOK, // a stream that was cut
		f == jsonText && lines && (typed || wanted && b.inLines()):
		if wanted {
			l.stream()
		}
		return answer{}, c.feed(b, give)
	case f == jsonText:
		return c.readText(b, give)
	}
	return answer{}, b.unexpected(b.start, nil)
}

// readText reads a body that is one JSON text: a reply, an error, or a stream that is a
// list of its events, which only the decoder knows.
func (c *Client) readText(b *inlet, give func(llm.Event) bool) (answer, error) {
	body, err := b.l.readAll(b)
	if err != nil {
		return answer{}, err
	}
	reply, wrong := c.decode(body)
	if wrong == nil {
		return answer{reply, true}, nil
	}
	_, refused := errors.AsType[*wire.Error](wrong)
	if refused || errors.Is(wrong, wire.ErrCut) {
		return answer{}, wrong
	}
	f := c.feeder(give)
	if err = f.feed(body); err == nil {
		err = f.close()
	}
	if err != nil && !f.given {
		return answer{}, b.unexpected(body, wrong) // what it is not as a reply says more
	}
	return answer{}, err
}

// unexpected says what came in place of a reply.
func (b *inlet) unexpected(start []byte, why error) error {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(start[:min(len(start), mostShown)]), "")), " ")
	return &AnswerError{Status: b.resp.StatusCode, Type: mediaType(b.resp), Start: line, Err: why}
}

// errorIn returns the error that a body or a payload tells, in a shape that need not be the
// dialect's: a gateway has one of its own. nil if it tells none.
func (c *Client) errorIn(body []byte) *wire.Error {
	if !wire.TellsError(body) {
		return nil
	}
	e := c.codec.DecodeError(http.StatusOK, body)
	e.Status = 0 // that of the answer says nothing
	return e
}
