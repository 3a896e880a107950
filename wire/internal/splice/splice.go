package splice

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A Codec is what a splice needs of a dialect's codec.
type Codec interface {
	wire.Codec
	wire.Streamer
	wire.Refuser
}

// Rules are what a dialect knows of the payloads of its streams. They see each payload,
// which is an object that the decoder has understood, of each Round.
type Rules interface {
	// Payload says what the client gets of a payload.
	Payload(name, data []byte) (Piece, error)
	// Next begins another Round.
	Next()
	// End returns what the client gets at the end of the reply of a payload that was held
	// in the last Round; nil if it gets nothing of it.
	End(name, data []byte) []byte
	// Fail appends the dialect's end of a stream that breaks.
	Fail(dst []byte, e *wire.Error) []byte
}

// A Piece is what a client gets of one payload.
type Piece struct {
	Data   []byte // now; nil for nothing, the payload itself if it is unchanged
	Hidden bool   // something of a hidden call was taken out
	Last   bool   // the reply ends here: what the payload says of that is held
	More   bool   // the reply has not ended yet, whatever was said before
}

// A Dialect is what makes the splices of one dialect.
type Dialect struct {
	Codec Codec
	Rules Rules  // of a stream
	Cut   Cutter // of a stream
	// Join returns the bytes of a frame as they stand in the reply, where there is something
	// before them or not. Without it frames do not depend on each other.
	Join func(before bool, whole []byte) []byte
	// Merge returns one body of those of several Rounds, without hidden calls.
	Merge func(bodies [][]byte) ([]byte, error)
}

// New begins a reply.
func New(d Dialect, hidden func(tool string) bool, streamed bool) wire.Splice {
	if !streamed {
		return &whole{dialect: d, hidden: hidden}
	}
	return &stream{dialect: d, decoder: d.Codec.NewDecoder()}
}

// A stream is a reply that is streamed.
type stream struct {
	dialect Dialect
	decoder wire.Decoder
	deaf    bool // the decoder has failed
	reply   wire.Reply
	out     []byte
	late    []byte // what came out when nobody took it
	held    []held
	size    int  // of held, in bytes
	begun   bool // the client has got something
	loose   bool // the client does not get the very bytes any more: something was hidden, or this is another Round
	plain   bool // it gets all that comes as it comes: it cannot be read, or not be spliced
	closing bool // the bytes have ended
	closed  bool // the decoder knows
	torn    bool // what ended the last frame that passed was the end of the bytes
	err     error
}

// A held is a frame of the end of a Round.
type held struct {
	Frame
	piece []byte // what the client gets of it if the reply goes on
	last  bool   // it says that the reply ends
}

// Write implements [wire.Splice].
func (s *stream) Write(chunk []byte) ([]byte, error) {
	s.out, s.late = append(s.out[:0], s.late...), s.late[:0]
	if s.plain {
		s.listen(chunk)
		s.out = append(s.out, chunk...)
		return s.out, nil
	}
	if s.err != nil && s.loose {
		return s.out, s.err
	}
	s.dialect.Cut.Add(chunk)
	if s.frames(); s.loose {
		return s.out, s.err
	}
	return s.out, nil
}

// frames takes the frames that are whole.
func (s *stream) frames() {
	cut := s.dialect.Cut
	for !s.plain && (s.err == nil || !s.loose) {
		f, ok := cut.Next(s.closing)
		if !ok {
			break
		}
		s.frame(f)
	}
	if n := max(cut.Len(), s.size); n > sse.MaxPayload && !s.plain {
		s.fail(Frame{}, fmt.Errorf("wire: splice: payload, want at most %d bytes, got %d and more", sse.MaxPayload, n))
	}
	if s.plain {
		rest := cut.Rest()
		s.listen(rest)
		s.out = append(s.out, rest...)
	}
}

// listen decodes bytes that pass in any case.
func (s *stream) listen(b []byte) {
	if !s.deaf {
		s.wrong(s.gather(s.decoder.Feed(b)))
	}
}

// gather takes what the decoder has told of the reply.
func (s *stream) gather(events []llm.Event, err error) error {
	for _, e := range events {
		s.reply.Add(e)
	}
	s.deaf = s.deaf || err != nil
	return err
}

// wrong keeps the first error of the Round.
func (s *stream) wrong(err error) {
	if s.err == nil {
		s.err = err
	}
}

// frame takes one frame.
func (s *stream) frame(f Frame) {
	if s.err != nil { // the provider's own, which ends the reply
		s.hold(f, nil, false)
		return
	}
	err := s.gather(s.decoder.Feed(f.Whole))
	if err == nil && s.closing { // only the end of the bytes ends it
		s.closed = true
		err = s.gather(s.decoder.Close())
	}
	if err != nil {
		s.fail(f, err)
		return
	}
	if raw.IsObject(f.Data) && (!s.closing || raw.Check(f.Data) == nil) {
		s.payload(f)
		return
	}
	if mark := len(f.Data) > 0; mark || len(s.held) > 0 {
		s.hold(f, nil, mark)
		return
	}
	s.pass(f.Whole)
}

// payload takes a frame that says something.
func (s *stream) payload(f Frame) {
	piece, err := s.dialect.Rules.Payload(f.Name, f.Data)
	if err != nil {
		s.fail(f, err)
		return
	}
	if piece.Hidden {
		s.loosen()
	}
	if piece.More && s.loose {
		s.held, s.size = nil, 0
	} else if piece.More {
		s.release()
	}
	switch {
	case s.loose:
		s.join(f.With(piece.Data))
		if piece.Last {
			s.hold(f, nil, true)
		}
	case piece.Last || len(s.held) > 0:
		s.hold(f, f.With(piece.Data), piece.Last)
	default:
		s.pass(f.Whole)
	}
}

// pass gives bytes to the client.
func (s *stream) pass(b []byte) {
	s.out = append(s.out, b...)
	s.begun = s.begun || len(b) > 0
	s.torn = s.torn || s.closing && len(b) > 0
}

// join gives the bytes of a frame to the client that come after others than they came after.
func (s *stream) join(b []byte) {
	if len(b) > 0 && s.dialect.Join != nil {
		b = s.dialect.Join(s.begun, b)
	}
	s.pass(b)
}

// hold keeps f until the end of the Round. piece is what the client gets of it if the reply
// goes on.
func (s *stream) hold(f Frame, piece []byte, last bool) {
	s.held = append(s.held, held{Frame: f.clone(), piece: bytes.Clone(piece), last: last})
	s.size += len(f.Whole) + len(piece)
}

// loosen says that the client gets other bytes from here on. What it gets of those that
// are held it gets now.
func (s *stream) loosen() {
	if s.loose {
		return
	}
	s.loose = true
	for i, h := range s.held {
		s.join(h.piece)
		s.held[i].piece = nil
	}
}

// fail ends the Round. As long as the client gets the very bytes it gets also those that
// are wrong; the provider's own error is held, as an end of the reply.
func (s *stream) fail(f Frame, err error) {
	s.wrong(err)
	if s.loose {
		return
	}
	if _, told := errors.AsType[*wire.Error](err); told {
		s.hold(f, nil, true)
		return
	}
	s.plain = true
	s.release()
	s.pass(f.Whole)
}

// release gives the client what is held, as it came.
func (s *stream) release() {
	for _, h := range s.held {
		s.pass(h.Whole)
	}
	s.held, s.size = nil, 0
}

// EndRound implements [wire.Splice].
func (s *stream) EndRound() (llm.Response, error) {
	s.out, s.closing = append(s.out[:0], s.late...), true
	s.frames()
	if !s.closed && !s.deaf {
		s.closed = true
		s.wrong(s.gather(s.decoder.Close()))
	}
	s.late = append(s.late[:0], s.out...)
	reply, err := s.reply.Response(s.dialect.Codec.Dialect()), s.err
	if err != nil && !s.loose {
		err = passed(err)
	}
	return reply, err
}

// passed returns an error as that of a Round which the client gets as it came.
func passed(err error) error { return fmt.Errorf("%w: %w", wire.ErrPassed, err) }

// Next implements [wire.Splice].
func (s *stream) Next() {
	s.out = append(s.out[:0], s.late...)
	s.loosen()
	if s.torn {
		s.out = append(s.out, "\n\n"...)
	}
	s.late = append(s.late[:0], s.out...)
	s.held, s.size = nil, 0
	s.closing, s.closed, s.torn = false, false, false
	s.dialect.Cut.Rest()
	s.decoder, s.reply = s.dialect.Codec.NewDecoder(), wire.Reply{}
	s.dialect.Rules.Next()
}

// Finish implements [wire.Splice].
func (s *stream) Finish() []byte {
	s.out, s.late = append(s.out[:0], s.late...), s.late[:0]
	if !s.loose {
		s.release()
		return append(s.out, s.dialect.Cut.Rest()...)
	}
	for _, h := range s.held {
		switch {
		case !h.last:
		case raw.IsObject(h.Data):
			s.join(h.With(s.dialect.Rules.End(h.Name, h.Data)))
		default:
			s.join(h.Whole)
		}
	}
	s.held = nil
	return s.out
}

// Fail implements [wire.Splice].
func (s *stream) Fail(e *wire.Error) []byte {
	s.out, s.late = append(s.out[:0], s.late...), s.late[:0]
	if told, ok := errors.AsType[*wire.Error](s.err); ok && told == e && !s.loose {
		s.release() // it came with the reply, and so it goes
		return s.out
	}
	s.held = nil
	return s.dialect.Rules.Fail(s.out, e)
}
