package summary

import "strings"

type markKind uint8

const (
	markNone markKind = iota
	markDecision
	markTodo
	markDone
)

// A marker is how people and models state decisions and what is left to do.
type marker struct {
	text   string // lower case
	kind   markKind
	strip  bool // the marker is not part of what is said
	within bool // may also stand inside the line, as a word of its own
}

// markers are tried in order. A line may begin with a list mark or emphasis
// before its marker.
var markers = []marker{
	{text: "[x]", kind: markDone, strip: true},
	{text: "[ ]", kind: markTodo, strip: true},
	{text: "todo:", kind: markTodo, strip: true},
	{text: "todo ", kind: markTodo, strip: true},
	{text: "todo(", kind: markTodo},
	{text: "todos:", kind: markTodo, strip: true},
	{text: "next:", kind: markTodo, strip: true},
	{text: "next step", kind: markTodo},
	{text: "remaining:", kind: markTodo, strip: true},
	{text: "remaining step", kind: markTodo},
	{text: "remaining work", kind: markTodo},
	{text: "still to do", kind: markTodo},
	{text: "decision:", kind: markDecision, strip: true},
	{text: "decisions:", kind: markDecision, strip: true},
	{text: "decided", kind: markDecision, within: true},
	{text: "we will ", kind: markDecision, within: true},
	{text: "we chose ", kind: markDecision, within: true},
	{text: "going with ", kind: markDecision, within: true},
}

const (
	maxUnderHeading = 8   // list items taken from under one heading line
	maxMarkedLines  = 200 // taken from one message
)

// A markedLine is a line that states a decision, a todo or something done.
type markedLine struct {
	kind markKind
	text string
}

// markedLines finds the stated lines of a text, outside fenced code. A line that
// only announces a list ("Next steps:") stands for the items under it.
func markedLines(text string) []markedLine {
	var found []markedLine
	fenced, under, left := false, markNone, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced || line == "" || len(found) == maxMarkedLines {
			continue
		}
		bare, listed := unlist(line)
		kind, said := marked(bare)
		switch {
		case kind != markNone && said == "":
			under, left = kind, maxUnderHeading
		case kind != markNone:
			found = append(found, markedLine{kind, said})
		case listed && left > 0:
			found = append(found, markedLine{under, oneLine(bare, maxLine)})
			left--
		default:
			left = 0
		}
	}
	return found
}

// marked returns the kind of a line and what it says; "" if it only announces
// what follows.
func marked(line string) (markKind, string) {
	lower := lowerASCII(line)
	for _, m := range markers {
		at := strings.Index(lower, m.text)
		if at < 0 || at > 0 && (!m.within || letter(lower[at-1])) {
			continue
		}
		said := line
		if m.strip {
			said = line[len(m.text):]
		}
		said = strings.Trim(said, " *")
		if strings.HasSuffix(said, ":") {
			said = ""
		}
		return m.kind, oneLine(said, maxLine)
	}
	return markNone, ""
}

// unlist takes list marks, heading marks and emphasis off the start of a line and
// reports whether it was a list item.
func unlist(line string) (string, bool) {
	listed := false
	for {
		rest := strings.TrimLeft(line, "#> \t")
		if after, ok := cutBullet(rest); ok {
			rest, listed = after, true
		}
		rest = strings.TrimPrefix(rest, "**")
		if rest == line {
			return line, listed
		}
		line = rest
	}
}

// cutBullet cuts "- ", "* ", "• " or "12. " off the start of a line.
func cutBullet(line string) (string, bool) {
	for _, b := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, b); ok {
			return rest, true
		}
	}
	digits := 0
	for digits < len(line) && digits < 4 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits > 0 && len(line) > digits+1 && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' ' {
		return line[digits+2:], true
	}
	return line, false
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}
