package raw

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Field is a member that is to have a value. Without one the member is to go.
type Field struct {
	Name  string
	Value []byte
}

// Each calls member with the name and the value of each member of the body, as it came.
func (b *Body) Each(member func(name, value []byte)) {
	obj := b.frame.Raw[Leading(b.frame.Raw):]
	for k, v := range Members(obj, b.within()...) {
		member(Name(Slice(obj, k)), Slice(obj, v))
	}
}

// PutFields gives members of the body their values. What has its value already is not
// touched.
func (b *Body) PutFields(fields ...Field) {
	for _, f := range fields {
		at, old := b.Find(f.Name)
		switch {
		case bytes.Equal(old, f.Value):
		case len(f.Value) > 0:
			b.Put(f.Name, at, f.Value)
		case at.Len() > 0:
			b.Drop(f.Name)
		}
	}
}

// SetFields returns obj with the values of fields.
func SetFields(obj []byte, fields ...Field) []byte {
	for _, f := range fields {
		if len(f.Value) == 0 {
			obj = Delete(obj, f.Name)
			continue
		}
		obj = Set(obj, f.Name, f.Value)
	}
	return obj
}

// Empty reports whether the object obj has no members.
func Empty(obj []byte) bool {
	for range Members(obj) {
		return false
	}
	return true
}

// Number returns the value b as it is spelled if it is a number, else no text.
func Number(b []byte) string {
	if KindOf(b) != "number" || Check(b) != nil {
		return ""
	}
	return string(b)
}

// Digits returns n as JSON.
func Digits(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// Texts returns the strings of the array b, or b itself if it is a string.
func Texts(b []byte) []string {
	if IsString(b) {
		return []string{Unquote(b)}
	}
	var out []string
	for _, at := range Elements(b) {
		if lit := Slice(b, at); IsString(lit) {
			out = append(out, Unquote(lit))
		}
	}
	return out
}

// QuoteAll returns an array of texts.
func QuoteAll(texts []string) []byte {
	values := make([][]byte, len(texts))
	for i, t := range texts {
		values[i] = Quote(t)
	}
	return Array(values)
}

// OneLine returns the checked text b with spaces for its line ends, which the framing of
// a stream does not allow: they can only stand between values. b itself is left alone.
func OneLine(b []byte) []byte {
	if !bytes.ContainsAny(b, "\r\n") {
		return b
	}
	out := bytes.Clone(b)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}

// within returns the known places, within the object that the body is.
func (b *Body) within() []llm.Span {
	start := Leading(b.frame.Raw)
	known := slices.Clone(b.known)
	for i, s := range known {
		known[i] = Shift(s, -start)
	}
	return known
}
