package read

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Bounds on what is held in memory, in bytes.
const (
	// MaxDocument is the largest JSON document, which is held whole, and the largest
	// stream that is read, which is too.
	MaxDocument = 1 << 30
	// maxEntries is the largest number of entries of a zip archive.
	maxEntries = 1 << 20
	// peekBytes is the buffer of Peek.
	peekBytes = 16 << 10
)

// Sums makes the sums by which it is found that a file was changed between two runs
// over it.
var Sums = crc32.MakeTable(crc32.Castagnoli)

// ErrChanged says that a file is no longer what it was when it was first read.
var ErrChanged = errors.New("the file was changed while it was read")

// An Input is the file that is read: bytes of a known size that can be read again
// and at any place.
type Input struct {
	src    io.ReaderAt
	size   int64
	broken error // that ended a stream before its end

	document *Document
	archive  *zip.Reader
	packed   bool

	sum     uint32 // of all bytes, once they were read to their end
	summed  bool
	changed bool // what was read again was not the same

	// Path is where the file lies, "" for a stream. Only a database is read by it.
	Path string
	// Part is the id of the session that is wanted, of a file that holds several.
	Part string

	// Kept is for the reader: what it found in a first pass and needs in a second one.
	// It is nil in the first.
	Kept any
}

// NewInput returns an input of size bytes of src.
func NewInput(src io.ReaderAt, size int64) *Input { return &Input{src: src, size: size} }

// Spool reads a stream that cannot be read again into memory, at most
// [MaxDocument] bytes of it. An error after the first byte ends the input there and
// is reported by [Input.Each]; before it, it is returned.
func Spool(r io.Reader) (*Input, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(io.LimitReader(r, MaxDocument+1))
	switch {
	case err != nil && b.Len() == 0:
		return nil, err
	case err == nil && b.Len() > MaxDocument:
		b.Truncate(MaxDocument)
		err = fmt.Errorf("a stream, want at most %d MiB, got more; write it to a file", MaxDocument>>20)
	}
	in := NewInput(bytes.NewReader(b.Bytes()), int64(b.Len()))
	in.broken = err
	return in, nil
}

// Size returns the size in bytes.
func (in *Input) Size() int64 { return in.size }

// ReadAt reads from the file as an io.ReaderAt.
func (in *Input) ReadAt(p []byte, off int64) (int, error) { return in.src.ReadAt(p, off) }

// Release lets go of what can be read again.
func (in *Input) Release() { in.document, in.archive = nil, nil }

// Each calls take for every line, until [Reading.Stopped]. A line's bytes are valid
// during the call. An error of the source is a Problem, and ends the lines.
func (in *Input) Each(r *Reading, take func(Line)) {
	src := &summing{src: in.all()}
	if in.each(r, src, ReadBytes, take) {
		in.same(src.sum)
	}
}

// Peek is Each with a small buffer, for who will not need many lines.
func (in *Input) Peek(r *Reading, take func(Line)) { in.each(r, in.all(), peekBytes, take) }

// all returns a reader of all bytes.
func (in *Input) all() io.Reader { return io.NewSectionReader(in.src, 0, in.size) }

// each reports whether it came to the end of the file.
func (in *Input) each(r *Reading, src io.Reader, buffer int, take func(Line)) bool {
	lines := newLineReader(src, int(min(int64(buffer), in.size+1)))
	for !r.Stopped() {
		l, err := lines.next()
		if errors.Is(err, io.EOF) && in.broken != nil {
			err = in.broken
		} else if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			r.Problem(lines.no+1, "reading stopped: %v", err)
			return false
		}
		take(l)
	}
	return false
}

// A summing reader sums up what is read of src.
type summing struct {
	src io.Reader
	sum uint32
}

func (s *summing) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	s.sum = crc32.Update(s.sum, Sums, p[:n])
	return n, err
}

// same compares the sum of all bytes with what it was before.
func (in *Input) same(now uint32) {
	in.changed = in.changed || in.summed && in.sum != now
	in.sum, in.summed = now, true
}

// Check reads all bytes again if they were read before, and returns [ErrChanged] if they
// are no longer the same, or the source's error.
func (in *Input) Check() error {
	if !in.summed {
		return nil
	}
	src := &summing{src: in.all()}
	if _, err := io.CopyBuffer(io.Discard, src, make([]byte, min(ReadBytes, in.size+1))); err != nil {
		return err
	}
	in.same(src.sum)
	return in.Err()
}

// Err returns [ErrChanged] if the bytes were not the same each time they were read to
// their end.
func (in *Input) Err() error {
	if in.changed {
		return ErrChanged
	}
	return nil
}

// Head returns up to n bytes from the front.
func (in *Input) Head(n int) ([]byte, error) {
	b := make([]byte, min(int64(n), in.size))
	got, err := in.src.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:got], err
}

// A Document is a file that is one JSON value.
type Document struct {
	Bytes []byte // without a byte order mark and white space around it; valid JSON and UTF-8
	Fixed bool   // bytes that were not UTF-8 were replaced by U+FFFD

	fields Fields // of the object, once they were asked for
	whole  []byte // what Bytes is a part of
	offset int    // in whole, at which the line was last counted
	line   int
}

// Errors that say why a file is no document.
var (
	ErrEmpty   = errors.New("an empty file")
	ErrTooBig  = fmt.Errorf("a document of more than %d MiB", MaxDocument>>20)
	ErrTooDeep = errors.New("JSON that is nested too deep")
	ErrNotJSON = errors.New("text that is not JSON")
)

// A CutError says that a file ends in the middle of its JSON. It is an [ErrNotJSON].
type CutError struct{ At int } // bytes that are there

// Error says where the file ends.
func (e *CutError) Error() string {
	return fmt.Sprintf("JSON that ends at byte %d, before it is complete", e.At)
}

// Is reports whether target is what every CutError is.
func (e *CutError) Is(target error) bool { return target == ErrNotJSON }

// notJSON returns the error for a text that is not JSON, of a file of some bytes.
func notJSON(text []byte, size int) error {
	var value json.RawMessage
	if text[0] != '{' && text[0] != '[' {
		return ErrNotJSON
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); errors.Is(err, io.ErrUnexpectedEOF) {
		return &CutError{At: size}
	}
	return ErrNotJSON
}

// Document reads the whole file as one JSON value. It is held until
// [Input.Release]. The error is one of those above, or the source's.
func (in *Input) Document() (*Document, error) {
	if in.document != nil {
		return in.document, nil
	}
	if in.size > MaxDocument {
		return nil, ErrTooBig
	}
	whole, err := in.Head(MaxDocument)
	if err == nil {
		err = in.broken
	}
	if err != nil {
		return nil, err
	}
	in.same(crc32.Checksum(whole, Sums))
	d, err := NewDocument(whole)
	if err != nil {
		return nil, err
	}
	in.document = d
	return d, nil
}

// OneLine returns the document if it is held and is one line, else nil.
func (in *Input) OneLine() *Document {
	if in.document == nil || bytes.IndexByte(in.document.Bytes, '\n') >= 0 {
		return nil
	}
	return in.document
}

// NewDocument checks a text, such as an entry of an archive, and returns it as a
// document. The errors are those of [Input.Document]. It keeps the bytes.
func NewDocument(whole []byte) (*Document, error) {
	d, size := &Document{line: 1}, len(whole)
	if !utf8.Valid(whole) {
		whole, d.Fixed = bytes.ToValidUTF8(whole, []byte("\uFFFD")), true
	}
	d.whole = whole
	d.Bytes = bytes.TrimSpace(bytes.TrimPrefix(whole, []byte(byteOrderMark)))
	if len(d.Bytes) == 0 {
		return nil, ErrEmpty
	}
	switch check(d.Bytes) {
	case tooDeep:
		return nil, ErrTooDeep
	case invalid:
		return nil, notJSON(d.Bytes, size)
	}
	return d, nil
}

// Fields returns the fields of the document's object, nil if it is none. They are
// shared and must not be changed.
func (d *Document) Fields() Fields {
	if d.fields == nil {
		d.fields = FieldsOf(d.Bytes)
	}
	return d.fields
}

// First returns the fields of the first object of the document's array, else nil.
func (d *Document) First() Fields {
	var first Fields
	EachElement(d.Bytes, func(value []byte) bool {
		first = FieldsOf(value)
		return first == nil
	})
	return first
}

// Line returns the line of the file, from 1, on which a value begins that was cut
// out of d.Bytes by [EachField] and [EachElement] alone. It is fast if asked in the
// order of the file.
func (d *Document) Line(value []byte) int {
	offset := cap(d.whole) - cap(value) // both end where the document's memory ends
	if offset < 0 || offset > len(d.whole) {
		return 0
	}
	if offset < d.offset {
		d.offset, d.line = 0, 1
	}
	d.line += bytes.Count(d.whole[d.offset:offset], []byte("\n"))
	d.offset = offset
	return d.line
}

// Zip returns the file as an archive. Its directory is held until [Input.Release].
func (in *Input) Zip() (*zip.Reader, error) {
	if in.archive != nil {
		return in.archive, nil
	}
	archive, err := zip.NewReader(in.src, in.size)
	if err != nil {
		return nil, err
	}
	if len(archive.File) > maxEntries {
		return nil, fmt.Errorf("archive, want at most %d entries, got %d", maxEntries, len(archive.File))
	}
	in.archive, in.packed = archive, true
	return archive, nil
}

// Beside returns the JSON document of a name in the folder of the file, nil if there is
// none. It must be a file, and no link.
func (in *Input) Beside(name string) (d *Document, err error) {
	if in.Path == "" {
		return nil, nil
	}
	folder, err := os.OpenRoot(filepath.Dir(in.Path)) // nothing outside it can be reached
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	info, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("want a file, got %s", info.Mode())
	case info.Size() > MaxDocument:
		return nil, ErrTooBig
	}
	whole, err := folder.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return NewDocument(whole)
}

// Database reports whether the file is an SQLite database.
func (in *Input) Database() bool {
	head, err := in.Head(len(sqliteHead))
	return err == nil && string(head) == sqliteHead
}

// sqliteHead is what an SQLite database begins with.
const sqliteHead = "SQLite format 3\x00"

// Packed reports whether the file was read as an archive: it may hold much more than its
// size says.
func (in *Input) Packed() bool { return in.packed }
