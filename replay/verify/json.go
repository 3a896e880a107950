package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A SyntaxError says where a body is not what was expected.
type SyntaxError struct {
	Offset int    // in bytes from the beginning of the body or value
	Want   string // what should stand there
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("verify: parse: byte %d, want %s", e.Offset, e.Want)
}

// A span is the half-open range [start, end) of bytes.
type span struct{ start, end int }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

// A cursor reads JSON from left to right. What it returns as a value was checked.
type cursor struct {
	b []byte
	i int
}

// space skips white space and returns the next byte, or 0 at the end.
func (c *cursor) space() byte {
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// take consumes one byte.
func (c *cursor) take(want byte) error {
	if c.space() != want || c.i >= len(c.b) {
		return &SyntaxError{c.i, strconv.QuoteRune(rune(want))}
	}
	c.i++
	return nil
}

// value consumes one value.
func (c *cursor) value() (span, error) {
	c.space()
	s := span{c.i, skip(c.b, c.i)}
	if !json.Valid(s.of(c.b)) {
		return s, &SyntaxError{c.i, "a JSON value"}
	}
	c.i = s.end
	return s, nil
}

// name consumes the name of a member and its colon.
func (c *cursor) name() (span, error) {
	if c.space() != '"' {
		return span{}, &SyntaxError{c.i, "a member's name"}
	}
	s, err := c.value()
	if err != nil {
		return s, err
	}
	return s, c.take(':')
}

// pass consumes one value of a checked text and returns its bytes.
func (c *cursor) pass() []byte {
	s := span{c.i, skip(c.b, c.i)}
	c.i = s.end
	return s.of(c.b)
}

// more consumes what is between two items of a checked list or object, or its end.
// It reports whether another item follows.
func (c *cursor) more(end byte) bool {
	next := c.space()
	if next == ',' {
		c.i++
		next = c.space()
	}
	if next == end {
		c.i++
	}
	return next != end && next != 0
}

// skip returns the end of the value that begins at b[i]. It does not check the
// value; the end of something else than JSON is somewhere in [i, len(b)].
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}':
			return i
		}
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' { // ends at the opening quote at the latest
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// A member is one member of an object.
type member struct {
	name  string
	at    span // from the name to the end of the value
	raw   []byte
	value []byte
}

// members returns the members of a checked object, none of anything else.
func members(b []byte) []member {
	c := cursor{b: b}
	if c.take('{') != nil {
		return nil
	}
	var out []member
	for c.space() == '"' {
		name := span{c.i, skipString(b, c.i)}
		c.i = name.end
		_ = c.take(':') // there: b was checked
		c.space()
		value := span{c.i, skip(b, c.i)}
		at := span{name.start, value.end}
		out = append(out, member{unquote(name.of(b)), at, at.of(b), value.of(b)})
		c.i = value.end
		if c.space() == ',' {
			c.i++
		}
	}
	return out
}

// elements returns the elements of a checked array, none of anything else.
func elements(b []byte) [][]byte {
	c := cursor{b: b}
	if c.take('[') != nil {
		return nil
	}
	var out [][]byte
	for next := c.space(); next != ']' && next != 0; next = c.space() {
		value := span{c.i, skip(b, c.i)}
		if value.end == value.start {
			break
		}
		out = append(out, value.of(b))
		c.i = value.end
		if c.space() == ',' {
			c.i++
		}
	}
	return out
}

// get returns the value of a member, nil if there is none. The last one counts.
func get(ms []member, name string) []byte {
	var v []byte
	for _, m := range ms {
		if m.name == name {
			v = m.value
		}
	}
	return v
}

// text returns the text of a member, empty if it is no string.
func text(ms []member, name string) string { return unquote(get(ms, name)) }

// first returns the first byte of a value, 0 if there is none.
func first(v []byte) byte {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// none reports whether a value says nothing: absent, null, "" or an empty list or object.
func none(v []byte) bool {
	switch first(v) {
	case 0, 'n':
		return true
	case '"':
		return len(v) == 2
	case '[', '{':
		return len(bytes.TrimSpace(v[1:len(v)-1])) == 0
	}
	return false
}

// unquote returns what a checked string says, empty if v is no string. Bytes that
// are no UTF-8 stay; half of a surrogate pair becomes U+FFFD.
func unquote(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	v = v[1 : len(v)-1]
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v)
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); {
		if v[i] != '\\' || i+1 >= len(v) {
			out = append(out, v[i])
			i++
			continue
		}
		if v[i+1] != 'u' {
			out = append(out, unescape(v[i+1]))
			i += 2
			continue
		}
		r := hex4(v[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if i+6 <= len(v) && v[i] == '\\' && v[i+1] == 'u' {
				low = hex4(v[i+2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

func unescape(c byte) byte {
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return c
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// valid returns s with U+FFFD in place of every byte that is no UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// without returns an object without its members of that name, b itself if there are
// none. A member goes with the comma before it, the first one with that after it.
func without(b []byte, name string) []byte {
	for first(b) == '{' && bytes.Contains(b, []byte(`"`+name+`"`)) {
		ms := members(b)
		i := slices.IndexFunc(ms, func(m member) bool { return m.name == name })
		if i < 0 {
			break
		}
		cut := ms[i].at
		if i > 0 {
			cut.start = ms[i-1].at.end
		} else if len(ms) > 1 {
			cut.end = ms[1].at.start
		}
		b = slices.Concat(b[:cut.start], b[cut.end:])
	}
	return b
}
