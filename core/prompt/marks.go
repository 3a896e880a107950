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

// Marks returns where the marks of a request stand, in the order of the prompt, for a provider
// with that rule. front is the mark of what stands before the messages: [llm.MarkLong] where
// that is to outlast pauses. A provider that takes no marks, or needs none at the end of a
// request since it finds that by itself, gets none there.
func Marks(rule catalog.CacheRule, style string, front llm.Mark, l Layout) llm.Marks {
	if rule.Marks == 0 || style == MarksNone || style == MarksSections && !rule.Marked {
		return nil
	}
	if len(rule.Lifetimes) < 2 {
		front = llm.MarkShort // there is but one
	}
	var out llm.Marks
	if style == MarksSections {
		if l.Tools > 0 {
			out = append(out, llm.Place{On: llm.OnTool, At: l.Tools - 1, Mark: front})
		}
		for _, i := range first(documented(l.Sections), rule.Marks-len(out)) {
			out = append(out, llm.Place{On: llm.OnSection, At: i, Mark: front})
		}
		return out
	}
	stable := stable(l.Sections)
	switch n := len(stable); {
	case n > 1:
		out = append(out, llm.Place{On: llm.OnSection, At: stable[0], Mark: front}, llm.Place{On: llm.OnSection, At: stable[n-1], Mark: front})
	case n == 1:
		out = append(out, llm.Place{On: llm.OnSection, At: stable[0], Mark: front})
	case l.Tools > 0 && rule.Marked:
		out = append(out, llm.Place{On: llm.OnTool, At: l.Tools - 1, Mark: front})
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
func moving(l Layout) llm.Marks {
	now := markable(l.Items)
	if now < 0 {
		return nil
	}
	last := llm.Place{On: llm.OnMessage, At: now, Mark: llm.MarkShort}
	before := markable(l.Items[:answered(l.Items)])
	if before < 0 || before == now {
		return llm.Marks{last}
	}
	return llm.Marks{{On: llm.OnMessage, At: before, Mark: llm.MarkShort}, last}
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
