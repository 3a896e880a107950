package aider

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
)

// usage gives the newest reply what aider says it took:
//
//	Tokens: 12k sent, 1.2k cache write, 3.4k cache hit, 188 received. Cost: $0.05 message, $0.17 session.
//
// What was sent includes what was written to a cache; whether it includes what was
// read from it depends on the provider.
func (h *history) usage(told string) {
	if h.reply == none {
		return
	}
	step := h.log.Segment.Entries[h.reply].Step
	h.reply = none
	tokens, cost, _ := strings.Cut(strings.TrimPrefix(told, "Tokens: "), ". Cost: $")
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
	step.Usage = chatlog.Disjoint(sent, cached, written)
	step.Usage.Output = output
	dollars, _, _ := strings.Cut(cost, " ")
	step.Cost = chatlog.Cost([]byte(dollars))
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
