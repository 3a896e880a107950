package claudecode

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A tree is the lines of a file with their parents resolved. What is kept of it
// between two runs over a file is about 100 bytes a line.
type tree struct {
	*read.Reading
	index
	byUUID map[id]int32 // the first line with each uuid
	links
	keeps map[int][]int // what the compaction at a boundary kept; -1 for what is not in the file
	side  bool          // the file is a sub-agent's own
	grown int           // messages that keeps holds and Repeat counted
	parts []stretch     // the active path

	way *way // until the active path is known
}

// A way is what finds the active path.
type way struct {
	ids     []ids
	parent  []int32     // of each record, or isRoot, isBroken
	before  []int32     // the nearest earlier record of the conversation that may be unvisited, or none
	visited []bool      //
	joined  joined      // which sessions of the file are one conversation
	kept    map[int]int // keeps the other way round: the last boundary that kept a record
	summary map[int]int // the summary behind a boundary
}

// A stretch is the part of the active path between two compactions, oldest first.
type stretch struct {
	name     string // of its conversation, in a file that holds several
	path     []int32
	boundary int // record of the compaction it starts with, or none
	start    sessionfile.Start
	outside  bool // the first record names a parent that is not in the file
}

// newTree resolves the lines of a scan.
func newTree(c *scan, in *read.Input) *tree {
	n := len(c.records)
	t := &tree{
		Reading: c.Reading, index: index{records: c.records, in: in}, byUUID: make(map[id]int32, n),
		side: true, keeps: map[int][]int{},
		way: &way{
			ids: c.ids, parent: make([]int32, n), before: make([]int32, n), visited: make([]bool, n),
			kept: map[int]int{}, summary: map[int]int{}, joined: newJoined(c.sessions),
		},
	}
	for i := range t.records {
		rec := &t.records[i]
		if rec.said() && !rec.has(isSide) {
			t.side = false
		}
		uuid := c.ids[i].uuid
		if uuid == (id{}) {
			continue
		}
		if first, ok := t.byUUID[uuid]; ok {
			rec.is |= isCopied
			f := t.line(i)
			t.Problem(rec.at(), "uuid %q was already used on line %d, skipped", read.Str(f.uuid), t.records[first].line)
			continue
		}
		t.byUUID[uuid] = int32(i)
	}
	t.resolve()
	t.links = t.replies()
	t.parts = t.stretches()
	t.way = nil
	return t
}

// named returns the first record with an id.
func (t *tree) named(uuid id) (int, bool) {
	i, ok := t.byUUID[uuid]
	return int(i), ok && uuid != id{}
}

// resolve finds every record's parent and predecessor.
func (t *tree) resolve() {
	w := t.way
	for i := range t.records {
		rec := &t.records[i]
		w.parent[i] = isBroken
		if rec.has(isRooted) {
			w.parent[i] = isRoot
		} else if p, ok := t.named(w.ids[i].parent); ok {
			w.parent[i] = int32(p)
		}
		if rec.has(isSummary) && w.parent[i] >= 0 {
			w.summary[int(w.parent[i])] = i
		}
		if rec.boundary != compactBoundary {
			continue
		}
		t.keeps[i] = t.preserved(i)
		for _, k := range t.keeps[i] {
			if k >= 0 {
				w.kept[k] = i
			}
		}
	}
	t.join()
	last := newInts(len(w.joined.to))
	for i := range t.records {
		c := t.conversation(i)
		w.before[i] = last[c]
		if t.main(i) && t.records[i].said() {
			last[c] = int32(i)
		}
	}
}

// main reports whether a record belongs to the conversation whose file this is.
func (t *tree) main(i int) bool {
	rec := &t.records[i]
	return !rec.has(isCopied) && (t.side || !rec.has(isSide))
}

// stretches returns the active path of each conversation, split at compactions, oldest
// first.
func (t *tree) stretches() []stretch {
	var all []stretch
	for _, c := range t.conversations() {
		from := len(all)
		for leaf := c.leaf; leaf >= 0 && !t.way.visited[leaf]; {
			var s stretch
			s, leaf = t.walk(leaf)
			s.name = c.name
			all = append(all, s)
		}
		slices.Reverse(all[from:])
	}
	return all
}

// walk follows the path from leaf up to a root or a compaction. It returns the
// record from which the stretch before goes on, or none.
func (t *tree) walk(leaf int) (stretch, int) {
	s := stretch{boundary: none, start: sessionfile.StartRoot}
	next := none
	for i := leaf; i >= 0; {
		t.way.visited[i] = true
		s.path = append(s.path, int32(i))
		rec := &t.records[i]
		if rec.boundary == compactBoundary || rec.has(isSummary) && t.way.parent[i] == isRoot {
			s.start, s.boundary, next = sessionfile.StartCompaction, i, t.compacted(i)
			break
		}
		p := t.up(i)
		if p >= 0 && t.way.visited[p] {
			t.Problem(rec.at(), "parentUuid %q leads in a circle, went on with the line before", t.parentOf(i))
			p = t.earlier(i)
		} else if p == isBroken {
			p = t.earlier(i)
			s.outside = rec.has(hasParent)
			t.broken(i, p)
		}
		if p == isBroken {
			s.start = sessionfile.StartResumed
			break
		}
		i = p
	}
	slices.Reverse(s.path)
	s.path = slices.Clip(s.path)
	return s, next
}

// parentOf returns the parent's id as the line says it.
func (t *tree) parentOf(i int) string {
	f := t.line(i)
	return read.Str(f.parent)
}

// broken reports a parent that is missing.
func (t *tree) broken(i, p int) {
	rec := &t.records[i]
	line := rec.at()
	switch {
	case !rec.has(hasParent) && p == isBroken:
		t.Problem(line, "the line names no parent, so the conversation may have begun before this file")
	case !rec.has(hasParent):
		t.Problem(line, "the line names no parent, went on with the line before")
	case p == isBroken:
		t.Problem(line, "parentUuid %q is not in the file, so the conversation began before it", t.parentOf(i))
	default:
		t.Problem(line, "parentUuid %q is not in the file, went on with line %d", t.parentOf(i), t.records[p].line)
	}
}

// up returns the parent of a record on the path. A line written after a
// compaction may name a message that the compaction kept; the path then goes on
// at the boundary, since that is where the client put the message.
func (t *tree) up(i int) int {
	p := int(t.way.parent[i])
	if p < 0 {
		return p
	}
	b, ok := t.way.kept[p]
	if !ok || t.way.visited[b] || i <= b || t.records[i].boundary == compactBoundary {
		return p
	}
	if k, ok := t.way.summary[b]; ok && k < i && !t.way.visited[k] {
		return k
	}
	return b
}

// earlier returns the nearest record of the conversation before i that is not
// on the path, or isBroken.
func (t *tree) earlier(i int) int {
	before := t.way.before
	j := before[i]
	for j >= 0 && t.way.visited[j] {
		j = before[j]
	}
	for k := int32(i); k >= 0 && k != j; { // so that the next search is short
		k, before[k] = before[k], j
	}
	if j < 0 {
		return isBroken
	}
	return int(j)
}

// compacted returns the record from which the stretch before a compaction is
// walked, or none.
func (t *tree) compacted(i int) int {
	f := t.line(i)
	logical := read.Str(f.logical)
	for _, uuid := range []id{idOf(f.logical), t.way.ids[i].parent} {
		if p, ok := t.named(uuid); ok && !t.way.visited[p] {
			return p
		}
	}
	p := t.earlier(i)
	if p == isBroken {
		return none
	}
	if logical != "" {
		t.Problem(t.records[i].at(), "logicalParentUuid %q is not in the file, took line %d for the end of the stretch before", logical, t.records[p].line)
	}
	return p
}

// preserved returns the records that the compaction at a boundary kept, in order,
// with none for each that is not in the file.
func (t *tree) preserved(boundary int) []int {
	data := t.data(boundary)
	var kept []int
	for _, uuid := range data.Get("preservedMessages.uuids").Array() {
		k, ok := t.named(idOfText(uuid.String()))
		if !ok {
			k = none
		}
		kept = append(kept, k)
	}
	segment := data.Get("preservedSegment")
	if kept != nil || !segment.Exists() {
		return kept
	}
	head, known := t.named(idOfText(segment.Get("headUuid").String()))
	k, ok := t.named(idOfText(segment.Get("tailUuid").String()))
	if !ok {
		k = none
	}
	for k >= 0 && k < boundary && t.Repeat(t.records[boundary].at(), 1) {
		t.grown++
		kept = append(kept, k)
		if known && k == head {
			slices.Reverse(kept)
			return kept
		}
		k = int(t.way.parent[k])
	}
	return []int{none}
}
