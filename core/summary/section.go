package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Titles of the sections.
const (
	titleRequest   = "## Request"
	titleEarlier   = "## Earlier summary"
	titleState     = "## State"
	titleOpen      = "## Open"
	titleDecisions = "## Decisions"
	titleErrors    = "## Errors"
	titleChanged   = "## Files changed"
	titleCommands  = "## Commands"
	titleDone      = "## Done"
	titleRead      = "## Files read"
)

// A share is what a section gets of the budget before the others get what is left.
type share struct {
	title    string
	permille int
}

// shares are the sections in the order in which they stand.
var shares = []share{
	{titleRequest, 250},
	{titleEarlier, 200},
	{titleState, 100},
	{titleOpen, 80},
	{titleDecisions, 80},
	{titleErrors, 80},
	{titleChanged, 80},
	{titleCommands, 80},
	{titleDone, 20},
	{titleRead, 30},
}

// maxItems bounds each section; the newest are kept, and the first request.
const maxItems = 200

// A section is one part of the summary with its items in reading order.
type section struct {
	title string
	share int // of the budget in permille
	items []item
}

// order returns the places of the items, the most important first: the newest on,
// but of the requests the first before them, then the last, then the short ones.
func (s section) order() []int {
	order := make([]int, 0, len(s.items))
	for i := len(s.items) - 1; i >= 0; i-- {
		order = append(order, i)
	}
	if s.title != titleRequest || len(order) < 2 {
		return order
	}
	order = append([]int{0}, order[:len(order)-1]...)
	slices.SortStableFunc(order[2:], func(a, b int) int {
		return cmp.Compare(len(s.items[a].body)/shortRequest, len(s.items[b].body)/shortRequest)
	})
	return order
}

// shortRequest is a size in bytes; a request below it is a sentence or two, which
// say more per token than what people paste.
const shortRequest = 400

// An item is one line, or a free text with a name.
type item struct {
	line string
	// A free text is written after a line that gives its length, because it may
	// hold anything, lines of this form included.
	name string // what it is, such as "message 12"; empty for a line
	body string
}

func (i item) free() bool { return i.name != "" }

func (i item) text() string {
	if !i.free() {
		return i.line
	}
	return freeText(i.name, i.body)
}

func freeText(name, body string) string {
	return "[" + name + ", " + strconv.Itoa(len(body)) + " bytes]\n" + body
}

// within returns the item, a free text cut to fit, or nothing if it does not fit.
func (i item) within(tokens int, count func(string) int) keeping {
	if tokens <= 0 {
		return keeping{}
	}
	// A text of so many bytes is not measured whole: it would not fit.
	if !i.free() || len(i.body) <= maxBytesPerToken*tokens {
		text := i.text()
		if cost := count(text + "\n"); cost <= tokens {
			return keeping{text, cost, true}
		}
	}
	if !i.free() {
		return keeping{}
	}
	text := fit(min(len(i.body), maxBytesPerToken*tokens), tokens, func(n int) string {
		if n < minFree {
			return ""
		}
		return freeText(i.name, middleOut(i.body, n)) + "\n"
	}, count)
	return keeping{strings.TrimSuffix(text, "\n"), count(text), false}
}

const (
	maxBytesPerToken = 16
	minFree          = 40 // bytes; less of a text is not worth its name
)

// middleOut cuts a text to about n bytes: its beginning, a marker with what is
// left out, and half as much of its end.
func middleOut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, tail := clip(text, n*2/3), clipStart(text, n/3)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// fit returns the longest cut of a text that measures at most tokens, "" if none
// does. cut makes one of about n bytes, n up to longest. Where a longer cut may
// measure less, the result is not the longest, but it fits.
func fit(longest, tokens int, cut func(n int) string, count func(string) int) string {
	low, best := 0, ""
	for high := longest; low < high; {
		n := (low + high + 1) / 2
		if candidate := cut(n); count(candidate) <= tokens {
			low, best = n, candidate
		} else {
			high = n - 1
		}
	}
	return best
}

// sectionsOf lays out the facts, after what an earlier summary already had.
func sectionsOf(f Facts, earlier record) []section {
	f.Files = append(slices.Clone(earlier.files), f.Files...)
	f.Commands = append(slices.Clone(earlier.commands), f.Commands...)
	lists := map[string][]item{
		titleRequest: requests(f, earlier),
		titleState:   earlier.free[titleState],
	}
	if earlier.foreign != "" {
		lists[titleEarlier] = []item{{name: "earlier", body: earlier.foreign}}
	}
	if f.Answer.Text != "" {
		lists[titleState] = []item{{name: nameOf(f.Answer.Message), body: strings.TrimSpace(f.Answer.Text)}}
	}
	lines := factLines(f)
	for _, s := range shares {
		lists[s.title] = append(lists[s.title], lineItems(earlier.lines[s.title], lines[s.title])...)
	}
	sections := make([]section, len(shares))
	for i, s := range shares {
		sections[i] = section{s.title, s.permille, newest(lists[s.title], s.title == titleRequest)}
	}
	return sections
}

// lineItems returns the lines of an earlier summary that are not said again, then
// the new ones.
func lineItems(old, lines []string) []item {
	again := make(map[string]bool, len(lines))
	for _, line := range lines {
		again[line] = true
	}
	var items []item
	for _, line := range old {
		if !again[line] {
			items = append(items, item{line: line})
		}
	}
	for _, line := range lines {
		items = append(items, item{line: line})
	}
	return items
}

// newest drops the oldest items beyond maxItems, but not the first if it is kept.
func newest(items []item, keepFirst bool) []item {
	over := len(items) - maxItems
	switch {
	case over <= 0:
		return items
	case keepFirst:
		return append(slices.Clone(items[:1]), items[over+1:]...)
	}
	return items[over:]
}

func nameOf(id llm.MessageID) string {
	if id == 0 {
		return "message"
	}
	return "message " + strconv.Itoa(int(id))
}

// requests returns the human words, those of the earlier summary first.
func requests(f Facts, earlier record) []item {
	items := slices.Clone(earlier.free[titleRequest])
	seen := make(map[item]bool, len(items)+len(f.Human))
	for _, it := range items {
		seen[it] = true
	}
	words := f.Human
	if len(words) == 0 && len(items) == 0 && f.Instruction.Text != "" {
		words = []Statement{f.Instruction}
	}
	for _, s := range words {
		it := item{name: nameOf(s.Message), body: strings.TrimSpace(s.Text)}
		if !seen[it] {
			seen[it] = true
			items = append(items, it)
		}
	}
	return items
}
