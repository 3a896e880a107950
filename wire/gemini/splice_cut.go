package gemini

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// A cutter cuts a stream of either framing, as [decoder] reads it.
type cutter struct {
	head   []byte // what came before the framing was known
	events splice.Events
	values valueCutter
	now    splice.Cutter // of the framing; nil: it is not known
	array  bool          // a stream before was an array
}

// Add implements [splice.Cutter].
func (c *cutter) Add(chunk []byte) {
	if c.now != nil {
		c.now.Add(chunk)
		return
	}
	c.head = append(c.head, chunk...)
	framing, text := framingOf(c.head)
	switch framing {
	case unknownFraming:
		return
	case eventFraming:
		c.now = &c.events
	case valueFraming:
		c.now = &c.values
		c.values.at = len(c.head) - len(text)
	}
	c.now.Add(c.head)
	c.head = nil
}

// Next implements [splice.Cutter].
func (c *cutter) Next(end bool) (splice.Frame, bool) {
	if c.now == nil {
		return splice.Frame{}, false
	}
	return c.now.Next(end)
}

// Rest implements [splice.Cutter].
func (c *cutter) Rest() []byte {
	c.array = c.isArray()
	rest := c.head
	if c.now != nil {
		rest = c.now.Rest()
	}
	c.head, c.now = nil, nil
	return rest
}

// Len implements [splice.Cutter].
func (c *cutter) Len() int {
	if c.now == nil {
		return len(c.head)
	}
	return c.now.Len()
}

// A valueCutter cuts a stream of objects: the elements of one array, each with what stands
// before it, and the end of the array; or objects one after another.
type valueCutter struct {
	scan  valueScanner // between bytes: it holds none itself
	held  []byte
	done  int // bytes of held that are frames already
	at    int // up to where held is read
	start int // of the object
	bad   bool
}

// Add implements [splice.Cutter].
func (c *valueCutter) Add(chunk []byte) {
	if c.done > 0 {
		c.held = append(c.held[:0], c.held[c.done:]...)
		c.at, c.start, c.done = c.at-c.done, c.start-c.done, 0
	}
	c.held = append(c.held, chunk...)
}

// Next implements [splice.Cutter]. What is no stream of objects is only framing.
func (c *valueCutter) Next(end bool) (splice.Frame, bool) {
	for !c.bad && c.at < len(c.held) {
		if c.scan.depth == 0 {
			closed := c.scan.closed
			begun, err := c.scan.between(c.held[c.at])
			switch {
			case err != nil:
				c.bad = true
				continue
			case begun:
				c.scan.depth, c.start = 1, c.at
			}
			if c.at++; c.scan.closed && !closed {
				return c.cut(c.at - 1), true
			}
			continue
		}
		if c.scan.text && !c.scan.escaped { // most bytes are in texts
			k := bytes.IndexAny(c.held[c.at:], "\"\\")
			if k < 0 {
				c.at = len(c.held)
				break
			}
			c.at += k
		}
		c.at++
		if c.scan.inside(c.held[c.at-1]) {
			return c.cut(c.start), true
		}
	}
	if (c.bad || end) && c.Len() > 0 {
		c.at = len(c.held)
		return c.cut(c.at), true
	}
	return splice.Frame{}, false
}

// cut returns the frame whose payload is from start to where held is read.
func (c *valueCutter) cut(start int) splice.Frame {
	f := splice.Frame{Whole: c.held[c.done:c.at:c.at], At: start - c.done}
	if start < c.at {
		f.Data = f.Whole[f.At:]
	}
	c.done = c.at
	return f
}

// Rest implements [splice.Cutter].
func (c *valueCutter) Rest() []byte {
	rest := c.held[c.done:]
	*c = valueCutter{}
	return rest
}

// Len implements [splice.Cutter].
func (c *valueCutter) Len() int { return len(c.held) - c.done }

// joinValue returns the bytes of a frame with what an array needs before it: a bracket
// before its first element, a comma before the others.
func joinValue(before bool, whole []byte) []byte {
	at := len(whole) - len(bytes.TrimLeft(whole, " \t\r\n"))
	if at == len(whole) {
		return whole
	}
	switch c := whole[at]; {
	case c == '[' && before:
		return bytes.Join([][]byte{whole[:at], {','}, whole[at+1:]}, nil)
	case c == ',' && !before:
		return bytes.Join([][]byte{whole[:at], {'['}, whole[at+1:]}, nil)
	case c == ']' && !before:
		return []byte("[]")
	}
	return whole
}

// isArray reports whether the stream is an array.
func (c *cutter) isArray() bool { return c.array || c.values.scan.array }
