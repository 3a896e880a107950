package ground

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Text is what a part says, ready to be searched for spans.
type Text struct {
	text  string
	words []uint32 // sorted, each once
}

// TextOf returns what a part says. Of a call these are the tool's name and all strings and
// numbers in its arguments, decoded; what is not text says nothing, nor does thinking, which
// a provider may drop.
func TextOf(p llm.Part) Text { return TextOfString(said(p)) }

// TextOfString returns a text as it is, such as a section of a system prompt.
func TextOfString(text string) Text { return Text{text: text, words: slices.Clip(wordsOf(nil, text))} }

func said(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Stub:
		return p.Text
	case llm.ToolResult:
		return p.Text()
	case llm.ToolCall:
		var b strings.Builder
		b.WriteString(p.Name)
		for _, l := range leaves(p.Args) {
			b.WriteByte('\n')
			b.WriteString(l.text)
		}
		return b.String()
	}
	return ""
}

// String returns the text.
func (t Text) String() string { return t.text }

// Len returns the length of the text in bytes.
func (t Text) Len() int { return len(t.text) }

// Says reports whether the text has s in it, with nothing of a word before or after it.
// The beginning of a path is not asked for: a file may be named from any folder.
func (t Text) Says(s Span) bool {
	for _, w := range s.words {
		if _, ok := slices.BinarySearch(t.words, w); !ok {
			return false
		}
	}
	for from := 0; ; {
		at := strings.Index(t.text[from:], s.Text)
		if at < 0 {
			return false
		}
		at += from
		if end := at + len(s.Text); !joined(t.text, at) && !joined(t.text, end) {
			return true
		}
		from = at + 1
	}
}

// joined reports whether a word goes on at a place in a text: the characters on both sides
// of it are of one.
func joined(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return inWord(before) && inWord(after)
}

// wordsOf appends the hashes of the words of a text to out, sorted, each once. FNV-1a, 32 bits:
// where two words have one hash, a search looks at the text once more than it must.
func wordsOf(out []uint32, text string) []uint32 {
	const offset, prime = 2166136261, 16777619
	from := len(out)
	h, in := uint32(offset), false
	for i := 0; i < len(text); {
		n, is := 1, isWordByte(text[i])
		if text[i] >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			is = inWord(r)
		}
		switch {
		case is:
			for _, b := range []byte(text[i : i+n]) {
				h = (h ^ uint32(b)) * prime
			}
			in = true
		case in:
			out = append(out, h)
			h, in = offset, false
		}
		i += n
	}
	if in {
		out = append(out, h)
	}
	slices.Sort(out[from:])
	return out[:from+len(slices.Compact(out[from:]))]
}

// A leaf is a value in a call's arguments: a string, or a number as it is written.
type leaf struct {
	name string // of the innermost field that it is the value of
	text string
}

// leaves returns the values in a call's arguments in their order. What is no JSON is one
// value without a name.
func leaves(args string) []leaf {
	if !json.Valid([]byte(args)) {
		return []leaf{{text: args}}
	}
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	w := walker{d: d}
	w.value("")
	return w.leaves
}

// A walker goes through a JSON text that is valid.
type walker struct {
	d      *json.Decoder
	leaves []leaf
}

func (w *walker) value(name string) {
	switch t, _ := w.d.Token(); t := t.(type) {
	case string:
		w.leaves = append(w.leaves, leaf{name, t})
	case json.Number:
		w.leaves = append(w.leaves, leaf{name, t.String()})
	case json.Delim:
		w.inside(t, name)
	}
}

func (w *walker) inside(open json.Delim, name string) {
	for w.d.More() {
		if open == '{' {
			key, _ := w.d.Token()
			name, _ = key.(string)
		}
		w.value(name)
	}
	_, _ = w.d.Token()
}
