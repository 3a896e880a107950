package sessionfile

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
	maxLineBytes = 64 << 20
	maxDepth     = 10_000
	readBytes    = 256 << 10
)

// A lineReader splits a stream into lines. It holds one line at a time.
type lineReader struct {
	src *bufio.Reader
	big []byte // for lines that do not fit into src's buffer
	no  int    // of the line last returned, from 1
}

// A line is one line without its end. Its bytes are valid until the next one is read.
type line struct {
	no    int
	bytes []byte
	giant bool // longer than maxLineBytes; bytes holds nothing
	open  bool // the last line, and the file ends without a line end
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(r, readBytes)}
}

// next returns the next line, or io.EOF behind the last one.
func (l *lineReader) next() (line, error) {
	part, err := l.src.ReadSlice('\n')
	if err == nil {
		l.no++
		return line{no: l.no, bytes: part[:len(part)-1]}, nil
	}
	l.big = l.big[:0]
	giant := false
	for {
		giant = giant || len(l.big)+len(part) > maxLineBytes
		if !giant {
			l.big = append(l.big, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.src.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}
	if err != nil && len(l.big) == 0 && !giant {
		return line{}, io.EOF
	}
	l.no++
	if giant {
		return line{no: l.no, giant: true, open: err != nil}, nil
	}
	return line{no: l.no, bytes: bytes.TrimSuffix(l.big, []byte("\n")), open: err != nil}, nil
}

// object checks one line and returns the JSON object on it, ready to be read
// without further checks. It reports false for empty lines and for lines that
// had to be skipped with a Problem.
func (r *reading) object(l line) ([]byte, bool) {
	if l.giant {
		r.problem(l.no, "line of more than %d MiB, skipped", maxLineBytes>>20)
		return nil, false
	}
	b := bytes.TrimSpace(l.bytes)
	if len(b) == 0 {
		return nil, false
	}
	switch end := check(b); {
	case end == tooDeep:
		r.problem(l.no, "nested deeper than %d levels, skipped", maxDepth)
		return nil, false
	case end == invalid && l.open:
		r.problem(l.no, "the file is cut off inside this line, skipped")
		return nil, false
	case end == invalid:
		r.problem(l.no, "not valid JSON, skipped")
		return nil, false
	case b[0] != '{':
		r.problem(l.no, "not a JSON object, skipped")
		return nil, false
	case !utf8.Valid(b):
		r.problem(l.no, "invalid UTF-8, replaced by U+FFFD")
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
	}
	return b, true
}

// keep copies a value out of the line that holds it and reports escapes in it
// that are half of a character.
func (r *reading) keep(no int, value []byte) []byte {
	if loneSurrogate(value) {
		r.problem(no, "half a surrogate pair in a text, read as U+FFFD")
	}
	return bytes.Clone(value)
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
	var v rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, v >= 0xD800
}
