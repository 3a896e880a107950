package summary

import "strings"

// The tags of an answer (R001-15).
const (
	retainTag  = "retain"
	summaryTag = "summary"
)

// Parse takes a model's answer apart (R001-15). The tags <retain> and <summary> are
// found in any case. The first block of each counts; one that is not closed, as in
// an answer that was cut off, reaches to the other tag or to the end. Without a
// <summary> tag the summary is the whole text without the retain block. Both are
// trimmed; both are empty if the answer says nothing.
func Parse(answer string) (retain, summary string) {
	rest := answer
	if inside, before, after, ok := block(answer, retainTag, summaryTag); ok {
		retain, rest = inside, before+after
	}
	summary = rest
	if inside, _, _, ok := block(rest, summaryTag, retainTag); ok {
		summary = inside
	}
	return strings.TrimSpace(retain), strings.TrimSpace(summary)
}

// block finds the first block of a tag. An unclosed one ends before the other tag.
func block(text, tag, other string) (inside, before, after string, ok bool) {
	start := indexFold(text, "<"+tag+">")
	if start < 0 {
		return "", text, "", false
	}
	before, inside = text[:start], text[start+len(tag)+2:]
	if end := indexFold(inside, "</"+tag+">"); end >= 0 {
		return inside[:end], before, inside[end+len(tag)+3:], true
	}
	if end := indexFold(inside, "<"+other+">"); end >= 0 {
		return inside[:end], before, inside[end:], true
	}
	return inside, before, "", true
}

// indexFold is strings.Index for an ASCII pattern in lower case and a text in any
// case. It keeps positions, which lowering a whole text does not.
func indexFold(text, pattern string) int {
	return strings.Index(lowerASCII(text), pattern)
}
