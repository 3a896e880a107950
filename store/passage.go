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
	Offset int64  // where it begins
	Line   int64  // the line in which it begins, counted from 0
	Text   []byte // of an archive what was said there

	part   []byte // of the content
	places []int  // where in part each byte of Text stands, and its end; nil: they are the same
}

// place returns where in the content byte at of the text stands, and in which line.
func (p Passage) place(at int) (offset, line int64) {
	if p.places != nil {
		at = p.places[at]
	}
	return p.Offset + int64(at), p.Line + int64(bytes.Count(p.part[:at], []byte("\n")))
}

// clone returns a passage that stays valid.
func (p Passage) clone() Passage {
	p.part = clone(p.part)
	if p.places == nil {
		p.Text = p.part
	}
	return p
}

const (
	passageBytes = 2048
	headBytes    = 8192 // of a content, which say whether it is text

	// Of a content, in which passages are found. What is longer is a log, whose words say
	// little; it is read through faster than it would be made ready.
	searchedBytes = 16 << 20
)

// A Prose is a content as what can be found in it.
type Prose struct {
	c       Content
	text    bool // else there is nothing to find
	archive bool
}

// ProseOf looks at how a content begins.
func ProseOf(c Content) (Prose, error) {
	head := make([]byte, min(headBytes, c.Size()))
	if _, err := c.ReadAt(head, 0); err != nil && err != io.EOF { //nolint:errorlint // what a ReaderAt returns is io.EOF itself
		return Prose{}, err
	}
	return Prose{c, isText(head) && !isFound(head), isArchive(head)}, nil
}

// Passages yields the passages from a place on: the beginning, or where another one began. The
// text of each is valid until the next. Of what is no text there are none, of what is long
// those of the first 16 MiB. It ends after the first error.
func (p Prose) Passages(from Passage) iter.Seq2[Passage, error] {
	return func(yield func(Passage, error) bool) {
		if !p.text {
			return
		}
		s := bufio.NewScanner(io.NewSectionReader(p.c, from.Offset, p.c.Size()-from.Offset))
		var own archiveCutter
		if s.Split(cutPassage); p.archive {
			s.Split(own.cut)
		}
		for at, line := from.Offset, from.Line; at < searchedBytes && s.Scan(); {
			part := s.Bytes()
			if !own.own {
				if !yield(p.passage(at, line, part), nil) {
					return
				}
			}
			at += int64(len(part))
			line += int64(bytes.Count(part, []byte("\n")))
		}
		if err := s.Err(); err != nil {
			yield(Passage{}, err)
		}
	}
}

// At returns the passage that begins at a place where Passages has found one.
func (p Prose) At(offset, line int64) (Passage, error) {
	data := make([]byte, 2*passageBytes)
	n, err := p.c.ReadAt(data, offset)
	if err != nil && err != io.EOF { //nolint:errorlint // what a ReaderAt returns is io.EOF itself
		return Passage{}, err
	}
	cut := cutPassage
	if p.archive {
		cut = new(archiveCutter).cut
	}
	_, part, err := cut(data[:n], true)
	return p.passage(offset, line, part), err
}

// passage returns the one that a part of the content is.
func (p Prose) passage(offset, line int64, part []byte) Passage {
	out := Passage{Offset: offset, Line: line, Text: part, part: part}
	if p.archive {
		out.Text, out.places = plain(part)
	}
	return out
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
