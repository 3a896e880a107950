package summary

import "strings"

// The tags of an answer (R001-15).
const (
	retainTag  = "retain"
	summaryTag = "summary"
)

// An Answer is what a model wrote, taken apart.
type Answer struct {
	Retain  string // what is to stay exact
	Summary string // the rest; both are trimmed
	Open    string // the tag that is never closed, as in an answer that was cut off; empty: none
}

// Parse takes a model's answer apart. The tags <retain> and <summary> are
// found in any case. The first block of each counts; one that is not closed reaches
// to the other tag or to the end. Without a <summary> tag the summary is the whole
// text without the retain block. A text in the form of [Write] is a summary as it
// stands: tags in it are words that it quotes.
func Parse(answer string) Answer {
	if ByCode(answer) {
		return Answer{Summary: strings.TrimSpace(answer)}
	}
	retain := cutBlock(answer, retainTag, summaryTag)
	summary := cutBlock(retain.before+retain.after, summaryTag, retainTag)
	a := Answer{Retain: strings.TrimSpace(retain.inside), Summary: strings.TrimSpace(summary.inside)}
	if !summary.found {
		a.Summary = strings.TrimSpace(summary.before)
	}
	switch {
	case retain.open:
		a.Open = "<" + retainTag + ">"
	case summary.open:
		a.Open = "<" + summaryTag + ">"
	}
	return a
}

// A block is the first one of a tag, with what stands around it.
type block struct {
	before, inside, after string
	found, open           bool // open: it is never closed
}

// cutBlock finds the first block of a tag. An open one ends before the other tag.
func cutBlock(text, tag, other string) block {
	start := indexFold(text, "<"+tag+">")
	if start < 0 {
		return block{before: text}
	}
	b := block{before: text[:start], inside: text[start+len(tag)+2:], found: true}
	if end := indexFold(b.inside, "</"+tag+">"); end >= 0 {
		b.inside, b.after = b.inside[:end], b.inside[end+len(tag)+3:]
		return b
	}
	b.open = true
	if end := indexFold(b.inside, "<"+other+">"); end >= 0 {
		b.inside, b.after = b.inside[:end], b.inside[end:]
	}
	return b
}

// indexFold is strings.Index for an ASCII pattern in lower case and a text in any
// case. It keeps positions, which lowering a whole text does not.
func indexFold(text, pattern string) int {
	return strings.Index(lowerASCII(text), pattern)
}
