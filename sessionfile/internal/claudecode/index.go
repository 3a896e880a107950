package claudecode

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// maxKeptBuffer is the largest buffer for lines that is kept for the next one.
const maxKeptBuffer = 1 << 20

// An index reads records again that a scan found.
type index struct {
	records []record
	in      *read.Input
	err     error  // of the source; nothing is read after it
	buf     []byte // of the line last read
}

// line reads a record's line again. The fields are valid until the next call; they
// are empty after an error.
func (x *index) line(i int) fields {
	if x.err != nil {
		return fields{}
	}
	rec := &x.records[i]
	b := x.buffer(int(rec.size))
	n, err := x.in.ReadAt(b, rec.offset)
	if n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = read.ErrChanged
		}
		x.err = fmt.Errorf("line %d: %w", rec.line, err)
		return fields{}
	}
	if crc32.Checksum(b, read.Sums) != rec.sum {
		x.err = fmt.Errorf("line %d: %w", rec.line, read.ErrChanged)
		return fields{}
	}
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("\uFFFD"))
	}
	return fieldsOf(b)
}

// buffer returns n bytes. Those of one giant line are not held for the rest.
func (x *index) buffer(n int) []byte {
	if n > maxKeptBuffer {
		return make([]byte, n)
	}
	if cap(x.buf) < n {
		x.buf = make([]byte, n+n/4)
	}
	return x.buf[:n]
}

// data returns the data of a record that is a boundary or an attachment. It is the
// caller's.
func (x *index) data(i int) gjson.Result {
	f := x.line(i)
	if f.hidden && !x.records[i].has(isSummary) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(f.body(&x.records[i]))
}
