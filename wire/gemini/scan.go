package gemini

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A valueScanner cuts a stream into JSON objects: the elements of one array, or objects
// one after another. Only an object that is not whole yet is held.
type valueScanner struct {
	held    []byte
	depth   int // of brackets within the object
	text    bool
	escaped bool
	array   bool // the array has begun
	closed  bool // and ended
}

// feed takes the next bytes and calls value for each object that they complete, which is
// good until value returns.
func (s *valueScanner) feed(chunk []byte, value func(name, data []byte) error) error {
	start := 0 // of the object in chunk, as far as it is not held
	for i := 0; i < len(chunk); i++ {
		if s.depth == 0 {
			begun, err := s.between(chunk[i])
			if err != nil {
				return err
			}
			if begun {
				s.depth, start = 1, i
			}
			continue
		}
		if s.text && !s.escaped { // most bytes are in texts
			k := bytes.IndexAny(chunk[i:], "\"\\")
			if k < 0 {
				break
			}
			i += k
		}
		if !s.inside(chunk[i]) {
			continue
		}
		object := chunk[start : i+1]
		if len(s.held) > 0 {
			s.held = append(s.held, object...)
			object = s.held
		}
		err := value(nil, object)
		s.held, start = s.held[:0], i+1
		if err != nil {
			return err
		}
	}
	if s.depth > 0 {
		s.held = append(s.held, chunk[start:]...)
	}
	if len(s.held) > sse.MaxPayload {
		return fmt.Errorf("gemini: stream: payload, want at most %d bytes, got %d and more", sse.MaxPayload, len(s.held))
	}
	return nil
}

// between takes a byte that stands between objects; true if it begins one.
func (s *valueScanner) between(c byte) (bool, error) {
	switch c {
	case ' ', '\t', '\r', '\n':
		return false, nil
	case ',':
		if s.array && !s.closed {
			return false, nil
		}
	case '[':
		if !s.array {
			s.array = true
			return false, nil
		}
	case ']':
		if s.array && !s.closed {
			s.closed = true
			return false, nil
		}
	case '{':
		if !s.closed {
			return true, nil
		}
	}
	return false, fmt.Errorf("gemini: stream: want an object, a comma or the end of the array, got %q", c)
}

// inside takes a byte of an object; true if it ends it.
func (s *valueScanner) inside(c byte) bool {
	switch {
	case s.escaped:
		s.escaped = false
	case s.text && c == '\\':
		s.escaped = true
	case c == '"':
		s.text = !s.text
	case s.text:
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		return s.depth == 0
	}
	return false
}

// close says that the stream has ended.
func (s *valueScanner) close() error {
	if s.depth > 0 || s.array && !s.closed {
		return wire.ErrCut
	}
	return nil
}
