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
	at := make([]int, 0, len(s.Segments)+1) // of each segment, that of its conversation
	for i, seg := range s.Segments {
		if i == 0 || seg.Start == sessionfile.StartRoot {
			seg.Entries = append([]sessionfile.Entry(nil), seg.Entries...)
			out.Segments = append(out.Segments, seg)
			at = append(at, len(out.Segments)-1)
			continue
		}
		at = append(at, len(out.Segments)-1)
		one := &out.Segments[len(out.Segments)-1]
		line := lastLine(*one)
		for _, e := range seg.Entries {
			if e.Line > line && !carried(e) {
				one.Entries = append(one.Entries, e)
			}
		}
	}
	out.Stated = joined(s.Stated, append(at, len(out.Segments)))
	return &out
}

// joined returns what is stated of whole conversations, by these.
func joined(stated []sessionfile.Stated, at []int) []sessionfile.Stated {
	var out []sessionfile.Stated
	for _, st := range stated {
		if st.From < 0 || st.To >= len(at) || st.From >= st.To {
			continue
		}
		begins, ends := st.From == 0 || at[st.From-1] != at[st.From], at[st.To] != at[st.To-1]
		if begins && ends {
			st.From, st.To = at[st.From], at[st.To-1]+1
			out = append(out, st)
		}
	}
	return out
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
