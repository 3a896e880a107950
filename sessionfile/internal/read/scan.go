package read

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
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
	text := value[1 : len(value)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	return unescape(text)
}

// unescape returns what stands between the quotes of a valid string. Half of a surrogate
// pair is read as U+FFFD.
func unescape(text []byte) string {
	out := make([]byte, 0, len(text))
	for {
		k := bytes.IndexByte(text, '\\')
		if k < 0 || k+1 == len(text) {
			return string(append(out, text...))
		}
		out = append(out, text[:k]...)
		size := 2
		switch c := text[k+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			var r rune
			r, size = escaped(text[k:])
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		text = text[k+size:]
	}
}

// escaped returns the character that a text begins with as an escape of four digits, or as
// two of a pair, and how many bytes that takes.
func escaped(text []byte) (rune, int) {
	if len(text) < 6 {
		return utf8.RuneError, len(text)
	}
	r := unit(text[2:6])
	if r >= 0xD800 && r < 0xDC00 && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(text[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// unit returns the number that hexadecimal digits are.
func unit(digits []byte) (v rune) {
	for _, c := range digits {
		if isDigit(c) {
			v = v<<4 | rune(c-'0')
		} else {
			v = v<<4 | rune(c|0x20-'a'+10)
		}
	}
	return v
}

// Field returns the value of a field of an object, the last one of its name; nil if there
// is none, or the value is no object.
func Field(object []byte, name string) (found []byte) {
	if len(object) > 0 && object[0] == '{' {
		EachField(object, func(key, value []byte) {
			if string(key) == name {
				found = value
			}
		})
	}
	return found
}

// Compact returns a copy of a valid JSON value without white space between its tokens.
func Compact(value []byte) []byte {
	out, from := make([]byte, 0, len(value)), 0
	for i := 0; i < len(value); {
		switch {
		case value[i] == '"':
			i = skipString(value, i)
		case isSpace(value[i]):
			out = append(out, value[from:i]...)
			i++
			from = i
		default:
			i++
		}
	}
	out = append(out, value[from:]...)
	if len(out) < cap(out)/2 { // it was indented, and may be held
		return bytes.Clone(out)
	}
	return out
}

// IsTrue reports whether a JSON value is true.
func IsTrue(value []byte) bool { return len(value) == 4 && value[0] == 't' }
