package prompt

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Styles say where marks stand.
const (
	// MarksMoving: at the end of the first cacheable section, of the last one, of the last
	// request and of this one. Without sections the tools have the first.
	MarksMoving = "moving"
	// MarksSections: behind the cacheable sections and the tools, for a provider that keeps
	// nothing else. The messages have none.
	MarksSections = "sections"
	// MarksNone: there are none.
	MarksNone = "none"
)

// A Layout is a request as marks see it.
type Layout struct {
	Tools    int // how many are offered, up to the last that may have a mark
	Sections []llm.Section
	Items    []edit.Item
}

// A Place is where a mark stands: on a section, on a tool or on a message.
type Place struct {
	On   Piece
	At   int // among the sections, tools or items
	Mark llm.Mark
}

// A Piece is what a mark can stand on.
type Piece uint8

// The pieces.
const (
	OnTool Piece = iota
	OnSection
	OnItem
)

// String returns the name of p.
func (p Piece) String() string { return [...]string{"tool", "section", "item"}[min(p, OnItem)] }

// Marks returns where the marks of a request stand, in the order of the prompt, for a provider
// with that rule. front is the mark of what stands before the messages: [llm.MarkLong] where
// that is to outlast pauses. A provider that takes no marks, or needs none at the end of a
// request since it finds that by itself, gets none there.
func Marks(rule catalog.CacheRule, style string, front llm.Mark, l Layout) []Place {
	if rule.Marks == 0 || style == MarksNone || style == MarksSections && !rule.Marked {
		return nil
	}
	if len(rule.Lifetimes) < 2 {
		front = llm.MarkShort // there is but one
	}
	var out []Place
	if style == MarksSections {
		if l.Tools > 0 {
			out = append(out, Place{OnTool, l.Tools - 1, front})
		}
		for _, i := range first(documented(l.Sections), rule.Marks-len(out)) {
			out = append(out, Place{OnSection, i, front})
		}
		return out
	}
	stable := stable(l.Sections)
	switch n := len(stable); {
	case n > 1:
		out = append(out, Place{OnSection, stable[0], front}, Place{OnSection, stable[n-1], front})
	case n == 1:
		out = append(out, Place{OnSection, stable[0], front})
	case l.Tools > 0 && rule.Marked:
		out = append(out, Place{OnTool, l.Tools - 1, front})
	}
	if !rule.Marked {
		return out
	}
	return append(out, moving(l)...)
}

func first(at []int, n int) []int { return at[:min(len(at), n)] }

// documented returns the places of the sections after which the document wants a breakpoint:
// of the stable ones those that are no skills.
func documented(sections []llm.Section) []int {
	return slices.DeleteFunc(stable(sections), func(i int) bool { return sections[i].Kind != llm.SectionSystem })
}

// stable returns the places of the cacheable sections before the first that is not, without
// those that say nothing.
func stable(sections []llm.Section) (at []int) {
	for i, s := range sections {
		switch {
		case strings.TrimSpace(s.Text) == "":
		case !s.Cacheable:
			return at
		default:
			at = append(at, i)
		}
	}
	return at
}

// moving returns the two marks at the tail. The one at the end of the last request that was
// answered stands where that had its own, so that what it wrote is found however many blocks
// have come since.
func moving(l Layout) []Place {
	now := markable(l.Items)
	if now < 0 {
		return nil
	}
	last := Place{OnItem, now, llm.MarkShort}
	before := markable(l.Items[:answered(l.Items)])
	if before < 0 || before == now {
		return []Place{last}
	}
	return []Place{{OnItem, before, llm.MarkShort}, last}
}

// answered returns where the newest reply begins, which is where the request that it answers
// has ended; 0 if there is none.
func answered(items []edit.Item) int {
	at := len(items)
	for at > 0 && items[at-1].Message.Origin != llm.Model {
		at--
	}
	for at > 0 && items[at-1].Message.Origin == llm.Model {
		at--
	}
	return at
}

// markable returns the last item that a mark can stand on; -1 if none is.
func markable(items []edit.Item) int {
	for i := len(items) - 1; i >= 0; i-- {
		if slices.ContainsFunc(items[i].Message.Parts, takesMark) {
			return i
		}
	}
	return -1
}

// takesMark reports whether a provider lets a mark stand on p: not on thinking, nor on what
// is blank or not understood.
func takesMark(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Text:
		return strings.TrimSpace(p.Text) != ""
	case llm.Stub:
		return strings.TrimSpace(p.Text) != ""
	case llm.ToolCall:
		return !p.Hosted
	case llm.ToolResult, llm.Media:
		return true
	}
	return false
}

// Marked returns a request with marks on it. A list that gets a mark is copied.
func Marked(r llm.Request, places []Place) llm.Request {
	var tools, sections, messages bool
	for _, p := range places {
		switch p.On {
		case OnTool:
			if !tools {
				r.Tools, tools = slices.Clone(r.Tools), true
			}
			r.Tools[p.At].Mark = p.Mark
		case OnSection:
			if !sections {
				r.Sections, sections = slices.Clone(r.Sections), true
			}
			r.Sections[p.At].Mark = p.Mark
		case OnItem:
			if !messages {
				r.Messages, messages = slices.Clone(r.Messages), true
			}
			r.Messages[p.At].Mark = p.Mark
		}
	}
	return r
}
