package raw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxDepth is how deep arrays and objects may be nested; encoding/json has the
// same limit.
const MaxDepth = 10_000

// A Fault says where a JSON text is not what it should be.
type Fault struct {
	Path   string // such as messages[3].content[0]; empty for the text as a whole
	Offset int    // byte in the text; negative if it is not known
	What   string // what was wanted and what is there
}

// Error returns the fault in one line.
func (f *Fault) Error() string {
	path := f.Path
	if path == "" {
		path = "JSON text"
	}
	if f.Offset < 0 {
		return path + ", " + f.What
	}
	return fmt.Sprintf("%s (byte %d), %s", path, f.Offset, f.What)
}

// Wrong returns the fault of a value that is not what was wanted, wherever it lies. Where
// it is of the kind that was wanted, the value itself is what was got.
func Wrong(want string, got []byte) error {
	const most = 40 // bytes that are shown
	what := KindOf(got)
	if what == "number" {
		what += " " + string(got[:min(len(got), most)])
	}
	return &Fault{Offset: -1, What: "want " + want + ", got " + what}
}

// In returns err as seen from the value around it: step, a member name or an index in
// brackets, comes before its path. An error that is no Fault is returned as it is.
func In(err error, step string) error {
	var f *Fault
	if !errors.As(err, &f) {
		return err
	}
	path := step + f.Path
	if f.Path != "" && !strings.HasPrefix(f.Path, "[") {
		path = step + "." + f.Path
	}
	return &Fault{Path: path, Offset: f.Offset, What: f.What}
}

// Check reports whether b is exactly one JSON value, with white space around it
// or not, nested at most [MaxDepth] deep. Bytes that are not UTF-8 are let pass
// inside strings, as encoding/json does. The error is a [Fault].
func Check(b []byte) error {
	if validText(b) {
		return nil
	}
	if at := tooDeep(b); at >= 0 {
		return &Fault{Offset: at, What: fmt.Sprintf("want at most %d nested arrays and objects, got more", MaxDepth)}
	}
	if bytes.HasPrefix(b, []byte(byteOrderMark)) {
		return &Fault{What: "want JSON from the first byte on, got a byte order mark in front of it"}
	}
	// The slower reader knows where and why.
	var value json.RawMessage
	err := json.Unmarshal(b, &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &Fault{Offset: int(syntax.Offset), What: "want one JSON value, got " + syntax.Error()}
	}
	return &Fault{What: fmt.Sprintf("want one JSON value, got %d bytes that are none", len(b))}
}

// CheckObject is Check for a text that must be an object. It returns the place
// of the object without the white space around it.
func CheckObject(b []byte) ([]byte, error) {
	if err := Check(b); err != nil {
		return nil, err
	}
	obj := Trim(b)
	if obj[0] != '{' {
		return nil, &Fault{Offset: Leading(b), What: "want an object, got " + KindOf(obj)}
	}
	return obj, nil
}

// byteOrderMark is what some editors put in front of UTF-8; RFC 8259 section 8.1 has no
// place for it.
const byteOrderMark = "\xef\xbb\xbf"

// tooDeep returns the place of the first bracket that is nested too deep, or -1.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '[', '{':
			if depth++; depth > MaxDepth {
				return i
			}
		case ']', '}':
			depth--
		}
	}
	return -1
}
