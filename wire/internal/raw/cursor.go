package raw

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Cursor reads a checked text from front to back, each value once, also where
// values nest. Places are those of the whole text.
type Cursor struct {
	text []byte
	at   int
	name int // where the name of the member that Object is at begins
}

// NewCursor returns a cursor at the first value of text.
func NewCursor(text []byte) *Cursor { return &Cursor{text: text, at: skip(text, 0)} }

// At returns another cursor, at another value of the same text.
func (c *Cursor) At(place int) *Cursor { return &Cursor{text: c.text, at: place} }

// Pos returns the place of the cursor.
func (c *Cursor) Pos() int { return c.at }

// Since returns what lies between start and the cursor.
func (c *Cursor) Since(start int) llm.Span { return llm.Span{Start: start, End: c.at} }

// Bytes returns the bytes at s.
func (c *Cursor) Bytes(s llm.Span) []byte { return Slice(c.text, s) }

// Next returns the bytes from the cursor on: enough to tell the kind of the value.
func (c *Cursor) Next() []byte { return c.text[c.at:] }

// Wrong returns the fault that the value at the cursor is not what was wanted.
func (c *Cursor) Wrong(want string) error {
	return &Fault{Offset: c.at, What: "want " + want + ", got " + KindOf(c.Next())}
}

// Skip moves the cursor behind the value that begins at start, which may be a place
// that it has passed, and returns the place of the value.
func (c *Cursor) Skip(start int) llm.Span {
	c.at = valueEnd(c.text, start)
	return c.Since(start)
}

// Past returns the place of the value that begins at start and that a reader has just
// read; it skips the value if the reader left it or gave up on it with err.
func (c *Cursor) Past(start int, err error) llm.Span {
	if err != nil || c.at == start {
		return c.Skip(start)
	}
	return c.Since(start)
}

// NamePos returns where the name of the member begins that Object has just called for.
func (c *Cursor) NamePos() int { return c.name }

// Value moves the cursor behind the value it is at and returns that value's bytes.
func (c *Cursor) Value() []byte { return c.Bytes(c.Skip(c.at)) }

// Object moves the cursor through the object it is at, if it is at one. It calls member
// with each name and the cursor at its value; a value that member leaves is skipped.
func (c *Cursor) Object(member func(name []byte)) {
	c.items('{', '}', func(int) bool {
		c.name = c.at
		name := Name(c.Value())
		c.at = skip(c.text, c.at)
		if c.at >= len(c.text) || c.text[c.at] != ':' {
			return false
		}
		c.at = skip(c.text, c.at+1)
		start := c.at
		if member(name); c.at == start {
			c.Skip(start)
		}
		return c.at > start
	})
}

// Array moves the cursor through the array it is at, if it is at one. It calls element
// with each index and the cursor at the element; one that element leaves is skipped. It
// stops where element returns false.
func (c *Cursor) Array(element func(i int) bool) {
	c.items('[', ']', func(i int) bool {
		start := c.at
		if !element(i) {
			return false
		}
		if c.at == start {
			c.Skip(start)
		}
		return c.at > start
	})
}

// Objects moves the cursor through the array it is at and calls f with each element. An
// element that is no object is the error.
func (c *Cursor) Objects(f func(i int, obj []byte)) (err error) {
	c.Array(func(i int) bool {
		if !IsObject(c.Next()) {
			err = In(c.Wrong("an object"), "["+strconv.Itoa(i)+"]")
			return false
		}
		f(i, c.Value())
		return true
	})
	return err
}

// items calls item at each item between open and end, until it returns false.
func (c *Cursor) items(open, end byte, item func(i int) bool) {
	if c.at >= len(c.text) || c.text[c.at] != open {
		return
	}
	c.at = skip(c.text, c.at+1)
	for i := 0; c.at < len(c.text) && c.text[c.at] != end; i++ {
		if !item(i) {
			return
		}
		c.at = skip(c.text, c.at)
		if c.at < len(c.text) && c.text[c.at] == ',' {
			c.at = skip(c.text, c.at+1)
		}
	}
	c.at = min(c.at+1, len(c.text))
}
