package read

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// Bounds on what is read. No client writes lines or nests values near them; they
// keep a damaged or hostile file from exhausting memory or the stack.
const (
	MaxLineBytes = 64 << 20 // longer lines are skipped
	MaxDepth     = 10_000   // levels of a JSON value; what nests deeper is skipped
	ReadBytes    = 256 << 10
)

// A lineReader splits a stream into lines. It holds one line at a time.
type lineReader struct {
	src    *bufio.Reader
	big    []byte // for lines that do not fit into src's buffer
	no     int    // of the line last returned, from 1
	offset int64  // behind that line
}

// A Line is one line without its end. Its bytes are valid until the next one is read.
type Line struct {
	No     int   // from 1
	Offset int64 // of its first byte in the file
	Bytes  []byte
	giant  bool // longer than MaxLineBytes; Bytes holds nothing
	open   bool // the last line, and the file ends without a line end
}

// byteOrderMark may stand before the first line.
const byteOrderMark = "\xEF\xBB\xBF"

// newLineReader returns a reader of lines with a buffer of some bytes.
func newLineReader(r io.Reader, buffer int) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(r, buffer)}
}

// next returns the next line, or io.EOF behind the last one.
func (l *lineReader) next() (Line, error) {
	part, err := l.src.ReadSlice('\n')
	if err == nil {
		return l.made(part[:len(part)-1], len(part)), nil
	}
	l.big = l.big[:0]
	giant, size := false, 0
	for {
		size += len(part)
		giant = giant || size > MaxLineBytes
		if !giant {
			l.big = append(l.big, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.src.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Line{}, err
	}
	if err != nil && size == 0 {
		return Line{}, io.EOF
	}
	if giant {
		l.big = l.big[:0]
	}
	out := l.made(bytes.TrimSuffix(l.big, []byte("\n")), size)
	out.giant, out.open = giant, err != nil
	return out, nil
}

// made counts a line of some bytes that took size bytes of the file.
func (l *lineReader) made(b []byte, size int) Line {
	l.no++
	out := Line{No: l.no, Offset: l.offset, Bytes: b}
	l.offset += int64(size)
	if out.No == 1 && bytes.HasPrefix(b, []byte(byteOrderMark)) {
		out.Bytes, out.Offset = b[len(byteOrderMark):], int64(len(byteOrderMark))
	}
	return out
}

// Object checks one line and returns the JSON object on it, ready to be read
// without further checks. It reports false for empty lines and for lines that
// had to be skipped with a Problem.
func (r *Reading) Object(l Line) ([]byte, bool) {
	if l.giant {
		r.Problem(l.No, "line of more than %d MiB, skipped", MaxLineBytes>>20)
		return nil, false
	}
	b := bytes.TrimSpace(l.Bytes)
	if len(b) == 0 {
		return nil, false
	}
	end, twice := checkLine(b)
	if twice != nil {
		r.Problem(l.No, "key %.40q stands here twice with different values, of which only one is read", twice)
	}
	switch {
	case end == tooDeep:
		r.Problem(l.No, "nested deeper than %d levels, skipped", MaxDepth)
		return nil, false
	case end == invalid && l.open:
		r.Problem(l.No, "the file is cut off inside this line, skipped")
		return nil, false
	case end == invalid:
		r.Problem(l.No, "not valid JSON, skipped")
		return nil, false
	case b[0] != '{':
		r.Problem(l.No, "not a JSON object, skipped")
		return nil, false
	case !utf8.Valid(b):
		r.Problem(l.No, "invalid UTF-8, replaced by U+FFFD")
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
	}
	return b, true
}

// Keep copies a value out of the line that holds it and reports escapes in it
// that are half of a character.
func (r *Reading) Keep(no int, value []byte) []byte {
	r.Halves(no, value)
	return bytes.Clone(value)
}

// Halves reports escapes in a value that are half of a character.
func (r *Reading) Halves(no int, value []byte) {
	if !r.Again && loneSurrogate(value) {
		r.Problem(no, "half a surrogate pair in a text, read as U+FFFD")
	}
}

// loneSurrogate reports whether a JSON text has a \u escape of a surrogate that
// is not part of a pair.
func loneSurrogate(b []byte) bool {
	for i := 0; ; {
		k := bytes.Index(b[i:], []byte(`\u`))
		if k < 0 {
			return false
		}
		i += k
		escapes := 0
		for escapes < i && b[i-1-escapes] == '\\' {
			escapes++
		}
		unit, ok := surrogate(b[i:])
		switch {
		case escapes%2 == 1, !ok: // the backslash is itself escaped, or it is another character
			i += 2
			continue
		case unit >= 0xDC00:
			return true
		}
		low, ok := surrogate(b[min(i+6, len(b)):])
		if !ok || low < 0xDC00 {
			return true
		}
		i += 12
	}
}

// surrogate returns the surrogate that b starts with as an escape.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2] != 'd' && b[2] != 'D' {
		return 0, false
	}
	for _, c := range b[2:6] {
		if !isHex(c) {
			return 0, false
		}
	}
	v := unit(b[2:6])
	return v, v >= 0xD800
}
