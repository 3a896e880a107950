package store

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An archive is lines of JSON (package edit), most of which is what was said, in strings, and
// what came as JSON in strings of strings. It is searched and shown as it was said. Not so its
// own lines, which say again what stands elsewhere: notes, calls of the tools that read what
// left the view, and what a search has found.
var (
	archiveHead = []byte(`{"archive":`)
	archiveNote = []byte(`{"note`)
	callKind    = []byte(`"kind":"tool_call"`)
	ownKind     = []byte(`"kind":"tool_result","own":"`)
	resultKind  = []byte(`"kind":"tool_result"`)
	foundHead   = []byte("ref:")
)

const ownHead = 512 // bytes of a line, by which it is known as an archive's own

// isArchive reports whether a content that begins with head is an archive.
func isArchive(head []byte) bool { return bytes.HasPrefix(head, archiveHead) }

// isOwn reports whether the line that begins at a part of an archive is one of its own.
func isOwn(part []byte) bool {
	head, _, _ := bytes.Cut(part[:min(len(part), ownHead)], []byte("\n"))
	switch {
	case bytes.HasPrefix(head, archiveNote):
		return true
	case !bytes.HasPrefix(head, []byte(`{"message":`)):
	case bytes.Contains(head, ownKind):
		return true
	case bytes.Contains(head, callKind):
		for _, name := range ownTools() {
			for _, as := range []string{`"` + name, `"` + policy.ToolPrefix + name} {
				if bytes.Contains(head, []byte(as+`\"`)) || bytes.Contains(head, []byte(as+" {")) {
					return true
				}
			}
		}
	case bytes.Contains(head, resultKind):
		_, text, _ := bytes.Cut(head, []byte(`"ref:`)) // as archives were before they said whose it is
		return isFound(append(slices.Clone(foundHead), text...))
	}
	return false
}

// isFound reports whether a content that begins with head is what a search has found.
func isFound(head []byte) bool {
	const refBytes = 27
	ref, ok := bytes.CutPrefix(head, foundHead)
	_, err := llm.ParseRef(string(ref[:min(len(ref), refBytes)]))
	return ok && err == nil
}

// ownTools are the tools that read what left the view.
func ownTools() []string {
	return []string{
		policy.ToolOutputCache, policy.ToolOutputCacheGrep, policy.ToolOutputCacheLine, policy.ToolReadResult, policy.ToolOutput, policy.ToolSearchContext,
	}
}

// An archiveCutter cuts an archive where passages end, and around its own lines.
type archiveCutter struct {
	own    bool // what was cut last belongs to such a line
	goesOn bool // which is not at its end
}

// cut is a bufio.SplitFunc.
func (c *archiveCutter) cut(data []byte, atEnd bool) (advance int, part []byte, err error) {
	n, part, err := cutPassage(data, atEnd)
	if n == 0 || err != nil {
		return n, part, err
	}
	if c.own = c.goesOn || isOwn(data); c.own {
		end := bytes.IndexByte(data, '\n') + 1
		if c.goesOn = end == 0; c.goesOn {
			end = len(data)
		}
		return end, data[:end], nil
	}
	for i := range part {
		if part[i] == '\n' && isOwn(data[i+1:]) {
			return i + 1, data[:i+1], nil
		}
	}
	return n, part, nil
}

// plain undoes the escapes of JSON strings in a part of an archive. Places says for each byte
// of the text, and for its end, where it stands in the part.
func plain(part []byte) (text []byte, places []int) {
	for at := 0; at < len(part); {
		end := len(part)
		if i := bytes.IndexByte(part[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		text, places = plainLine(text, places, part[:end], at)
		at = end
	}
	return text, append(places, len(part))
}

// plainLine appends what stands in a line from a place on.
func plainLine(text []byte, places []int, line []byte, at int) ([]byte, []int) {
	put := func(from int, s ...byte) {
		for _, c := range s {
			text, places = append(text, c), append(places, from)
		}
	}
	depth := depthOf(line[at:])
	for at < len(line) {
		if line[at] != '\\' {
			put(at, line[at])
			at++
			continue
		}
		from := at
		for at < len(line) && line[at] == '\\' {
			at++
		}
		signs, escaped := (at-from)>>depth, (at-from)&(1<<depth-1)
		for range signs {
			put(from, '\\')
		}
		if at == len(line) {
			break
		}
		switch c := line[at]; {
		case c == '"':
			put(from, c)
			at++
		case escaped == 0:
		case c == 'n':
			put(from, '\n')
			at++
		case c == 't':
			put(from, '\t')
			at++
		case c == 'r' || c == 'b' || c == 'f':
			at++
		case c == 'u' && at+5 <= len(line):
			if r, err := strconv.ParseUint(string(line[at+1:at+5]), 16, 32); err == nil {
				put(from, utf8.AppendRune(nil, rune(r))...)
				at += 5
			}
		}
	}
	return text, places
}

// depthOf returns how many strings stand in each other in a part of a line: in the innermost
// the backslashes before the n of a line break have doubled with each.
func depthOf(part []byte) int {
	least, run := 0, 0
	for _, c := range part {
		if c == '\\' {
			run++
			continue
		}
		if c == 'n' && run > 0 && (least == 0 || run < least) {
			least = run
		}
		run = 0
	}
	return max(1, bits.Len(uint(least))) //nolint:gosec // a length
}
