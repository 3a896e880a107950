package raw

// A Walk goes once through a checked text of a few hundred bytes, such as the payload of a
// stream, whose members cost more than what they hold: it calls nobody back, and each value
// must be read where it stands.
type Walk struct {
	text []byte
	at   int
	past Cursor // moves behind values
}

// NewWalk returns a walk at the first value of text.
func NewWalk(text []byte) Walk {
	return Walk{text: text, at: Leading(text), past: *NewCursor(text)}
}

// Next returns the text from here on: enough to tell the kind of the value.
func (w *Walk) Next() []byte { return w.text[w.at:] }

// Value returns the value that is next.
func (w *Walk) Value() []byte {
	s := w.past.Skip(w.at)
	w.at = s.End
	return Slice(w.text, s)
}

// Enter goes into the object or array that is next.
func (w *Walk) Enter() { w.at++ }

// Member goes to the value of the next member and returns its name, which is nil behind
// the object.
func (w *Walk) Member() []byte {
	if !w.Item() {
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
			name := Name(w.Value())
			w.space()
			w.at++
			w.space()
			return append(make([]byte, 0, len(name)+1), name...) // also an empty name is one
		}
	}
	w.at = len(w.text)
	return nil
}

// Item goes to the next element or member; false behind the array or object.
func (w *Walk) Item() bool {
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

func (w *Walk) space() {
	for w.at < len(w.text) && w.text[w.at] <= ' ' {
		w.at++
	}
}

// At returns the place of what is next.
func (w *Walk) At() int { return w.at }

// Bytes returns the text from start to what is next.
func (w *Walk) Bytes(start int) []byte { return w.text[start:w.at:w.at] }

// Wrong returns the fault that what is next is not what was wanted.
func (w *Walk) Wrong(want string) error {
	return &Fault{Offset: w.at, What: "want " + want + ", got " + KindOf(w.Next())}
}
