package openai

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A stream is what the decoders of both formats share: the framing, the events of the
// call at hand, and the payload that the next of them came in.
type stream struct {
	scan    sse.Scanner
	take    func(name, data []byte) error // reads one payload
	events  []llm.Event
	arena   []byte   // the payloads of this call
	payload []byte   // the payload at hand, nil once an event has it
	walk    raw.Walk // through the payload
	err     error
	closing bool // the bytes have ended: the last payload may be torn
	parts   int  // parts that have begun
	held    sse.Held
	begun   bool // Start has been sent
	ended   bool // End has been sent
}

// feed is the Feed of both decoders.
func (s *stream) feed(chunk []byte) ([]llm.Event, error) {
	s.events, s.arena = s.events[:0], s.arena[:0]
	if s.err == nil {
		s.err = s.scan.Feed(chunk, s.next)
	}
	return s.events, s.err
}

// close reads what is left at the end of the bytes, and then calls end.
func (s *stream) close(end func() error) ([]llm.Event, error) {
	s.events, s.arena = s.events[:0], s.arena[:0]
	if s.err == nil {
		s.closing = true
		s.err = s.scan.Close(s.next)
	}
	if s.err == nil && !s.ended {
		s.err = end()
	}
	return s.events, s.err
}

// next reads one payload. One that tells nothing is an event too, so that whoever
// relays payloads misses none.
func (s *stream) next(name, data []byte) error {
	start := len(s.arena)
	s.arena = append(s.arena, data...)
	s.payload = s.arena[start:len(s.arena):len(s.arena)]
	err := s.take(name, s.payload)
	if err == nil {
		if err = s.held.Check(); err != nil {
			err = fmt.Errorf("openai: stream: %w", err)
		}
	}
	if err == nil && s.payload != nil {
		s.emit(llm.Event{Kind: llm.EventOther})
	}
	s.payload = nil
	return err
}

// emit adds an event, which takes the payload at hand if it is the first of it.
func (s *stream) emit(e llm.Event) {
	e.Raw, s.payload = s.payload, nil
	s.events = append(s.events, e)
}

// start sends the beginning of the reply, once.
func (s *stream) start(id, model string, u llm.Usage) {
	if !s.begun {
		s.begun = true
		s.emit(llm.Event{Kind: llm.EventStart, ID: id, Model: model, Usage: u})
	}
}

// open sends the beginning of a part and returns its index.
func (s *stream) open(p llm.Part) int {
	i := s.parts
	s.parts++
	s.emit(llm.Event{Kind: llm.EventPartStart, Index: i, Part: p})
	return i
}

// delta sends more of part i; no text, no event.
func (s *stream) delta(i int, kind llm.DeltaKind, text string) {
	if text != "" {
		s.emit(llm.Event{Kind: llm.EventDelta, Index: i, Delta: kind, Text: text})
	}
}

// done sends that part i is whole.
func (s *stream) done(i int, p llm.Part) {
	s.emit(llm.Event{Kind: llm.EventPartEnd, Index: i, Part: p})
}

// object begins the walk through the object that the payload must be, whose end tells
// whether it is JSON; nothing for a payload that the end of the bytes has torn.
func (s *stream) object(data []byte) (*raw.Walk, error) {
	if s.closing && raw.Check(data) != nil {
		s.payload = nil
		return nil, nil //nolint:nilerr // the end of the bytes tore it, and close says that the stream was cut
	}
	s.walk = raw.NewWalk(data)
	if next := s.walk.Next(); !raw.IsObject(next) {
		return nil, raw.Wrong("an object", next)
	}
	return &s.walk, nil
}

// isDone reports whether a payload is the mark that ends a stream.
func isDone(data []byte) bool {
	return !raw.IsObject(data) && string(raw.Trim(data)) == "[DONE]"
}

// problem returns err as an error of a stream in that format; what the provider says
// itself stays as it is.
func problem(format string, err error) error {
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		return refusal
	}
	return fmt.Errorf("openai: %s stream: %w", format, err)
}
