package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// maxUnknown is how many JSON objects are looked at before a file of JSON lines is
// said to be of no known format; headBytes what is looked at of other files.
const (
	maxUnknown = 64
	headBytes  = 64 << 10
)

// A detection finds out which reader a file is for.
type detection struct {
	in      *read.Input
	readers []read.Reader
	found   read.Reader
	format  sessionfile.Format
	seen    string // what the file is instead
	err     error  // why a database cannot be read
}

// detect finds the reader of a file by its content.
func detect(name string, in *read.Input) (read.Reader, sessionfile.Format, error) {
	d := &detection{in: in, readers: readers()}
	if err := d.look(); err != nil {
		return read.Reader{}, "", fmt.Errorf("sessionfile: read: %s: %w", name, err)
	}
	if d.format == "" {
		return read.Reader{}, "", &sessionfile.FormatError{File: name, Known: Formats(), Seen: d.seen}
	}
	return d.found, d.format, nil
}

// ask shows something to each reader until one knows it. hook returns what a
// reader says, "" if it has no hook for it.
func (d *detection) ask(hook func(read.Reader) sessionfile.Format) bool {
	for _, r := range d.readers {
		if format := hook(r); format != "" {
			d.found, d.format = r, format
			return true
		}
	}
	return false
}

// look asks about the kinds of file in turn. The error is the source's.
func (d *detection) look() error {
	head, err := d.in.Head(headBytes)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		d.zip()
		return nil
	}
	if d.in.Database() {
		d.database()
		return nil
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if d.seen = notText(line); d.seen != "" {
		return nil
	}
	if d.oneLine(head) {
		return nil
	}
	first, found := d.lines()
	if found || d.seen != "" {
		return nil
	}
	return d.whole(head, first)
}

// oneLine asks about a document that is one long line, which is then read once and not
// as a line too. It reports false if the file is not one.
func (d *detection) oneLine(head []byte) bool {
	if len(head) < headBytes || d.in.Size() > maxHeld || head[0] != '{' && head[0] != '[' || bytes.IndexByte(head, '\n') >= 0 {
		return false
	}
	document, err := d.in.Document()
	if err != nil || bytes.IndexByte(document.Bytes, '\n') >= 0 {
		return false
	}
	fields := document.Fields()
	if fields == nil || !d.line(fields) {
		d.document(document)
	}
	return true
}

// line asks about a line that is an object.
func (d *detection) line(fields read.Fields) bool {
	return d.ask(func(r read.Reader) sessionfile.Format {
		if r.Line == nil {
			return ""
		}
		return r.Line(fields)
	})
}

// zip asks about an archive.
func (d *detection) zip() {
	d.seen = "a zip archive"
	archive, err := d.in.Zip()
	if err != nil {
		d.seen = fmt.Sprintf("a zip archive that cannot be read: %v", err)
		return
	}
	d.ask(func(r read.Reader) sessionfile.Format {
		if r.Zip == nil {
			return ""
		}
		return r.Zip(archive)
	})
}

// database asks about an SQLite database.
func (d *detection) database() {
	d.seen = "an SQLite database"
	if d.in.Path == "" {
		d.seen = "an SQLite database in a stream, which can only be read by its path"
		return
	}
	d.ask(func(r read.Reader) sessionfile.Format {
		if r.Database == nil {
			return ""
		}
		format, err := r.Database(d.in.Path)
		if err != nil {
			d.err = err
			d.seen = fmt.Sprintf("an SQLite database that cannot be read: %v", err)
		}
		return format
	})
}

// lines asks about the first lines that are JSON objects. It returns the first line
// if it is one: the file is one of JSON lines then, or that one object.
func (d *detection) lines() (first []byte, found bool) {
	objects, bytesSeen := 0, 0
	peek := read.NewReading("", "", func(sessionfile.Segment) bool { return false })
	d.in.Peek(peek, func(l read.Line) {
		if found || d.seen != "" || objects >= maxUnknown || bytesSeen >= read.MaxLineBytes {
			peek.Stop()
			return
		}
		bytesSeen += len(l.Bytes)
		if d.seen = notText(l.Bytes); d.seen != "" {
			return
		}
		object := bytes.TrimSpace(l.Bytes)
		if len(object) == 0 || object[0] != '{' || !read.IsJSON(object) {
			return
		}
		if objects++; l.No == 1 {
			first = bytes.Clone(object)
		}
		found = d.line(read.FieldsOf(object))
	})
	return first, found
}

// whole asks about the file as one document, and as text.
func (d *detection) whole(head, first []byte) error {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")))
	if first != nil && d.in.Size() > int64(len(first))+headBytes {
		d.seen = "JSON lines with the fields " + keysOf(first)
		return nil
	}
	if len(text) > 0 && text[0] != '{' && text[0] != '[' {
		d.text(head, text)
		return nil
	}
	document, err := d.in.Document()
	switch {
	case first != nil && errors.Is(err, read.ErrNotJSON):
		d.seen = "JSON lines with the fields " + keysOf(first)
	case errors.Is(err, read.ErrNotJSON):
		d.text(head, text)
		if cut := (*read.CutError)(nil); d.format == "" && errors.As(err, &cut) {
			d.seen = cut.Error()
		}
	case errors.Is(err, read.ErrEmpty), errors.Is(err, read.ErrTooBig), errors.Is(err, read.ErrTooDeep):
		d.seen = err.Error()
	case err != nil:
		return err
	default:
		d.document(document)
	}
	return nil
}

func (d *detection) document(document *read.Document) {
	found := d.ask(func(r read.Reader) sessionfile.Format {
		if r.Document == nil {
			return ""
		}
		return r.Document(document)
	})
	switch {
	case found:
	case document.Bytes[0] == '{':
		d.seen = "a JSON object with the fields " + keysOf(document.Bytes)
	default:
		d.seen = "a JSON value that is no object"
	}
}

func (d *detection) text(head, text []byte) {
	found := d.ask(func(r read.Reader) sessionfile.Format {
		if r.Text == nil || !utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) {
			return ""
		}
		return r.Text(head)
	})
	if !found {
		d.seen = fmt.Sprintf("text that is not JSON and begins %.40q", text)
	}
}

// notText names what bytes are if they are not text.
func notText(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x1F\x8B")):
		return "gzip data"
	case bytes.HasPrefix(b, []byte("\x28\xB5\x2F\xFD")):
		return "zstd data"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return "a zip archive"
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return "UTF-16 text"
	case bytes.IndexByte(b, 0) >= 0:
		return "binary data"
	}
	return ""
}

// keysOf names the first fields of a JSON object.
func keysOf(object []byte) string {
	var keys []string
	read.EachField(object, func(key, _ []byte) {
		if len(keys) < 6 && len(key) < 40 {
			keys = append(keys, string(key))
		}
	})
	return strings.Join(keys, ", ")
}
