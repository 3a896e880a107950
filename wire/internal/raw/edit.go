package raw

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Object writes a JSON object member by member, in the order of the calls.
type Object struct{ buf []byte }

// Text adds a member with a text value.
func (o *Object) Text(name, value string) *Object {
	o.name(name)
	o.buf = AppendQuote(o.buf, value)
	return o
}

// Stated adds a member with a text value, unless the text is empty.
func (o *Object) Stated(name, value string) *Object {
	if value == "" {
		return o
	}
	return o.Text(name, value)
}

// Raw adds a member with a value that is JSON already. No bytes, no member.
func (o *Object) Raw(name string, value []byte) *Object {
	if len(value) == 0 {
		return o
	}
	o.name(name)
	o.buf = append(o.buf, value...)
	return o
}

// Member adds bytes that are a name and a value already.
func (o *Object) Member(member []byte) *Object {
	o.comma()
	o.buf = append(o.buf, member...)
	return o
}

// Bytes returns the object.
func (o *Object) Bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

func (o *Object) comma() {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
		return
	}
	o.buf = append(o.buf, ',')
}

func (o *Object) name(name string) {
	o.comma()
	o.buf = append(AppendQuote(o.buf, name), ':')
}

// Array returns an array of values that are JSON already.
func Array(values [][]byte) []byte {
	n := 2
	for _, v := range values {
		n += len(v) + 1
	}
	out := append(make([]byte, 0, n), '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// Replace returns b with the bytes at s replaced.
func Replace(b []byte, s llm.Span, with []byte) []byte {
	return bytes.Join([][]byte{b[:s.Start], with, b[s.End:]}, nil)
}

// Set returns obj with another value for the named member; a member that is not
// there is added at the end. A text that is no object, and one for which there is no
// value, is returned as it is.
func Set(obj []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return obj
	}
	if _, at := Member(obj, name); at.Len() > 0 {
		return Replace(obj, at, value)
	}
	end := len(obj) - 1
	if end < 1 || obj[end] != '}' {
		return obj
	}
	member := append(append(Quote(name), ':'), value...)
	if last := Trim(obj[:end]); len(last) > 1 {
		member = append([]byte{','}, member...)
		end = len(last)
	}
	return Replace(obj, llm.Span{Start: end, End: end}, member)
}

// Delete returns obj without the members of that name, each with one comma beside it.
func Delete(obj []byte, name string) []byte {
	var changes []Change
	kept := false // something stays before the member at hand
	end := 0      // of the member before it
	for k, v := range Members(obj) {
		switch {
		case !Named(obj[k.Start:k.End], name):
			kept = true
		case kept:
			changes = append(changes, Change{At: llm.Span{Start: end, End: v.End}})
		default:
			next := skip(obj, v.End)
			if next < len(obj) && obj[next] == ',' {
				next = skip(obj, next+1)
			} else {
				next = v.End
			}
			changes = append(changes, Change{At: llm.Span{Start: k.Start, End: next}})
		}
		end = v.End
	}
	return Apply(obj, changes)
}

// Patch returns the bytes of e with new bytes in the place of some parts; a nil
// entry leaves its part alone. e must fit (see [Fits]).
func Patch(e llm.Envelope, with [][]byte) []byte {
	out := make([]byte, 0, len(e.Raw))
	done := 0
	for i, s := range e.Spans {
		if with[i] == nil {
			continue
		}
		out = append(append(out, e.Raw[done:s.Start]...), with[i]...)
		done = s.End
	}
	return append(out, e.Raw[done:]...)
}

// Fits reports whether the envelope of m has a place for each of its parts.
func Fits(m llm.Message) bool {
	e := m.Envelope
	return len(e.Raw) > 0 && len(e.Spans) == len(m.Parts) && inside(e.Spans, len(e.Raw))
}

// Untouched reports whether every part of m has the very bytes that its envelope,
// which must fit, has in its place.
func Untouched(m llm.Message) bool {
	for i, s := range m.Envelope.Spans {
		if !InPlace(m.Parts[i], m.Envelope, s) {
			return false
		}
	}
	return true
}

// InPlace reports whether p has the bytes that e has at s.
func InPlace(p llm.Part, e llm.Envelope, s llm.Span) bool {
	data := p.Bytes()
	return data != nil && bytes.Equal(data, e.Raw[s.Start:s.End])
}

// inside reports whether spans ascend and end at n or before.
func inside(spans []llm.Span, n int) bool {
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End < s.Start || s.End > n {
			return false
		}
		at = s.End
	}
	return true
}
