package token

import (
	"math/bits"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What the fields and the punctuation around a part's content take on the wire,
// in bytes. They are rounded up from the largest of the dialects, and used only
// for parts that were made here and so have no bytes yet.
const (
	messageFrame = 48
	saidFrame    = 56 // more for each text of a model: it may become a message of its own
	textFrame    = 32
	callFrame    = 96
	resultFrame  = 96
	mediaFrame   = 112
	sectionFrame = 32
	toolFrame    = 72
)

// messageBytes returns the bytes of m on the wire. Of a message that came as one
// object these are its bytes, with those of each part that was replaced since in the
// place of the part.
func messageBytes(m llm.Message) int {
	n, whole := envelopeBytes(m)
	if whole {
		return n
	}
	if n == 0 {
		n = madeFrame(m)
	}
	for _, p := range m.Parts {
		n += partBytes(p)
	}
	return n
}

// envelopeBytes returns what the object that m came as has around its parts, 0 if it came as
// none; whole: it has all of m, and its parts cannot be told from it.
func envelopeBytes(m llm.Message) (n int, whole bool) {
	e := m.Envelope
	n = len(e.Raw)
	if n > 0 && len(e.Spans) != len(m.Parts) {
		return n, true
	}
	for _, s := range e.Spans {
		n -= s.Len()
	}
	return n, false
}

// madeFrame returns the bytes around the parts of a message that is written here.
func madeFrame(m llm.Message) int {
	n := messageFrame
	if m.Role != llm.RoleAssistant {
		return n
	}
	for _, p := range m.Parts {
		switch p.(type) {
		case llm.Text, llm.Stub:
			n += saidFrame
		}
	}
	return n
}

// WireBytes returns the bytes that p takes in a request, rounded up: it may go to a
// dialect other than that which it came in.
func WireBytes(p llm.Part) int { return partBytes(p) + partMore(p) }

// partBytes returns the bytes of p on the wire: those it came with, else an estimate.
func partBytes(p llm.Part) int {
	if raw := p.Bytes(); raw != nil {
		return len(raw)
	}
	return madeBytes(p)
}

// partMore returns the bytes that another dialect may take for p beyond those it came
// with: arguments that stood as an object may have to become a string.
func partMore(p llm.Part) int {
	raw := p.Bytes()
	if raw == nil {
		return 0
	}
	switch p.(type) {
	case llm.Text, llm.ToolCall, llm.ToolResult:
		return max(madeBytes(p)-len(raw), 0)
	}
	return 0
}

func messageMore(m llm.Message) int {
	n := 0
	if around, _ := envelopeBytes(m); around > 0 {
		n = max(madeFrame(m)-around, 0)
	}
	for _, p := range m.Parts {
		n += partMore(p)
	}
	return n
}

// madeBytes returns the bytes of a part that is written here.
func madeBytes(p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return textFrame + quoted(p.Text)
	case llm.Thinking:
		return textFrame + quoted(p.Text) + quoted(p.Signature)
	case llm.ToolCall:
		return callFrame + quoted(p.CallID) + quoted(p.Name) + quoted(p.Args)
	case llm.ToolResult:
		n := resultFrame + quoted(p.CallID)
		for _, c := range p.Content {
			n += partBytes(c)
		}
		return n
	case llm.Media:
		return mediaFrame + p.Size
	case llm.Stub:
		return textFrame + quoted(p.Text)
	}
	return 0
}

func sectionBytes(s llm.Section) int {
	if raw := s.Bytes(); raw != nil {
		return len(raw)
	}
	if s.Text == "" {
		return 0
	}
	return sectionFrame + quoted(s.Text)
}

func toolBytes(t llm.Tool) int {
	if raw := t.Bytes(); raw != nil {
		return len(raw)
	}
	return toolFrame + quoted(t.Name) + quoted(t.Description) + len(t.Schema)
}

// quoted returns the length of s inside a JSON string. It looks at eight bytes at a
// time: all outputs without bytes of their own pass through here.
func quoted(s string) int {
	n := len(s)
	if !utf8.ValidString(s) {
		n += 5 * invalid(s) // each of them leaves as \ufffd
	}
	for ; len(s) >= 8; s = s[8:] {
		n += escapes(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < ' ':
			n += 5 // \u00XX
		}
	}
	return n
}

// invalid returns the bytes of s that are no UTF-8.
func invalid(s string) int {
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			n++
		}
		i += size
	}
	return n
}

// Masks of the eight bytes of a word.
const (
	ones   = 0x0101010101010101
	tops   = 0x8080808080808080
	blanks = ones * ' '
)

// escapes returns by how much the eight bytes of a word grow inside a JSON string.
func escapes(word uint64) int {
	n := bits.OnesCount64(equal(word, '"') | equal(word, '\\'))
	control := ^((word &^ tops) + tops - blanks) &^ word & tops
	if control == 0 {
		return n
	}
	short := equal(word, '\n') | equal(word, '\r') | equal(word, '\t')
	return n + 5*bits.OnesCount64(control) - 4*bits.OnesCount64(short)
}

// equal sets the highest bit of each byte of word that is c.
func equal(word uint64, c byte) uint64 {
	x := word ^ ones*uint64(c)
	return ^((x &^ tops) + ^uint64(tops) | x) & tops
}
