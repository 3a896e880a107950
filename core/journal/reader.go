package journal

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A reader reads JSON in the one form in which [Encode] writes it: no space, the members
// of an object in the order of the format, each at most once. Other JSON it does not
// know: it gives up, and encoding/json decides. What it does read it reads as
// encoding/json would.
type reader struct {
	data  []byte // UTF-8
	at    int
	first bool // no member of the object that is being read has been read
	deep  int
	lost  bool   // it has given up
	plain []byte // of a string with escapes, without them
	into  forms
}

// forms are what a record is read into, each time anew.
type forms struct {
	line    line
	message message
	change  change
	usage   usage
}

// mostDeep is how deep objects may lie in one another. What is written stays far below.
const mostDeep = 32

// reset begins another text.
func (r *reader) reset(data []byte) {
	r.data, r.at, r.first, r.deep, r.lost = data, 0, false, 0, false
}

// done reports whether all of the text was read.
func (r *reader) done() bool { return !r.lost && r.at == len(r.data) }

// next returns the byte that comes next; 0 at the end.
func (r *reader) next() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// is moves on over text, if that comes next.
func (r *reader) is(text string) bool {
	end := r.at + len(text)
	if end > len(r.data) || string(r.data[r.at:end]) != text {
		return false
	}
	r.at = end
	return true
}

// want moves on over what has to come next.
func (r *reader) want(text string) { r.lost = !r.is(text) || r.lost }

// open begins an object. Its members follow, then its end.
func (r *reader) open() {
	r.want("{")
	r.deep++
	r.first, r.lost = true, r.lost || r.deep > mostDeep
}

func (r *reader) end() {
	r.want("}")
	r.deep--
	r.first = false
}

// has moves on to the value of a member, if it is the one that comes next.
func (r *reader) has(name string) bool {
	at := r.at
	if !r.first {
		if r.next() != ',' {
			return false
		}
		at++
	}
	end := at + len(name) + 3
	if end > len(r.data) || r.lost {
		return false
	}
	if d := r.data[at:end]; d[0] != '"' || string(d[1:len(d)-2]) != name || d[len(d)-2] != '"' || d[len(d)-1] != ':' {
		return false
	}
	r.at, r.first = end, false
	return true
}

// hasText reads a member that is a string, if it is the one that comes next.
func (r *reader) hasText(name string, to *string) {
	if r.has(name) {
		*to = r.text()
	}
}

func (r *reader) hasNumber(name string, to *int) {
	if r.has(name) {
		*to = r.number()
	}
}

func (r *reader) hasTruth(name string, to *bool) {
	if r.has(name) {
		*to = r.truth()
	}
}

// list reads a list of what item reads. It is never nil.
func list[T any](r *reader, item func(*reader, *T)) []T {
	out := []T{}
	r.want("[")
	if r.is("]") {
		return out
	}
	for !r.lost {
		var one T
		out = append(out, one)
		item(r, &out[len(out)-1])
		if !r.is(",") {
			r.want("]")
			break
		}
	}
	return out
}

// integer reads a number without fraction and exponent.
func integer[T ~int](r *reader, to *T) {
	minus := r.is("-")
	from, n := r.at, 0
	for c := r.next(); '0' <= c && c <= '9' && r.at-from < mostDigits; c = r.next() {
		n = n*10 + int(c-'0')
		r.at++
	}
	if digits := r.at - from; digits == 0 || digits == mostDigits || digits > 1 && r.data[from] == '0' {
		r.lost = true
	}
	if minus {
		n = -n
	}
	*to = T(n)
}

// mostDigits is the length of a number that may be too large.
const mostDigits = 19

func (r *reader) number() (n int) {
	integer(r, &n)
	return n
}

func (r *reader) truth() bool {
	if r.is("true") {
		return true
	}
	r.want("false")
	return false
}

// text reads a string.
func (r *reader) text() string { return string(r.literal()) }

// pointer is text for what may be missing.
func (r *reader) pointer() *string {
	s := r.text()
	return &s
}

func readText[T ~string](r *reader, to *T) { *to = T(r.literal()) }

// literal reads a string. The bytes are good until the next one.
func (r *reader) literal() []byte {
	r.want(`"`)
	from := r.at
	if r.skip(); r.next() == '"' {
		r.at++
		return r.data[from : r.at-1]
	}
	r.plain = append(r.plain[:0], r.data[from:r.at]...)
	for !r.lost && r.next() != '"' {
		r.escape()
		from = r.at
		r.skip()
		r.plain = append(r.plain, r.data[from:r.at]...)
	}
	r.want(`"`)
	return r.plain
}

// skip moves on over what stands for itself in a string.
func (r *reader) skip() {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	at := r.at
	for ; at+8 <= len(r.data); at += 8 {
		w := binary.LittleEndian.Uint64(r.data[at:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The lowest high bit that is set is that of the first byte below a blank, or
		// equal to one of the two; higher ones need not be right.
		if hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs; hit != 0 {
			r.at = at + bits.TrailingZeros64(hit)/8
			return
		}
	}
	for at < len(r.data) && r.data[at] >= ' ' && r.data[at] != '"' && r.data[at] != '\\' {
		at++
	}
	r.at = at
}

// escape reads what stands for another character.
func (r *reader) escape() {
	if r.at+2 > len(r.data) || r.data[r.at] != '\\' {
		r.lost = true
		return
	}
	c := r.data[r.at+1]
	r.at += 2
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r.rune()
		return
	default:
		r.lost = true
	}
	r.plain = append(r.plain, c)
}

// rune reads the four digits of a character.
func (r *reader) rune() {
	var c rune
	if r.at+4 > len(r.data) {
		r.lost = true
		return
	}
	for _, d := range r.data[r.at : r.at+4] {
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d && d <= 'f':
			d -= 'a' - 10
		case 'A' <= d && d <= 'F':
			d -= 'A' - 10
		default:
			r.lost = true
		}
		c = c<<4 | rune(d)
	}
	r.at += 4
	r.lost = r.lost || !utf8.ValidRune(c) // halves of a pair are not written
	r.plain = utf8.AppendRune(r.plain, c)
}

// member reads the name of a member of any kind.
func (r *reader) member() []byte {
	if !r.first {
		r.want(",")
	}
	r.first = false
	name := r.literal()
	r.want(":")
	return name
}

// pass moves on over a value of any kind.
func (r *reader) pass() {
	switch r.next() {
	case '"':
		r.literal()
	case '{':
		r.open()
		for !r.lost && r.next() != '}' {
			r.member()
			r.pass()
		}
		r.end()
	case '[':
		r.deep++
		r.lost = r.lost || r.deep > mostDeep
		list(r, func(r *reader, _ *struct{}) { r.pass() })
		r.deep--
	case 't', 'f':
		r.truth()
	default:
		r.number()
	}
}
