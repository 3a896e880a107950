// Package build is what the readers of agents' sessions share that do not hold wire
// bytes, or not as messages: making parts out of texts, and the conversation of a file
// whose lines form a tree ([Trail]). It is not a reader itself, and only for those below
// sessionfile/internal.
package build

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// beforeCompaction is why a segment cannot be run that goes on from a message that
// is no longer held.
const beforeCompaction = "it goes on from a message before the last compaction"

// WhyCutOff is the reason of a Branch that is a reply the client does not send again.
const WhyCutOff = "cut off: the client does not send this reply again"

// A Trail is the conversation of a file whose lines name the line before them, read
// from front to end: the path that leads to the newest line, since the last compaction.
// Where the conversation goes on from an earlier line a new segment begins, and what
// it leaves is listed in Session.Abandoned. What is held is what came since the last
// compaction, on whatever branch. Lines without ids follow each other.
type Trail struct {
	*read.Reading
	Segment sessionfile.Segment

	nodes []node
	at    map[string]int    // positions in nodes of the ids
	left  map[string]branch // lines that are no longer on the path
	later bool              // a compaction came before the segment
}

// A node is one line of the path.
type node struct {
	id   string
	from int // position of its first entry
}

// A branch is a line that the conversation left, and may come back to.
type branch struct {
	parent  string
	entries []sessionfile.Entry
}

// NewTrail returns a trail that begins with the session's own beginning.
func NewTrail(r *read.Reading) *Trail {
	return &Trail{Reading: r, Segment: sessionfile.Segment{Start: sessionfile.StartRoot}, at: map[string]int{}, left: map[string]branch{}}
}

// Len returns the number of lines of the path.
func (t *Trail) Len() int { return len(t.nodes) }

// Find returns the position on the path of the line with an id.
func (t *Trail) Find(id string) (int, bool) {
	i, ok := t.at[id]
	return i, ok && id != ""
}

// Follow goes to the line whose id is parent, before the line no that names it. No
// parent is the root.
func (t *Trail) Follow(no int, parent string) {
	switch i, ok := t.at[parent]; {
	case len(t.nodes) == 0 || t.nodes[len(t.nodes)-1].id == parent:
	case ok:
		t.Cut(no, i+1, sessionfile.WhyAbandoned)
	case t.back(no, parent):
	case t.later:
		t.lose()
	case parent == "":
		t.Cut(no, 0, sessionfile.WhyAbandoned)
	default:
		t.Problem(no, "its parent %q is not in the file, read as going on from the line before", parent)
	}
}

// back returns to a line that was left. It reports false if it is not one.
func (t *Trail) back(no int, id string) bool {
	var way []string
	for {
		b, ok := t.left[id]
		if !ok {
			break
		}
		way = append(way, id)
		if id = b.parent; len(way) > len(t.left) {
			return false // a circle
		}
	}
	to, ok := t.at[id]
	if len(way) == 0 || !ok && id != "" {
		return false
	}
	if id == "" {
		to = -1
	}
	t.Cut(no, to+1, sessionfile.WhyAbandoned)
	for _, id := range slices.Backward(way) {
		entries := t.left[id].entries
		carried := t.carried(no, entries)
		if carried == nil && len(entries) > 0 {
			t.Segment.NotRun = read.TooMuch
		}
		delete(t.left, id)
		t.Add(id, carried...)
	}
	return true
}

// Add adds a line and its entries, which may be none.
func (t *Trail) Add(id string, entries ...sessionfile.Entry) {
	if id != "" {
		t.at[id] = len(t.nodes)
	}
	t.nodes = append(t.nodes, node{id: id, from: len(t.Segment.Entries)})
	for _, e := range entries {
		if e.Message.Parts = read.Said(e.Message.Parts, e.Step); len(e.Message.Parts) > 0 {
			t.Segment.Entries = append(t.Segment.Entries, e)
		}
	}
}

// Cut takes back all but the first n lines of the path, as line no says.
func (t *Trail) Cut(no, n int, why string) {
	all := t.Segment.Entries
	keep := t.from(n)
	t.leave(n)
	t.drop(n)
	if keep == len(all) {
		return
	}
	t.Session.Abandoned = append(t.Session.Abandoned, sessionfile.Branch{
		First: all[keep].Line, Last: all[len(all)-1].Line, Messages: len(all) - keep, Why: why,
	})
	if !slices.ContainsFunc(all[keep:], func(e sessionfile.Entry) bool { return e.Step != nil }) {
		t.Segment.Entries = all[:keep:keep] // no request had it in the middle, so the segment goes on
		return
	}
	next := t.next(sessionfile.StartRollback)
	if next.Entries = t.carried(no, all[:keep]); next.Entries == nil && keep > 0 {
		next.NotRun = read.TooMuch
		t.drop(0)
	}
	t.Finish()
	t.Segment = next
}

// lose ends the segment for one that begins with what is no longer held.
func (t *Trail) lose() {
	if all := t.Segment.Entries; len(all) > 0 {
		t.Session.Abandoned = append(t.Session.Abandoned, sessionfile.Branch{
			First: all[0].Line, Last: all[len(all)-1].Line, Messages: len(all), Why: sessionfile.WhyAbandoned,
		})
	}
	next := t.next(sessionfile.StartRollback)
	next.NotRun = beforeCompaction
	t.left = map[string]branch{}
	t.drop(0)
	t.Finish()
	t.Segment = next
}

// Compact ends the segment. The next one begins with the entries head, which has id,
// and what the lines of the path from position first on hold.
func (t *Trail) Compact(no int, id string, first int, head ...sessionfile.Entry) {
	next := t.next(sessionfile.StartCompaction)
	next.Entries = slices.Clone(head)
	from := t.from(first)
	kept := t.carried(no, t.Segment.Entries[from:])
	nodes := slices.Clone(t.nodes[first:])
	if kept == nil && from < len(t.Segment.Entries) {
		nodes, next.NotRun = nil, read.TooMuch
	}
	t.Finish()
	t.Segment, t.later, t.left = next, true, map[string]branch{}
	t.drop(0)
	for _, n := range nodes {
		t.nodes = append(t.nodes, node{id: n.id, from: n.from - from + len(head)})
		t.at[n.id] = len(t.nodes) - 1
	}
	t.Segment.Entries = append(t.Segment.Entries, kept...)
	t.Add(id)
}

// Finish ends the segment.
func (t *Trail) Finish() {
	Began(t.Reading, &t.Segment)
	shaped := t.Segment
	Shape(t.Session.Dialect, &shaped) // the trail goes on with its own
	t.Emit(shaped)
}

// from returns the position of the first entry of the line at position n.
func (t *Trail) from(n int) int {
	if n < len(t.nodes) {
		return t.nodes[n].from
	}
	return len(t.Segment.Entries)
}

// leave keeps all but the first n lines for a conversation that comes back to them.
func (t *Trail) leave(n int) {
	for i := n; i < len(t.nodes); i++ {
		parent := ""
		if i > 0 {
			parent = t.nodes[i-1].id
		}
		if id := t.nodes[i].id; id != "" {
			t.left[id] = branch{parent: parent, entries: t.Segment.Entries[t.from(i):t.from(i+1)]}
		}
	}
}

// drop forgets all but the first n lines.
func (t *Trail) drop(n int) {
	for _, gone := range t.nodes[min(n, len(t.nodes)):] {
		delete(t.at, gone.id)
	}
	t.nodes = t.nodes[:min(n, len(t.nodes))]
}

// next returns a new segment with what holds for the one before too.
func (t *Trail) next(start sessionfile.Start) sessionfile.Segment {
	return sessionfile.Segment{Start: start, Sections: t.Segment.Sections, Tools: t.Segment.Tools, Window: t.Segment.Window}
}

// carried returns a copy of entries for which no request was made in their segment;
// nil if they are too many.
func (t *Trail) carried(no int, entries []sessionfile.Entry) []sessionfile.Entry {
	return Carried(t.Reading, no, entries)
}

// Carried returns a copy of entries that a segment carries over from the one before, as
// line no says: without their Steps. It is nil if there are none, or too many.
func Carried(r *read.Reading, no int, entries []sessionfile.Entry) []sessionfile.Entry {
	if len(entries) == 0 || !r.Repeat(no, len(entries)) {
		return nil
	}
	carried := slices.Clone(entries)
	for i := range carried {
		carried[i].Step = nil
	}
	return carried
}

// Began looks at the first message of a segment that is to be the session's own
// beginning. If it answers something, the file starts in the middle.
func Began(r *read.Reading, s *sessionfile.Segment) {
	if s.Start != sessionfile.StartRoot || len(s.Entries) == 0 {
		return
	}
	first := s.Entries[0]
	if first.Message.Role == llm.RoleTool || first.Message.Origin == llm.Model {
		s.Start = sessionfile.StartResumed
		r.Problem(first.Line, "the first message answers something that is not in the file, so the conversation began before it")
	}
}
