// Package sse reads and writes the framing of server-sent events (HTML standard,
// section 9.2), and of streams with one JSON text a line. It knows nothing of what the
// payloads say.
package sse

import (
	"bytes"
	"fmt"
)

// MaxPayload is the size in bytes that one payload may have. Pictures come in one.
const MaxPayload = 64 << 20

// A Scanner cuts a stream into events, however it arrives in chunks. The zero Scanner
// is ready for use. Only an event that is not whole yet is held.
type Scanner struct {
	Lines bool // the stream is one payload a line, without fields

	line  []byte // the line that is not whole yet
	name  []byte
	data  []byte // of the event that is not whole yet
	some  bool   // data has a line, if an empty one
	cr    bool   // the last byte was a carriage return that ended a line
	begun bool   // the first line has been seen
}

// Feed takes the next bytes and calls event for each event that they complete, with
// its name and its data, which are good until event returns. It stops at the first
// error: that of event, or that a payload is too big.
func (s *Scanner) Feed(chunk []byte, event func(name, data []byte) error) error {
	for len(chunk) > 0 {
		if s.cr && chunk[0] == '\n' {
			chunk = chunk[1:]
		}
		s.cr = false
		end := LineEnd(chunk)
		if end < 0 {
			s.line = append(s.line, chunk...)
			return s.tooBig()
		}
		line := chunk[:end]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		s.cr = chunk[end] == '\r'
		chunk = chunk[end+1:]
		err := s.take(line, event)
		if s.line = s.line[:0]; err != nil {
			return err
		}
	}
	return nil
}

// Close calls event for the last event, which nothing ends but the end of the stream.
func (s *Scanner) Close(event func(name, data []byte) error) error {
	if len(s.line) > 0 {
		line := s.line
		s.line = nil
		if err := s.take(line, event); err != nil {
			return err
		}
	}
	return s.dispatch(event)
}

func (s *Scanner) take(line []byte, event func(name, data []byte) error) error {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if s.Lines {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return nil
		}
		return event(nil, line)
	}
	if len(line) == 0 {
		return s.dispatch(event)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		s.name = append(s.name[:0], value...)
	case "data":
		if s.some {
			s.data = append(s.data, '\n')
		}
		s.data, s.some = append(s.data, value...), true
		return s.tooBig()
	}
	return nil
}

func (s *Scanner) dispatch(event func(name, data []byte) error) error {
	var err error
	if s.some {
		err = event(s.name, s.data)
	}
	s.name, s.data, s.some = s.name[:0], s.data[:0], false
	return err
}

func (s *Scanner) tooBig() error {
	if n := max(len(s.line), len(s.data)); n > MaxPayload {
		return fmt.Errorf("sse: payload, want at most %d bytes, got %d and more", MaxPayload, n)
	}
	return nil
}

// LineEnd returns the place of the first line end in b, or -1.
func LineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// Append appends one event: its name, if it has one, and its data, which has no line
// ends but may be of any length.
func Append(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	dst = append(append(dst, "data: "...), data...)
	return append(dst, "\n\n"...)
}
