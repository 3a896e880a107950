package aider

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
)

// A total is what aider says that all calls have cost so far. It mostly begins anew with
// a chat, but not where one process writes the beginnings of several.
type total struct {
	line  int   // of the newest figure; 0 if there is none
	from  int   // the first segment of the calls that it is of
	to    int   // the segment after the newest chat that has a figure
	all   price // the newest figure
	gone  int64 // figures before it that began anew within a chat, as after /model in early versions
	width int64 // of the roundings of these and of the calls, together

	asking, asked question // whose call is to come; whose call was the newest one
	why           []string // what rose by more than its call cost
}

// A question is a command that asks the model, and what all calls before it had cost.
type question struct {
	line int // 0: none
	paid price
}

// usage gives the newest reply what aider says it took:
//
//	Tokens: 12k sent, 1.2k cache write, 3.4k cache hit, 188 received. Cost: $0.05 message, $0.17 session.
//
// What was sent includes what was written to a cache; whether it includes what was
// read from it depends on the provider. Where both are told the cost is on the next line.
func (h *history) usage(no int, told string) {
	tokens, cost, _ := strings.Cut(strings.TrimPrefix(told, counts), ". Cost: ")
	var sent, written, cached, output int
	for figure := range strings.SplitSeq(strings.TrimSuffix(tokens, "."), ", ") {
		number, what, _ := strings.Cut(figure, " ")
		switch n := count(number); what {
		case "sent":
			sent = n
		case "cache write":
			written = n
		case "cache hit":
			cached = n
		case "received":
			output = n
		}
	}
	step := h.asked(no)
	step.Usage, step.ClientCount = prompt(sent, cached, written), true
	step.Usage.Output = output
	h.paid = step
	h.cost(no, cost)
}

// asked returns the Step that a count of tokens is about: that of the newest reply. Where
// the file has none, a line stands for it, since the call was made.
func (h *history) asked(no int) *sessionfile.Step {
	if h.reply == none {
		h.Problem(no, "a count of tokens for a reply that is not in the file")
		h.replied(no, sessionfile.NotInFile("a reply"))
	}
	step := h.log.Segment.Entries[h.reply].Step
	h.reply = none
	return step
}

// prompt returns the disjoint parts of a prompt of which what was sent is all, or all but
// what was read from the cache.
func prompt(sent, cached, written int) llm.Usage {
	input := max(0, sent-written)
	if input >= cached {
		input -= cached
	}
	return llm.Usage{Input: input, CacheRead: cached, CacheWrite5m: written}
}

// A price is what aider says that something cost, in picodollars.
type price struct {
	money int64
	width int64 // of its rounding
}

// priceOf reads a decimal of dollars: "0.17" is rounded to 10^10 picodollars.
func priceOf(dollars string) price {
	p := price{money: chatlog.Cost([]byte(dollars)), width: 1_000_000_000_000}
	_, digits, _ := strings.Cut(dollars, ".")
	for range min(len(digits), 12) {
		p.width /= 10
	}
	return p
}

// cost takes in what the newest call and all calls so far cost: "$0.05 message, $0.17
// session.", or "request" in early versions.
func (h *history) cost(no int, told string) {
	var call price
	for figure := range strings.SplitSeq(strings.TrimSuffix(strings.TrimRight(told, " "), "."), ", ") {
		dollars, what, _ := strings.Cut(strings.TrimPrefix(figure, "$"), " ")
		switch what {
		case "message", "request":
			call = priceOf(dollars)
			h.paid.Cost = call.money
		case "session":
			h.sum(no, priceOf(dollars), call)
		}
	}
}

// sum takes in the cost of all calls so far, and of the newest of them.
func (h *history) sum(no int, all, call price) {
	t := &h.total
	asked := t.asked
	t.asking, t.asked = question{}, t.asking
	switch anew := all.money < t.all.money; {
	case h.fresh && (anew || all.money-call.money <= all.width+call.width):
		h.state()
		h.total = total{from: h.first}
	case anew:
		t.gone += t.all.money
		t.width += t.all.width
	case t.line > 0:
		t.rise(no, all, call, asked)
	}
	h.fresh = false
	t.line, t.all = no, all
	t.width += call.width
}

// rise notes where the cost of all calls rose by more than the newest one cost. After a
// question early versions add what was paid before it to the sum again.
func (t *total) rise(no int, all, call price, asked question) {
	over := all.money - t.all.money - call.money
	width := all.width + t.all.width + call.width
	off := over - asked.paid.money
	switch {
	case 2*over <= width:
	case asked.line > 0 && 2*max(off, -off) <= width+asked.paid.width:
		t.why = append(t.why, fmt.Sprintf("at line %d aider adds again what was paid before line %d", no, asked.line))
	default:
		t.why = append(t.why, fmt.Sprintf("at line %d aider adds more than that call cost: the file has no line of another one", no))
	}
}

// state adds what the file says that the calls of the total cost.
func (h *history) state() {
	t := h.total
	if t.line == 0 || t.to <= t.from {
		return
	}
	h.Session.Stated = append(h.Session.Stated, sessionfile.Stated{
		Line: t.line, What: "session cost", From: t.from, To: t.to,
		Figures: []sessionfile.Figure{{Name: sessionfile.FigureCost, Value: t.gone + t.all.money, Round: t.width + t.all.width}},
		Why:     strings.Join(t.why, "; "),
	})
}

// count returns a number as aider writes it: 188, 1,234, 2.5k, 12k, 1.5M; 0 for
// anything else.
func count(s string) int {
	const maxCount = 1e12
	unit := 1.0
	if k, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = k, 1e3
	} else if m, ok := strings.CutSuffix(s, "M"); ok {
		s, unit = m, 1e6
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if n *= unit; err != nil || !(n > 0 && n < maxCount) {
		return 0
	}
	return int(n + 0.5)
}
