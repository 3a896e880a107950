package replay

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// join returns s with all its segments as one, as if the client had never cut
// anything: what a later segment carries over from earlier ones, its summary
// included, is left out.
func join(s *sessionfile.Session) *sessionfile.Session {
	if len(s.Segments) < 2 {
		return s
	}
	out := *s
	one := s.Segments[0]
	one.Entries = append([]sessionfile.Entry(nil), one.Entries...)
	line := lastLine(one)
	for _, seg := range s.Segments[1:] {
		for _, e := range seg.Entries {
			if e.Line > line && !carried(e) {
				one.Entries = append(one.Entries, e)
			}
		}
		line = max(line, lastLine(seg))
	}
	out.Segments = []sessionfile.Segment{one}
	return &out
}

// carried reports whether an entry only stands for what came before.
func carried(e sessionfile.Entry) bool { return e.Message.Flags.Has(llm.FlagSummary) }

func lastLine(seg sessionfile.Segment) int {
	n := 0
	for _, e := range seg.Entries {
		n = max(n, e.Line)
	}
	return n
}
