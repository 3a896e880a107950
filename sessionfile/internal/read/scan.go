package read

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// The functions of this file walk valid JSON without decoding it. gjson would do
// the same, but it copies each line to look at a dozen of its fields.

// EachField calls visit for every field of an object, with the key's bytes
// between the quotes and the value's bytes.
func EachField(object []byte, visit func(key, value []byte)) {
	i := skipSpace(object, 1)
	for i < len(object) && object[i] == '"' {
		end := skipString(object, i)
		key := object[i+1 : end-1]
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ':' {
			return
		}
		i = skipSpace(object, i+1)
		end = skipValue(object, i)
		visit(key, object[i:end])
		i = skipSpace(object, end)
		if i >= len(object) || object[i] != ',' {
			return
		}
		i = skipSpace(object, i+1)
	}
}

// EachElement calls visit for every element of an array with its bytes, until it
// returns false. Any other value has none.
func EachElement(array []byte, visit func(value []byte) bool) {
	if len(array) == 0 || array[0] != '[' {
		return
	}
	i := skipSpace(array, 1)
	for i < len(array) && array[i] != ']' {
		end := skipValue(array, i)
		if end == i || !visit(array[i:end]) {
			return
		}
		i = skipSpace(array, end)
		if i >= len(array) || array[i] != ',' {
			return
		}
		i = skipSpace(array, i+1)
	}
}

// skipString returns the position behind the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return len(b)
		}
		quote := i + k
		escapes := 0
		for escapes < k && b[quote-1-escapes] == '\\' {
			escapes++
		}
		i = quote + 1
		if escapes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// skipValue returns the position behind the value that starts at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipComposite(b, i)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && !isSpace(b[i]) {
		i++
	}
	return i
}

func skipComposite(b []byte, i int) int {
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
		}
		i++
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Str returns the text of a JSON string, and "" for any other value.
func Str(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	return gjson.ParseBytes(value).String()
}

// IsTrue reports whether a JSON value is true.
func IsTrue(value []byte) bool { return len(value) == 4 && value[0] == 't' }
