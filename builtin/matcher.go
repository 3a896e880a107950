package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A matcher finds a pattern in a line, or in a piece of one.
type matcher struct {
	literal []byte // of a text that is looked for as it stands
	re      *regexp.Regexp
	lines   *automaton // of re
	// The pattern says something of what stands before, or behind: a piece of a line looks
	// there as if the line began, or ended.
	head, tail bool
}

// newMatcher reads a pattern. Lines are looked at one by one, so that none can have a
// line break.
func newMatcher(pattern string, regex bool) (matcher, error) {
	const most = 4096
	switch {
	case len(pattern) > most:
		return matcher{}, fmt.Errorf("pattern: want at most %d bytes, got %d", most, len(pattern))
	case strings.ContainsAny(pattern, "\r\n"):
		return matcher{}, errors.New("pattern: want one line, since lines are searched one by one, got a line break")
	case !regex:
		return matcher{literal: []byte(pattern)}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		var at *syntax.Error
		if errors.As(err, &at) {
			return matcher{}, fmt.Errorf("pattern: want an RE2 pattern, got %s: %s", quote(pattern), at.Code)
		}
		return matcher{}, fmt.Errorf("pattern: want an RE2 pattern, got %s", quote(pattern))
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl) // as Compile does
	if err != nil {
		return matcher{}, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return matcher{}, err
	}
	m := matcher{re: re, lines: newAutomaton(prog)}
	m.head, m.tail = assertions(parsed)
	return m, nil
}

// assertions reports whether a pattern says something of what stands before a match, and
// of what stands behind it.
func assertions(re *syntax.Regexp) (head, tail bool) {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText:
		return true, false
	case syntax.OpEndLine, syntax.OpEndText:
		return false, true
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true, true
	}
	for _, sub := range re.Sub {
		h, t := assertions(sub)
		head, tail = head || h, tail || t
	}
	return head, tail
}

// A piece is a line, or some of one.
type piece struct {
	text        []byte
	first, last bool // it begins the line; it ends it
}

// next returns where the first line in some begins that may have a match. It begins before
// them if they do not begin with a line.
func (m matcher) next(b []byte, first bool) (line int, ok bool) {
	if m.re != nil {
		line, ok := m.lines.next(bytes.TrimSuffix(b, []byte("\r")), first, true) // at the end it is a line break, too
		return line, ok && line < len(b)                                         // behind the last line break is no line
	}
	i := bytes.Index(b, m.literal)
	return bytes.LastIndexByte(b[:max(i, 0)], '\n') + 1, i >= 0
}

// find returns the first match in a piece that begins at from or later.
func (m matcher) find(p piece, from int) (start, end int, ok bool) {
	if m.re == nil {
		i := bytes.Index(p.text[from:], m.literal)
		return from + i, from + i + len(m.literal), i >= 0
	}
	if _, ok := m.lines.next(p.text[from:], from == 0 && p.first, p.last); !ok {
		return 0, 0, false
	}
	// Where the text is cut, an assertion may hold there that does not hold in the line. A
	// few steps find what stands behind such a place.
	for tries := 16; tries > 0 && from <= len(p.text); tries-- {
		loc := m.re.FindIndex(p.text[from:])
		if loc == nil {
			return 0, 0, false
		}
		start, end := from+loc[0], from+loc[1]
		cutBefore := m.head && loc[0] == 0 && (from > 0 || !p.first)
		cutBehind := m.tail && end == len(p.text) && !p.last
		if !cutBefore && !cutBehind {
			return start, end, true
		}
		_, size := utf8.DecodeRune(p.text[start:])
		from = start + max(1, size)
	}
	return 0, 0, false
}
