package replay

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// join returns s with the segments of each conversation as one, as if the client
// had never cut anything: what a later segment carries over from earlier ones, its
// summary included, is left out.
func join(s *sessionfile.Session) *sessionfile.Session {
	out := *s
	out.Segments = nil
	for i, seg := range s.Segments {
		if i == 0 || seg.Start == sessionfile.StartRoot {
			seg.Entries = append([]sessionfile.Entry(nil), seg.Entries...)
			out.Segments = append(out.Segments, seg)
			continue
		}
		one := &out.Segments[len(out.Segments)-1]
		line := lastLine(*one)
		for _, e := range seg.Entries {
			if e.Line > line && !carried(e) {
				one.Entries = append(one.Entries, e)
			}
		}
	}
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
