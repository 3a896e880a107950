package raw

import (
	"bytes"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Trim returns b without the JSON white space around it.
func Trim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// Leading returns the number of white space bytes that b begins with.
func Leading(b []byte) int { return skip(b, 0) }

// Slice returns the bytes of b at s. Appending to them does not reach into b.
func Slice(b []byte, s llm.Span) []byte { return b[s.Start:s.End:s.End] }

// KindOf names the kind of the value b: string, object, array, number, boolean,
// null, or nothing for no bytes.
func KindOf(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	switch b[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// IsString reports whether the value b is a string.
func IsString(b []byte) bool { return len(b) > 0 && b[0] == '"' }

// IsObject reports whether the value b is an object.
func IsObject(b []byte) bool { return len(b) > 0 && b[0] == '{' }

// IsArray reports whether the value b is an array.
func IsArray(b []byte) bool { return len(b) > 0 && b[0] == '[' }

// IsNone reports whether the value b is null or not there.
func IsNone(b []byte) bool { return len(b) == 0 || b[0] == 'n' }

// Members returns the places of each name (a string literal) and value of the
// object obj, in order. Values that begin where one of the known spans begins
// are taken to end where it ends, which saves reading them.
func Members(obj []byte, known ...llm.Span) iter.Seq2[llm.Span, llm.Span] {
	return func(yield func(name, value llm.Span) bool) {
		if !IsObject(obj) {
			return
		}
		for i := skip(obj, 1); i < len(obj) && obj[i] == '"'; {
			name := llm.Span{Start: i, End: stringEnd(obj, i)}
			i = skip(obj, name.End)
			if i >= len(obj) || obj[i] != ':' {
				return
			}
			i = skip(obj, i+1)
			value := llm.Span{Start: i, End: knownEnd(known, i)}
			if value.End <= i || value.End > len(obj) {
				value.End = valueEnd(obj, i)
			}
			if value.Len() == 0 || !yield(name, value) {
				return
			}
			i = skip(obj, value.End)
			if i >= len(obj) || obj[i] != ',' {
				return
			}
			i = skip(obj, i+1)
		}
	}
}

func knownEnd(known []llm.Span, start int) int {
	for _, s := range known {
		if s.Start == start {
			return s.End
		}
	}
	return 0
}

// Elements returns the place of each element of the array arr.
func Elements(arr []byte) []llm.Span {
	if !IsArray(arr) {
		return nil
	}
	var spans []llm.Span
	for i := skip(arr, 1); i < len(arr) && arr[i] != ']'; {
		s := llm.Span{Start: i, End: valueEnd(arr, i)}
		if s.Len() == 0 {
			break
		}
		spans = append(spans, s)
		i = skip(arr, s.End)
		if i >= len(arr) || arr[i] != ',' {
			break
		}
		i = skip(arr, i+1)
	}
	return spans
}

// Spans returns the places of the values of the named members of obj, of zero length
// for what is not there.
func Spans(obj []byte, names ...string) []llm.Span {
	spans := make([]llm.Span, len(names))
	for name, value := range Members(obj) {
		if i := oneOf(obj[name.Start:name.End], names); i >= 0 {
			spans[i] = value
		}
	}
	return spans
}

// oneOf returns which of names a string literal reads as; -1: none.
func oneOf(lit []byte, names []string) int {
	text := Name(lit)
	for i, name := range names {
		if string(text) == name && len(lit) >= 2 {
			return i
		}
	}
	return -1
}

// Values returns the values of the named members of obj, nil for what is not there.
func Values(obj []byte, names ...string) [][]byte {
	values := make([][]byte, len(names))
	for name, value := range Members(obj) {
		if i := oneOf(obj[name.Start:name.End], names); i >= 0 {
			values[i] = Slice(obj, value)
		}
	}
	return values
}

// Value returns the value of one member of obj, nil if it is not there.
func Value(obj []byte, name string) []byte {
	_, value := Member(obj, name)
	if value.Len() == 0 {
		return nil
	}
	return Slice(obj, value)
}

// Member returns the place of the last member of obj with that name: of the
// whole member and of its value. Both are of zero length if there is none.
func Member(obj []byte, name string, known ...llm.Span) (member, value llm.Span) {
	for k, v := range Members(obj, known...) {
		if Named(obj[k.Start:k.End], name) {
			member, value = llm.Span{Start: k.Start, End: v.End}, v
		}
	}
	return member, value
}

// Named reports whether the string literal lit reads as name.
func Named(lit []byte, name string) bool {
	// With something escaped a literal is longer than what it reads as.
	return len(lit) >= len(name)+2 && string(Name(lit)) == name
}

// Name returns the text of the string literal lit, a member's name, without a copy
// where nothing is escaped.
func Name(lit []byte) []byte {
	if len(lit) < 2 {
		return nil
	}
	if bytes.IndexByte(lit, '\\') >= 0 {
		return []byte(Unquote(lit))
	}
	return lit[1 : len(lit)-1]
}

// Shift returns s moved by n.
func Shift(s llm.Span, n int) llm.Span {
	return llm.Span{Start: s.Start + n, End: s.End + n}
}

// skip returns the place of the first byte at or after i that is not white space.
func skip(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// valueEnd returns where the value that begins at i ends.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return bracketEnd(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', ':', ' ', '\n', '\r', '\t':
			return i
		}
	}
	return i
}

// bracketEnd returns where the array or object that begins at i ends.
func bracketEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// stringEnd returns where the string literal that begins at i ends. It goes from quote
// to quote, because most strings are long and have few.
func stringEnd(b []byte, i int) int {
	if end := quick(b, i+1); end > 0 {
		return end
	}
	for j := i + 1; ; j++ {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return len(b)
		}
		j += k
		n := 0
		for p := j - 1; p > i && b[p] == '\\'; p-- {
			n++
		}
		if n%2 == 0 {
			return j + 1
		}
	}
}
