package loop

import (
	"fmt"
	"strings"
)

// How much of an output is kept, in bytes: its beginning and its end. An agent that floods
// takes no more memory than that.
const (
	keptHead = 1 << 20
	keptTail = 3 << 20
)

// A capture keeps both ends of what is written to it.
type capture struct {
	headMost, tailMost int
	head               []byte
	tail               []byte // a ring once it is full
	next               int    // where in the ring the oldest byte is
	all                int64
}

func newCapture(head, tail int) *capture { return &capture{headMost: head, tailMost: tail} }

// Write implements io.Writer. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.all += int64(n)
	room := min(c.headMost-len(c.head), len(p))
	c.head, p = append(c.head, p[:room]...), p[room:]
	if over := len(p) - c.tailMost; over > 0 {
		p = p[over:]
	}
	room = min(c.tailMost-len(c.tail), len(p))
	c.tail, p = append(c.tail, p[:room]...), p[room:]
	for len(p) > 0 {
		k := copy(c.tail[c.next:], p)
		c.next, p = (c.next+k)%len(c.tail), p[k:]
	}
	return n, nil
}

// text returns what was kept, with a line in place of what was not.
func (c *capture) text() string {
	var b strings.Builder
	b.Write(c.head)
	if left := c.all - int64(len(c.head)+len(c.tail)); left > 0 {
		fmt.Fprintf(&b, "\n[… %d bytes …]\n", left)
	}
	b.Write(c.tail[c.next:])
	b.Write(c.tail[:c.next])
	return b.String()
}

// valid returns a text as a record holds it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
