package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Stored returns the bytes that are kept for a result that leaves the view: the
// text of an output that is one text, else the part's raw bytes.
func Stored(r llm.ToolResult) []byte {
	if text, ok := TextOf(r); ok {
		return []byte(text)
	}
	if r.Data != nil {
		return r.Data
	}
	var b []byte
	for _, c := range r.Content {
		if t, ok := c.(llm.Text); ok {
			b = append(append(b, t.Text...), '\n')
			continue
		}
		b = append(b, c.Bytes()...)
	}
	return b
}

// TextOf returns the text of an output that is one text, the only kind that can be shown
// in part.
func TextOf(r llm.ToolResult) (string, bool) {
	if len(r.Content) != 1 {
		return "", false
	}
	t, ok := r.Content[0].(llm.Text)
	return t.Text, ok
}

// StubOf returns the stub in r's content, if r was replaced by one.
func StubOf(r llm.ToolResult) (llm.Stub, bool) {
	for _, c := range r.Content {
		if s, ok := c.(llm.Stub); ok {
			return s, true
		}
	}
	return llm.Stub{}, false
}

// Form is how much of an output is still shown.
type Form int

// The forms, from whole to least.
const (
	Whole   Form = iota // as it came
	Preview             // capped: a part of it, and its Ref
	Bare                // one line: what it was, and its Ref
)

// RefLine is what follows a text that names no Ref where the model can read one back.
const RefLine = "\nref={ref}"

// FormOf returns the form in which the view shows a result. Only forms that are
// made here are told apart by their text: a stub of more than one line, beside that
// of its Ref, is a preview.
func FormOf(r llm.ToolResult) Form {
	s, ok := StubOf(r)
	switch {
	case !ok:
		return Whole
	case strings.Contains(strings.TrimSuffix(s.Text, strings.Replace(RefLine, "{ref}", string(s.Ref), 1)), "\n"):
		return Preview
	}
	return Bare
}

// A Beginning says how much of an output {preview} holds: at most so many characters, at
// most so many bytes, where a figure is positive. The zero Beginning is nothing.
type Beginning struct{ Chars, Bytes int }

// Previews reports whether a template shows something of an output.
func Previews(template string) bool { return strings.Contains(template, "{preview}") }

// Of returns the beginning of text.
func (p Beginning) Of(text string) string {
	if p.Chars <= 0 || p.Bytes > 0 {
		text = cutBytes(text, p.Bytes)
	}
	if p.Chars > 0 {
		text = cutChars(text, p.Chars)
	}
	return text
}

// Stub plans to show sp as the scene's template says, {preview} with so much of the
// output.
func (s Scene) Stub(sp Spot, kind Kind, preview Beginning, why string) Plan {
	o := s.output(sp)
	v := s.values(sp)
	v.Preview = preview.Of(o.text)
	p := s.replace(sp, kind, Fill(s.Template, v), why)
	p.Bare = v.Preview == "" || !Previews(s.Template)
	return p
}

// CapArgs say how much of an output stays.
type CapArgs struct {
	Lines      int  // lines kept at the beginning and at the end; 0: any; not read with Ends
	LineLength int  // longest line in bytes; 0: any
	Bytes      int  // most bytes; 0: any
	Tokens     int  // most tokens; 0: any
	Ends       bool // show what says most of the output, not what comes first
}

// Cap plans to show only a part of sp: long lines cut, then whole lines from the
// beginning while they fit into Bytes, or, for Tokens, two thirds from
// the beginning and one third from the end. It plans nothing if all of it fits. Of an
// output that the host has stored it shows what it would of the whole, as far as the
// host read it.
//
// With Ends, a third of what Bytes and Tokens leave is for its first lines, a third for
// its last, the rest for lines that say what went wrong, with those around them. A line
// [… n lines, a to b …] says what is left out. JSON is shown by its shape, base64 and
// what is no text by its type and size, a table with its columns and rows counted. What
// is shown is never more than Bytes or Tokens, all such notes counted; the template is
// on top of that, as it is without Ends.
func (s Scene) Cap(sp Spot, a CapArgs) Plan {
	o := s.output(sp)
	tokens := max(sp.Tokens, sp.Stored.Tokens)
	if !o.known {
		return Plan{}
	}
	if o.isStored() {
		o.text = s.Ends.text(o.stored.Size, a.LineLength > 0)
	}
	kept, cut := s.shortened(o, tokens, a)
	if !cut {
		return Plan{}
	}
	v := s.values(sp)
	v.Text = kept
	shown := Fill(s.Template, v)
	if !strings.Contains(s.Template, "{text}") {
		shown = kept + shown
	}
	p := s.replace(sp, KindCap, shown, fmt.Sprintf("output of %d bytes is over the cap for one output", v.Bytes))
	p.Bare = kept == ""
	return p
}

// shortened returns what a cap leaves of an output of so many tokens, and whether that is
// not all of it.
func (s Scene) shortened(o output, tokens int, a CapArgs) (kept string, cut bool) {
	if a.Ends {
		return s.excerpted(o, tokens, a)
	}
	kept = o.text
	if a.Lines > 0 {
		kept = outerLines(kept, a.Lines)
	}
	if a.LineLength > 0 {
		kept = cutLines(kept, a.LineLength)
	}
	if a.Bytes > 0 {
		kept = wholeLines(kept, a.Bytes)
	}
	if a.Tokens > 0 && tokens > a.Tokens {
		text := kept
		kept = s.fitTokens(text, a.Tokens, func(room int) string { return headTail(text, room) })
	}
	return kept, kept != o.text || o.isStored() && a.cuts(o.stored, tokens)
}

// excerpted is shortened with Ends.
func (s Scene) excerpted(o output, tokens int, a CapArgs) (kept string, cut bool) {
	a.Lines = 0
	whole := llm.Stub{Size: len(o.text)}
	if o.isStored() {
		whole = o.stored
	}
	if !a.cuts(whole, tokens) && (a.LineLength == 0 || cutLines(o.text, a.LineLength) == o.text) {
		return o.text, false
	}
	x := s.excerptOf(o, a.LineLength)
	most := len(o.text)
	if a.Bytes > 0 {
		most = min(most, a.Bytes)
	}
	if a.Tokens > 0 && tokens > a.Tokens {
		return s.fitTokens(o.text, a.Tokens, func(room int) string { return x.within(min(room, most)) }), true
	}
	return x.within(most), true
}

// fitTokens returns what show leaves of text for so many bytes that it is at most limit
// tokens.
func (s Scene) fitTokens(text string, limit int, show func(room int) string) string {
	size := s.Size(llm.Text{Text: text})
	room := len(text) * limit / max(size, 1)
	for range 24 {
		kept := show(room)
		if s.Size(llm.Text{Text: kept}) <= limit {
			return kept
		}
		room = room * 7 / 8
	}
	return ""
}

// stored returns what is kept for the output at sp: a blob, or, where the host
// had put it into the store before, only its Ref and size.
func (s Scene) stored(sp Spot) (ref llm.Ref, size int, blobs []Blob) {
	r := s.original(sp)
	if stub, ok := StubOf(r); ok {
		return stub.Ref, stub.Size, nil
	}
	data := Stored(r)
	ref = llm.RefOf(data)
	return ref, len(data), []Blob{{ref, data}}
}

// values fills in what the templates say about an output.
func (s Scene) values(sp Spot) Values {
	r := s.original(sp)
	ref, size, _ := s.stored(sp)
	v := Values{Ref: ref, Tool: sp.Tool, Bytes: size, Lines: CountLines(r.Text()), Tokens: s.Size(r)}
	if stub, ok := StubOf(r); ok && stub.Lines > 0 { // else an earlier version recorded it
		v.Lines, v.Tokens = stub.Lines, stub.Tokens
	}
	return v
}

// replace plans the edit that shows text in place of sp. The edit holds no bytes
// of the part that it replaces; [Fold] adds them.
func (s Scene) replace(sp Spot, kind Kind, text, why string) Plan {
	r := s.original(sp)
	ref, size, blobs := s.stored(sp)
	now := llm.ToolResult{CallID: r.CallID, IsError: r.IsError, Content: []llm.Part{llm.Stub{Ref: ref, Text: text, Size: size}}}
	e := Edit{
		Op: Replace, Kind: kind, Span: Span{sp.ID, sp.ID + 1}, Part: sp.Part, Replacement: now,
		Refs: []llm.Ref{ref}, Before: sp.Tokens, After: s.Size(now), Low: s.Low, Why: why, Rule: s.Rule,
		Supersedes: s.holding(sp.ID, sp.Part),
	}
	return Plan{Edits: []Edit{e}, Blobs: blobs}
}

// holding returns the edits that show part n of message id in another form now.
func (s Scene) holding(id llm.MessageID, n int) []ID {
	var ids []ID
	for _, e := range s.shown(id, n) {
		ids = append(ids, e.ID)
	}
	return ids
}

// Join appends q to p.
func (p Plan) Join(q Plan) Plan {
	return Plan{Edits: append(p.Edits, q.Edits...), Blobs: append(p.Blobs, q.Blobs...)}
}

// cutBytes returns the first n bytes of s, cut back to the start of a rune.
func cutBytes(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutChars returns the first n characters of s, as Unicode counts them. A byte that is
// not UTF-8 is one.
func cutChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// cutLines cuts every line of s to at most n bytes.
func cutLines(s string, n int) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(s, "\n") {
		body, nl := strings.CutSuffix(line, "\n")
		b.WriteString(cutBytes(body, n))
		if nl {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// wholeLines returns as many whole lines of s as fit into n bytes; of a first
// line that is longer by itself, its beginning.
func wholeLines(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n+1], '\n'); i >= 0 {
		return s[:i]
	}
	return cutBytes(s, n)
}

// gap marks where the middle of a text is left out.
const gap = "[…]"

// outerLines keeps the first and the last n lines of s, with a marker between.
func outerLines(s string, n int) string {
	all := strings.SplitAfter(s, "\n")
	if len(all) <= 2*n+1 {
		return s
	}
	return strings.Join(all[:n], "") + gap + "\n" + strings.Join(all[len(all)-n:], "")
}

// headTail keeps two thirds of n bytes from the beginning of s and one third
// from its end, at line breaks where there are any, with a marker between.
func headTail(s string, n int) string {
	if n >= len(s) {
		return s
	}
	const marker = "\n" + gap + "\n"
	if n <= len(marker) {
		return ""
	}
	n -= len(marker)
	head := wholeLines(s, n*2/3)
	tail := s[len(s)-n/3:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if _, after, ok := strings.Cut(tail, "\n"); ok && after != "" {
		tail = after
	}
	return head + marker + tail
}
