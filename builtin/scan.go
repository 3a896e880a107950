package builtin

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// How much of a content is looked at in one go, and how much of a longer line twice.
const (
	windowBytes  = 1 << 20
	overlapBytes = 64 << 10
)

// A match is where a pattern was found.
type match struct {
	line  int64 // its number, from 0
	start int64 // the place of its first byte
	at    int64 // the place of the match
	chars int64 // the characters of the line before it
	size  int   // bytes of the match, as far as they are in one piece
	long  bool  // the line is too long to be shown
}

// A scanner finds the matches in a content, in their order: one in a line that can be shown,
// in longer ones as many as there are. It holds one window.
type scanner struct {
	c    Content
	m    matcher
	clip int // characters of a line that can be shown
	// found is told each match. It says from where on the next one in the same line counts,
	// and whether to go on.
	found func(match) (from int64, more bool, err error)

	line  int64 // the number of the line that the window begins in
	start int64 // its place
	chars int64 // its characters before the window
	from  int64 // what begins before this place is not a match
}

// run scans the whole content.
func (s *scanner) run(ctx context.Context) error {
	buf := make([]byte, 0, min(windowBytes, s.c.Size()))
	for base := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if buf, err = fill(s.c, buf, base); err != nil {
			return err
		}
		end := base+int64(len(buf)) == s.c.Size()
		used, more, err := s.window(buf, base, end)
		if err != nil || !more || end {
			return err
		}
		base += int64(used)
		buf = buf[:copy(buf, buf[used:])]
	}
}

// fill reads what a window has room for, behind what is in it.
func fill(c Content, buf []byte, base int64) ([]byte, error) {
	have := len(buf)
	want := int(min(int64(cap(buf)), c.Size()-base))
	buf = buf[:want]
	return buf, readFull(c, buf[have:], base+int64(have))
}

// window looks at a window, and returns how much of it is done with. The last one is
// looked at to its end; else what stands behind its last line break waits, unless a line
// fills it.
func (s *scanner) window(b []byte, base int64, end bool) (used int, more bool, err error) {
	whole := len(b)
	if !end {
		whole = bytes.LastIndexByte(b, '\n') + 1
	}
	if whole == 0 && !end {
		used = len(b) - overlapBytes
		used = runeBegin(b, used)
		more, err = s.inLine(piece{text: b, first: s.start == base}, base, used)
		s.chars += int64(utf8.RuneCount(b[:used]))
		return used, more, err
	}
	more, err = s.lines(b[:whole], base)
	return whole, more, err
}

// lines looks at whole lines, but for the first, of which something may stand before.
func (s *scanner) lines(b []byte, base int64) (more bool, err error) {
	for done := 0; done < len(b); {
		at := base + int64(done)
		skip, ok := s.m.next(b[done:], s.start == at)
		if !ok {
			s.pass(b[done:], at)
			return true, nil
		}
		s.pass(b[done:done+skip], at)
		done += skip
		at += int64(skip)
		size := bytes.IndexByte(b[done:], '\n') + 1
		if size == 0 {
			size = len(b) - done
		}
		text := withoutBreak(b[done : done+size])
		if more, err := s.inLine(piece{text, s.start == at, true}, at, len(text)+1); !more || err != nil {
			return false, err
		}
		s.pass(b[done:done+size], at)
		done += size
	}
	return true, nil
}

// pass goes on behind bytes that are looked at.
func (s *scanner) pass(b []byte, at int64) {
	if n := bytes.Count(b, []byte("\n")); n > 0 {
		s.line += int64(n)
		s.start = at + int64(bytes.LastIndexByte(b, '\n')) + 1
		s.chars = 0
	}
}

// inLine looks at a line, or a piece of one, for matches that begin before a place in it.
func (s *scanner) inLine(p piece, at int64, before int) (more bool, err error) {
	long := !p.first || !p.last || len(firstRunes(p.text, s.clip)) < len(p.text)
	counted, chars := 0, s.chars
	for pos := int(max(0, s.from-at)); pos <= len(p.text); {
		i, end, ok := s.m.find(p, pos)
		if !ok || i >= before {
			return true, nil
		}
		chars += int64(utf8.RuneCount(p.text[counted:i]))
		counted = i
		from, more, err := s.found(match{s.line, s.start, at + int64(i), chars, end - i, long})
		if !more || err != nil || !long {
			return more && err == nil, err
		}
		s.from = max(from, at+int64(i)+1)
		pos = int(max(0, s.from-at))
	}
	return true, nil
}
