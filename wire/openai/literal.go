package openai

import (
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A literal collects a text that comes in fragments, each a string literal, in the
// spelling of the provider: what is sent back should be what the provider would have
// sent in one piece. The zero literal is empty text.
type literal struct {
	spelled []byte // with the opening quote, without the closing one
	held    []byte // half of a surrogate pair, whose other half may come next
}

// add takes the next fragment and returns its text.
func (l *literal) add(fragment []byte) string {
	if len(fragment) < 2 {
		return ""
	}
	inner := fragment[1 : len(fragment)-1]
	if len(l.held) > 0 || endsInHalf(inner) {
		inner = append(l.held, inner...)
		l.held = nil
		if endsInHalf(inner) {
			cut := len(inner) - escapeLen
			l.held = append(l.held, inner[cut:]...)
			inner = inner[:cut]
		}
		fragment = append(append([]byte{'"'}, inner...), '"')
	}
	text := raw.Unquote(fragment)
	if len(l.spelled) == 0 {
		l.spelled = append(l.spelled, '"')
	}
	if !utf8.Valid(inner) { // so that the fragments' texts add up to the whole text
		fragment = raw.Quote(text)
		inner = fragment[1 : len(fragment)-1]
	}
	l.spelled = append(l.spelled, inner...)
	return text
}

// addText takes a fragment that is no literal.
func (l *literal) addText(text string) string { return l.add(raw.Quote(text)) }

// rest returns the text of what is still held when nothing follows.
func (l *literal) rest() string {
	if len(l.held) == 0 {
		return ""
	}
	l.held = nil
	return l.addText(string(utf8.RuneError))
}

// empty reports whether there is no text yet.
func (l *literal) empty() bool { return len(l.spelled)+len(l.held) <= 1 }

// bytes returns the whole literal.
func (l *literal) bytes() []byte {
	if len(l.spelled) == 0 {
		return []byte(`""`)
	}
	return append(l.spelled, '"')
}

// text returns the whole text.
func (l *literal) text() string { return raw.Unquote(l.bytes()) }

// escapeLen is the length of \uXXXX.
const escapeLen = 6

// endsInHalf reports whether inner, the inside of a string literal, ends in the escape
// of a high surrogate (U+D800 to U+DBFF).
func endsInHalf(inner []byte) bool {
	at := len(inner) - escapeLen
	if at < 0 || inner[at] != '\\' || inner[at+1] != 'u' {
		return false
	}
	if c := inner[at+2]; c != 'd' && c != 'D' {
		return false
	}
	if c := inner[at+3] | 0x20; c != '8' && c != '9' && c != 'a' && c != 'b' {
		return false
	}
	slashes := 0
	for i := at; i >= 0 && inner[i] == '\\'; i-- {
		slashes++
	}
	return slashes%2 == 1
}
