package openhands

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A summary is the last one that a condensation gave. It stays until there is another.
type summary struct {
	text   string
	line   int
	offset int // among the events that are left; negative: behind them
}

// place returns before which of n events the summary stands, or none. The system
// prompt is an event where there is one, but not of those n.
func (s *summary) place(n int, system bool) int {
	const none = -1
	switch {
	case s == nil:
		return none
	case s.offset < 0:
		return n
	case system && s.offset > 0:
		return min(s.offset-1, n)
	}
	return min(s.offset, n)
}

// condense starts a new segment with the events that a condensation left.
func (t *trajectory) condense(line int, args read.Fields) {
	t.forget(args)
	kept := t.kept()
	window := t.Segment.Window
	sections, tools, name := t.Segment.Sections, t.Segment.Tools, t.Segment.Name
	t.Emit(t.Segment)
	t.replies = map[string]int{}
	t.Segment = sessionfile.Segment{Name: name, Start: sessionfile.StartCompaction, Sections: sections, Tools: tools, Window: window}
	if t.lost = t.lost || !t.Repeat(line, len(kept)+1); t.lost {
		t.Segment.NotRun = read.TooMuch
		t.past, kept = nil, nil
	}
	if text := args.Str("summary"); text != "" {
		t.summary = &summary{text: text, line: line, offset: -1}
		if n, err := strconv.Atoi(string(args["summary_offset"])); err == nil && n >= 0 {
			t.summary.offset = n
		}
	}
	at := t.summary.place(len(kept), len(sections) > 0)
	for i := range len(kept) + 1 {
		if i == at {
			m := chatlog.Note(t.summary.text)
			m.Flags = llm.FlagSummary
			t.Segment.Entries = append(t.Segment.Entries, sessionfile.Entry{Message: m, Line: t.summary.line})
		}
		if i < len(kept) {
			t.carry(kept[i])
		}
	}
}

// carry takes the messages of an event over.
func (t *trajectory) carry(e *event) {
	for _, entry := range e.messages {
		entry.Step = nil
		t.Segment.Entries = append(t.Segment.Entries, entry)
		if e.response != "" {
			t.replies[e.response] = len(t.Segment.Entries) - 1
		}
	}
}

// forget marks the events that a condensation names: by their ids, or from the first
// to the last of them. One version calls them pruned.
func (t *trajectory) forget(args read.Fields) {
	ids := map[string]bool{}
	for _, name := range []string{"forgotten_event_ids", "pruned_event_ids"} {
		read.EachElement(args[name], func(value []byte) bool {
			ids[string(value)] = true
			return true
		})
	}
	first, last := 0, -1
	for _, name := range []string{"forgotten_events", "pruned_events"} {
		from, err1 := strconv.Atoi(string(args[name+"_start_id"]))
		to, err2 := strconv.Atoi(string(args[name+"_end_id"]))
		if err1 == nil && err2 == nil {
			first, last = from, to
		}
	}
	for _, e := range t.past {
		n, err := strconv.Atoi(e.id)
		if ids[e.id] || err == nil && first <= n && n <= last {
			e.forgot = true
		}
	}
}

// kept returns the events that are not forgotten. A reply goes if one of its calls or
// of their results does, and takes the others along.
func (t *trajectory) kept() []*event {
	gone := map[string]bool{} // calls
	replies := map[string]bool{}
	of := map[string]string{} // the reply of a call
	for _, e := range t.past {
		for _, id := range e.calls {
			of[id] = e.response
		}
	}
	for _, e := range t.past {
		if !e.forgot {
			continue
		}
		for _, id := range append(resultsOf(e), e.calls...) {
			gone[id] = true
			replies[of[id]] = of[id] != ""
		}
	}
	var kept []*event
	for _, e := range t.past {
		for _, id := range append(resultsOf(e), e.calls...) {
			e.forgot = e.forgot || gone[id] || replies[of[id]]
		}
		if !e.forgot {
			kept = append(kept, e)
		}
	}
	t.past = kept
	return kept
}

// resultsOf returns the calls that an event has results of.
func resultsOf(e *event) []string {
	var ids []string
	for _, entry := range e.messages {
		for _, result := range entry.Message.Results() {
			ids = append(ids, result.CallID)
		}
	}
	return ids
}
