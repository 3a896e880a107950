package store

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"unicode/utf8"
)

// A Passage is a part of a content that a search can find: whole lines of some 2 kB, or a part
// of a line that is longer.
type Passage struct {
	Offset int64 // where it begins
	Line   int64 // the line in which it begins, counted from 0
	Text   []byte
}

const (
	passageBytes = 2048
	headBytes    = 8192 // of a content, which say whether it is text

	// Of a content, in which passages are found. What is longer is a log, whose words say
	// little; it is read through faster than it would be made ready.
	searchedBytes = 16 << 20
)

// Passages yields the passages of a content from a place on: the beginning, or where another
// one began. The text of each is valid until the next. Of what is no text there are none, of
// what is long those of the first 16 MiB. It ends after the first error.
func Passages(c Content, from Passage) iter.Seq2[Passage, error] {
	return func(yield func(Passage, error) bool) {
		head := make([]byte, min(headBytes, c.Size()))
		if _, err := c.ReadAt(head, 0); err != nil && err != io.EOF { //nolint:errorlint // what a ReaderAt returns is io.EOF itself
			yield(Passage{}, err)
			return
		}
		if !isText(head) {
			return
		}
		s := bufio.NewScanner(io.NewSectionReader(c, from.Offset, c.Size()-from.Offset))
		s.Split(cutPassage)
		for p := from; p.Offset < searchedBytes && s.Scan(); {
			p.Text = s.Bytes()
			if !yield(p, nil) {
				return
			}
			p.Offset += int64(len(p.Text))
			p.Line += int64(bytes.Count(p.Text, []byte("\n")))
		}
		if err := s.Err(); err != nil {
			yield(Passage{}, err)
		}
	}
}

// PassageAt returns the passage that begins at a place where Passages has found one.
func PassageAt(c Content, offset, line int64) (Passage, error) {
	data := make([]byte, 2*passageBytes)
	n, err := c.ReadAt(data, offset)
	if err != nil && err != io.EOF { //nolint:errorlint // what a ReaderAt returns is io.EOF itself
		return Passage{}, err
	}
	_, text, err := cutPassage(data[:n], true)
	return Passage{offset, line, text}, err
}

// isText reports whether a content that begins with head is text: it has no byte of 0, and
// most of it is UTF-8.
func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	bad := 0
	for rest := head; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		rest = rest[size:]
	}
	return bad*4 <= len(head)
}

// cutPassage is a bufio.SplitFunc. Nothing is left out between passages.
func cutPassage(data []byte, atEnd bool) (advance int, passage []byte, err error) {
	if len(data) < 2*passageBytes && !atEnd {
		return 0, nil, nil // more
	}
	if len(data) == 0 {
		return 0, nil, nil
	}
	n := len(data)
	if n > passageBytes {
		n = cutAt(data)
	}
	return n, data[:n], nil
}

// cutAt returns where a passage ends: behind the last line that fits; in a line that does
// not, behind its last space, or between two runes.
func cutAt(data []byte) int {
	first := data[:passageBytes]
	if i := bytes.LastIndexByte(first, '\n'); i >= 0 {
		return i + 1
	}
	if i := bytes.LastIndexByte(first, ' '); i >= passageBytes/2 {
		return i + 1
	}
	n := passageBytes
	for n > passageBytes-utf8.UTFMax && !utf8.RuneStart(data[n]) {
		n--
	}
	return n
}
