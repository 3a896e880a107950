package ground

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Text is what a part says, ready to be searched for spans.
type Text struct {
	text  string
	words []uint32 // sorted, each once
}

// TextOf returns what a part says. Of a call these are the tool's name and all strings and
// numbers in its arguments, decoded; a thing that is not text says nothing.
func TextOf(p llm.Part) Text {
	text := said(p)
	return Text{text: text, words: wordsOf(text)}
}

// TextOfString returns a text as it is, such as a section of a system prompt.
func TextOfString(text string) Text { return Text{text: text, words: wordsOf(text)} }

func said(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Thinking:
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
	for text := t.text; ; {
		at := strings.Index(text, s.Text)
		if at < 0 {
			return false
		}
		end := at + len(s.Text)
		before := at > 0 && isWordByte(text[at-1]) && isWordByte(s.Text[0])
		after := end < len(text) && isWordByte(text[end]) && isWordByte(s.Text[len(s.Text)-1])
		if !before && !after {
			return true
		}
		text = text[at+1:]
	}
}

// wordsOf returns the hashes of the words of a text, sorted, each once. FNV-1a, 32 bits:
// where two words have one hash, a search looks at the text once more than it must.
func wordsOf(text string) []uint32 {
	const offset, prime = 2166136261, 16777619
	var out []uint32
	h, in := uint32(offset), false
	for i := range len(text) {
		if b := text[i]; isWordByte(b) {
			h, in = (h^uint32(b))*prime, true
		} else if in {
			out = append(out, h)
			h, in = offset, false
		}
	}
	if in {
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
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
