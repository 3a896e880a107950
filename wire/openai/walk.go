package openai

import "github.com/plimsoll-dev/plimsoll/wire/internal/raw"

// A walk goes once through a checked text of a few hundred bytes, such as the payload of a
// stream, whose members cost more than what they hold: it calls nobody back, and each value
// must be read where it stands.
type walk struct {
	text []byte
	at   int
	past raw.Cursor // moves behind values
}

func newWalk(text []byte) walk {
	return walk{text: text, at: raw.Leading(text), past: *raw.NewCursor(text)}
}

// next returns the text from here on: enough to tell the kind of the value.
func (w *walk) next() []byte { return w.text[w.at:] }

// value returns the value that is next.
func (w *walk) value() []byte {
	s := w.past.Skip(w.at)
	w.at = s.End
	return raw.Slice(w.text, s)
}

// enter goes into the object or array that is next.
func (w *walk) enter() { w.at++ }

// member goes to the value of the next member and returns its name, which is nil behind
// the object.
func (w *walk) member() []byte {
	if !w.item() {
		return nil
	}
	start := w.at + 1
	for i := start; i < len(w.text); i++ {
		switch w.text[i] {
		case '"':
			w.at = i + 1
			w.space() // and then the colon
			w.at++
			w.space()
			return w.text[start:i:i]
		case '\\':
			name := raw.Name(w.value())
			w.space()
			w.at++
			w.space()
			return append(make([]byte, 0, len(name)+1), name...) // also an empty name is one
		}
	}
	w.at = len(w.text)
	return nil
}

// item goes to the next element or member; false behind the array or object.
func (w *walk) item() bool {
	w.space()
	if w.at < len(w.text) && w.text[w.at] == ',' {
		w.at++
		w.space()
	}
	if w.at >= len(w.text) {
		return false
	}
	if c := w.text[w.at]; c == '}' || c == ']' {
		w.at++
		return false
	}
	return true
}

func (w *walk) space() {
	for w.at < len(w.text) && w.text[w.at] <= ' ' {
		w.at++
	}
}
