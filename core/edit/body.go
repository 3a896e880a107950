package edit

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// body returns the archive of span, written into buf where that has room for about so many bytes.
// See the package comment for its format.
func (s Scene) body(span Span, room int, buf []byte) []byte {
	s = s.placed()
	w := lines{out: buf[:0]}
	if room > cap(buf) {
		w.out = make([]byte, 0, room)
	}
	w.begin()
	w.number("archive", 1)
	w.span(span)
	w.end()
	archives, inserts := s.standing.archivesFrom(span.From), s.standing.insertsFrom(span.From+1)
	for id := span.From; id < span.To; id++ {
		inserts = w.inserted(inserts, id+1)
		for len(archives) > 0 && archives[0].Span.From < id {
			archives = archives[1:]
		}
		if len(archives) > 0 && archives[0].Span.From == id && span.Covers(archives[0].Span) {
			a := archives[0]
			w.inner(a)
			inserts = w.inserted(inserts, a.Span.To)
			id = a.Span.To - 1
			continue
		}
		w.message(s, s.Messages[id-1])
	}
	return w.out
}

// About what an archive takes for each token and each item, so that it need not grow much.
const tokenBytes, itemBytes = 4, 128

// roomFor returns about the bytes of an archive of so many items and tokens.
func roomFor(items, tokens int) int { return max(tokens, 0)*tokenBytes + items*itemBytes }

// lines are lines of JSON, as encoding/json would write them without the escapes of HTML.
type lines struct {
	out  []byte
	more bool // the object has a member
}

func (w *lines) begin() { w.out, w.more = append(w.out, '{'), false }

func (w *lines) end() { w.out = append(w.out, '}', '\n') }

// name begins a member. Names need no escapes.
func (w *lines) name(name string) {
	if w.more {
		w.out = append(w.out, ',')
	}
	w.more = true
	w.out = append(append(append(w.out, '"'), name...), '"', ':')
}

func (w *lines) number(name string, n int) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, int64(n), 10)
}

func (w *lines) text(name, s string) {
	w.name(name)
	w.out = quoted(w.out, s)
}

// other writes a member whose value encoding/json writes.
func (w *lines) other(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil { // cannot be: only bytes and texts go in
		return
	}
	w.name(name)
	w.out = append(w.out, b...)
}

func (w *lines) span(span Span) {
	w.number("from", int(span.From))
	w.number("to", int(span.To))
}

// inserted writes the notes that stand before message end, and returns the others.
func (w *lines) inserted(inserts []*Edit, end llm.MessageID) []*Edit {
	for len(inserts) > 0 && inserts[0].Span.From < end {
		w.notes(inserts[0].Notes)
		inserts = inserts[1:]
	}
	return inserts
}

func (w *lines) notes(notes []llm.Message) {
	for _, n := range notes {
		w.begin()
		w.text("note", n.Text())
		w.end()
	}
}

// inner writes an archive that goes into this one.
func (w *lines) inner(a *Edit) {
	w.begin()
	w.text("archive", string(a.Refs[0]))
	w.span(a.Span)
	w.end()
	w.notes(a.Notes)
}

func (w *lines) message(s Scene, m llm.Message) {
	w.frame(m)
	for n, p := range m.Parts {
		w.begin()
		w.number("message", int(m.ID))
		w.text("role", m.Role.String())
		w.text("origin", m.Origin.String())
		w.number("part", n)
		w.text("kind", KindOf(p))
		if s.Own != nil {
			if c, ok := s.Turns.CallFor(int(m.ID)-1, n); ok && s.Own(c.Name) {
				w.text("own", c.Name)
			}
		}
		w.content(s.storedAs(m, n), p)
		w.end()
	}
}

// frame writes the bytes of a message around its parts, if it came as one object.
func (w *lines) frame(m llm.Message) {
	raw := m.Envelope.Raw
	if raw == nil || len(m.Envelope.Spans) != len(m.Parts) {
		return
	}
	w.begin()
	w.number("message", int(m.ID))
	defer w.end()
	pieces, valid := [][]byte{}, true
	at := 0
	for _, sp := range m.Envelope.Spans {
		if sp.Start < at || sp.End < sp.Start || sp.End > len(raw) {
			w.other("frame64", [][]byte{raw})
			return
		}
		pieces = append(pieces, raw[at:sp.Start])
		at = sp.End
	}
	pieces = append(pieces, raw[at:])
	for _, p := range pieces {
		valid = valid && utf8.Valid(p)
	}
	if !valid {
		w.other("frame64", pieces)
		return
	}
	w.name("frame")
	for i, p := range pieces {
		w.out = append(w.out, "[,"[min(i, 1)])
		w.out = quoted(w.out, string(p))
	}
	w.out = append(w.out, ']')
}

// content writes one part: by its Ref if it is stored already, else its own bytes or
// what it says. What is empty is left out.
func (w *lines) content(ref llm.Ref, p llm.Part) {
	if ref != "" {
		w.text("ref", string(ref))
		return
	}
	raw := p.Bytes()
	plain, coded, text := "raw", "raw64", string(raw)
	if raw == nil {
		plain, coded, text = "text", "text64", textOf(p)
	}
	switch {
	case text == "":
	case utf8.ValidString(text):
		w.text(plain, text)
	default:
		w.other(coded, []byte(text))
	}
	if t, ok := p.(llm.Thinking); ok && raw == nil && t.Signature != "" {
		w.text("signature", t.Signature)
	}
}

// storedAs returns the Ref under which part n of m is stored already; "" if it is not.
func (s Scene) storedAs(m llm.Message, n int) llm.Ref {
	for _, old := range s.shown(m.ID, n) {
		if len(old.Refs) > 0 {
			return old.Refs[0]
		}
	}
	if r, ok := m.Parts[n].(llm.ToolResult); ok {
		if stub, stored := StubOf(r); stored {
			return stub.Ref
		}
	}
	return ""
}

// KindOf names the kind of a part.
func KindOf(p llm.Part) string {
	switch p.(type) {
	case llm.Text:
		return "text"
	case llm.Thinking:
		return "thinking"
	case llm.ToolCall:
		return "tool_call"
	case llm.ToolResult:
		return "tool_result"
	case llm.Media:
		return "media"
	case llm.Stub:
		return "stub"
	}
	return "opaque"
}

func textOf(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Thinking:
		return p.Text
	case llm.ToolCall:
		return p.Name + " " + p.Args
	case llm.ToolResult:
		return string(Stored(p))
	case llm.Stub:
		return p.Text
	}
	return ""
}

// quoted appends s as a string of JSON. What is no UTF-8 becomes U+FFFD.
func quoted(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || n != 1) && r != '\u2028' && r != '\u2029' {
				i += n
				continue
			}
			out = append(out, s[done:i]...)
			out = append(out, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				out = append(out, digits[r>>shift&0xf])
			}
			i += n
			done = i
			continue
		}
		out = append(out, s[done:i]...)
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		}
		i++
		done = i
	}
	return append(append(out, s[done:]...), '"')
}
