package raw

// A Walk goes once through a text of a few hundred bytes, such as the payload of a stream,
// whose members cost more than what they hold: it calls nobody back, each value must be
// read where it stands, and the grammar is checked on the way. What it returned counts
// only if [Walk.Done] says so at the end; the text need not be checked before.
type Walk struct {
	text  []byte
	at    int
	first bool // the object or array that is next to be read from has just been entered
	bad   bool
}

// NewWalk returns a walk at the first value of text.
func NewWalk(text []byte) Walk { return Walk{text: text, at: Leading(text)} }

// At returns the place of what is next.
func (w *Walk) At() int { return w.at }

// Next returns the text from here on: enough to tell the kind of the value.
func (w *Walk) Next() []byte { return w.text[w.at:] }

// Bytes returns the text from start to what is next.
func (w *Walk) Bytes(start int) []byte { return w.text[start:w.at:w.at] }

// Wrong returns the fault that what is next is not what was wanted.
func (w *Walk) Wrong(want string) error {
	return &Fault{Offset: w.at, What: "want " + want + ", got " + KindOf(w.Next())}
}

// Value returns the value that is next.
func (w *Walk) Value() []byte {
	start := w.at
	end := validValue(w.text, start, 0)
	if end < 0 {
		w.fail()
		return nil
	}
	w.at = end
	return w.text[start:end:end]
}

// Enter goes into the object or array that is next.
func (w *Walk) Enter() { w.at, w.first = w.at+1, true }

// Member goes to the value of the next member of an object and returns its name, which is
// nil behind the object.
func (w *Walk) Member() []byte {
	if !w.item('}') {
		return nil
	}
	start := w.at
	if start >= len(w.text) || w.text[start] != '"' {
		return w.fail()
	}
	end := validString(w.text, start)
	if end < 0 {
		return w.fail()
	}
	w.at = end
	w.space()
	if w.at >= len(w.text) || w.text[w.at] != ':' {
		return w.fail()
	}
	w.at++
	w.space()
	name := Name(w.text[start:end])
	if name == nil {
		name = []byte{} // an empty name is one
	}
	return name
}

// Item goes to the next element of an array; false behind the array.
func (w *Walk) Item() bool { return w.item(']') }

// item goes to the next item of what end closes.
func (w *Walk) item(end byte) bool {
	w.space()
	first := w.first
	w.first = false
	if w.at >= len(w.text) {
		w.fail()
		return false
	}
	switch c := w.text[w.at]; {
	case c == end:
		w.at++
		return false
	case first:
		return true
	case c != ',':
		w.fail()
		return false
	}
	w.at++
	w.space()
	return true
}

// Done reports whether the text was one value, and has been walked through.
func (w *Walk) Done() bool {
	w.space()
	return !w.bad && w.at == len(w.text)
}

// Err returns what is wrong with the text as JSON, nil if it is done.
func (w *Walk) Err() error {
	if w.Done() {
		return nil
	}
	if err := Check(w.text); err != nil {
		return err
	}
	return &Fault{Offset: w.at, What: "want the end of the value, got " + KindOf(w.Next())}
}

// fail goes to the end of the text, where nothing is found any more.
func (w *Walk) fail() []byte {
	w.bad, w.at = true, len(w.text)
	return nil
}

func (w *Walk) space() { w.at = skip(w.text, w.at) }
