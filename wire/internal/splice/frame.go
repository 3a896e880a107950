package splice

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A Frame is one payload of a stream with all the bytes that carry it.
type Frame struct {
	Name, Data []byte // as package sse has them, without white space around; no Data: it is only framing
	Whole      []byte // good until the next call of the cutter
	At         int    // where Data is in Whole; -1: not in one piece
}

// With returns the bytes of f with another payload: none if data is nil, Whole if it is
// Data.
func (f Frame) With(data []byte) []byte {
	switch {
	case data == nil:
		return nil
	case len(data) == len(f.Data) && len(data) > 0 && &data[0] == &f.Data[0]:
		return f.Whole
	case f.At < 0:
		return sse.Append(nil, string(f.Name), raw.OneLine(data))
	}
	return bytes.Join([][]byte{f.Whole[:f.At], data, f.Whole[f.At+len(f.Data):]}, nil)
}

// clone returns f with bytes of its own.
func (f Frame) clone() Frame {
	f.Name, f.Whole = bytes.Clone(f.Name), bytes.Clone(f.Whole)
	if f.At >= 0 {
		f.Data = f.Whole[f.At : f.At+len(f.Data)]
	} else {
		f.Data = bytes.Clone(f.Data)
	}
	return f
}

// A Cutter cuts a stream into frames whose bytes together are those of the stream.
type Cutter interface {
	// Add takes the next bytes.
	Add(chunk []byte)
	// Next returns the next frame, false if there is none yet; at the end of the bytes
	// also one that nothing ends.
	Next(end bool) (Frame, bool)
	// Rest takes out the bytes that are in no frame yet.
	Rest() []byte
	// Len returns how many they are.
	Len() int
}

// Events is the [Cutter] of server-sent events, or of one payload a line. The zero Events
// is ready for use.
type Events struct {
	Lines bool // one payload a line

	held  []byte
	done  int  // bytes of held that are frames already
	line  int  // where the line begins that is next to be read
	seen  int  // up to where no line end was found
	begun bool // the first line has been read

	// Of the frame that is not whole yet:
	name  []byte
	lines int    // of its payload
	at, n int    // the place of the first of them
	data  []byte // all of them, where they are several
}

// Add implements [Cutter].
func (c *Events) Add(chunk []byte) {
	if c.done > 0 {
		c.held = append(c.held[:0], c.held[c.done:]...)
		c.line, c.seen, c.at, c.done = c.line-c.done, c.seen-c.done, c.at-c.done, 0
	}
	c.held = append(c.held, chunk...)
}

// Len implements [Cutter].
func (c *Events) Len() int { return len(c.held) - c.done }

// Rest implements [Cutter].
func (c *Events) Rest() []byte {
	rest := c.held[c.done:]
	*c = Events{Lines: c.Lines}
	return rest
}

// Next implements [Cutter].
func (c *Events) Next(end bool) (Frame, bool) {
	for {
		start := c.line
		stop, next, ok := c.nextLine(end)
		if !ok {
			break
		}
		c.line, c.seen = next, next
		if c.take(start, stop) {
			return c.cut(next), true
		}
	}
	if end && c.Len() > 0 {
		return c.cut(len(c.held)), true
	}
	return Frame{}, false
}

// nextLine returns where the next line ends and where the one behind it begins. A carriage
// return may be half of a line end, so that the byte behind it is needed too.
func (c *Events) nextLine(end bool) (stop, next int, ok bool) {
	i := sse.LineEnd(c.held[c.seen:])
	if i < 0 {
		c.seen = len(c.held)
		return len(c.held), len(c.held), end && c.line < len(c.held)
	}
	stop = c.seen + i
	next = stop + 1
	if c.held[stop] == '\r' {
		switch {
		case next < len(c.held) && c.held[next] == '\n':
			next++
		case next == len(c.held) && !end:
			c.seen = stop
			return 0, 0, false
		}
	}
	return stop, next, true
}

// take reads one line; true if it ends a frame.
func (c *Events) take(start, stop int) bool {
	line := c.held[start:stop]
	if !c.begun {
		c.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if c.Lines {
		line = bytes.TrimLeft(line, " \t")
		if data := bytes.TrimRight(line, " \t"); len(data) > 0 {
			c.payload(stop-len(line), data)
		}
		return true
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		c.name = append(c.name[:0], value...)
	case "data":
		c.payload(stop-len(value), value)
	}
	return len(line) == 0
}

// payload takes a line of the payload.
func (c *Events) payload(at int, value []byte) {
	switch c.lines++; c.lines {
	case 1:
		c.at, c.n = at, len(value)
		return
	case 2:
		c.data = append(c.data[:0], c.held[c.at:c.at+c.n]...)
	}
	c.data = append(append(c.data, '\n'), value...)
}

// cut returns the frame that ends at end.
func (c *Events) cut(end int) Frame {
	f := Frame{Name: c.name, Whole: c.held[c.done:end:end]}
	switch c.lines {
	case 0:
	case 1:
		data := c.held[c.at : c.at+c.n]
		f.At = c.at - c.done + raw.Leading(data)
		f.Data = raw.Trim(data)
	default:
		f.Data, f.At = raw.Trim(c.data), -1
	}
	c.done, c.line, c.seen = end, end, end
	c.name, c.lines = c.name[:0], 0
	return f
}
