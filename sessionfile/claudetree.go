package sessionfile

import (
	"slices"

	"github.com/tidwall/gjson"
)

// A tree is the lines of a Claude Code file with their parents resolved.
type tree struct {
	*reading
	records []record
	byUUID  map[string]int // of the first line with each uuid
	parent  []int          // of each record, or isRoot, isBroken
	copied  []bool         // the uuid was on an earlier line
	before  []int          // the nearest earlier record of the conversation that may be unvisited, or -1
	visited []bool
	reply   []int         // of a reply's line: its first line; of others themselves
	lines   map[int][]int // of a reply, by its first line
	results map[int][]int // of a reply's calls, with what hangs on them, by its first line
	keeps   map[int][]int // what the compaction at a boundary kept; -1 for what is not in the file
	kept    map[int]int   // the same the other way round: the last boundary that kept a record
	summary map[int]int   // the summary behind a boundary
	side    bool          // the file is a sub-agent's own
}

// A stretch is the part of the active path between two compactions, oldest first.
type stretch struct {
	path     []int
	boundary int // record of the compaction it starts with, or -1
	start    Start
	outside  bool // the first record names a parent that is not in the file
}

func newTree(c *claude) *tree {
	n := len(c.records)
	t := &tree{
		reading: c.reading, records: c.records, byUUID: make(map[string]int, n), parent: make([]int, n),
		copied: make([]bool, n), before: make([]int, n), visited: make([]bool, n), side: true,
		keeps: map[int][]int{}, kept: map[int]int{}, summary: map[int]int{},
	}
	for i := range t.records {
		rec := &t.records[i]
		if rec.said() && !rec.side {
			t.side = false
		}
		if rec.uuid == "" {
			continue
		}
		if first, ok := t.byUUID[rec.uuid]; ok {
			t.copied[i] = true
			t.problem(rec.line, "uuid %q was already used on line %d, skipped", rec.uuid, t.records[first].line)
			continue
		}
		t.byUUID[rec.uuid] = i
	}
	t.resolve()
	t.replies()
	return t
}

// resolve finds every record's parent and predecessor.
func (t *tree) resolve() {
	last := -1
	for i := range t.records {
		rec := &t.records[i]
		t.before[i] = last
		if t.main(i) && rec.said() {
			last = i
		}
		t.parent[i] = isBroken
		if rec.rooted {
			t.parent[i] = isRoot
		} else if p, ok := t.byUUID[rec.parent]; ok && rec.parent != "" {
			t.parent[i] = p
		}
		if rec.summary && t.parent[i] >= 0 {
			t.summary[t.parent[i]] = i
		}
		if rec.boundary != compactBoundary {
			continue
		}
		t.keeps[i] = t.preserved(i)
		for _, k := range t.keeps[i] {
			if k >= 0 {
				t.kept[k] = i
			}
		}
	}
}

// main reports whether a record belongs to the conversation whose file this is.
func (t *tree) main(i int) bool {
	return !t.copied[i] && (t.side || !t.records[i].side)
}

// leaf returns the last record of the conversation, or -1.
func (t *tree) leaf() int {
	for i := len(t.records) - 1; i >= 0; i-- {
		if t.main(i) && t.records[i].said() {
			return i
		}
	}
	return -1
}

// stretches returns the active path, split at compactions, oldest first.
func (t *tree) stretches() []stretch {
	var all []stretch
	for leaf := t.leaf(); leaf >= 0 && !t.visited[leaf]; {
		var s stretch
		s, leaf = t.walk(leaf)
		all = append(all, s)
	}
	slices.Reverse(all)
	return all
}

// walk follows the path from leaf up to a root or a compaction. It returns the
// record from which the stretch before goes on, or -1.
func (t *tree) walk(leaf int) (stretch, int) {
	s := stretch{boundary: -1, start: StartRoot}
	next := -1
	for i := leaf; i >= 0; {
		t.visited[i] = true
		s.path = append(s.path, i)
		rec := &t.records[i]
		if rec.boundary == compactBoundary || rec.summary && t.parent[i] == isRoot {
			s.start, s.boundary, next = StartCompaction, i, t.compacted(i)
			break
		}
		p := t.up(i)
		if p >= 0 && t.visited[p] {
			t.problem(rec.line, "parentUuid %q leads in a circle, went on with the line before", rec.parent)
			p = t.earlier(i)
		} else if p == isBroken {
			p = t.earlier(i)
			s.outside = rec.parent != ""
			t.broken(rec, p)
		}
		if p == isBroken {
			s.start = StartResumed
			break
		}
		i = p
	}
	slices.Reverse(s.path)
	return s, next
}

// broken reports a parent that is missing.
func (t *tree) broken(rec *record, p int) {
	switch {
	case rec.parent == "" && p == isBroken:
		t.problem(rec.line, "the line names no parent, so the conversation may have begun before this file")
	case rec.parent == "":
		t.problem(rec.line, "the line names no parent, went on with the line before")
	case p == isBroken:
		t.problem(rec.line, "parentUuid %q is not in the file, so the conversation began before it", rec.parent)
	default:
		t.problem(rec.line, "parentUuid %q is not in the file, went on with line %d", rec.parent, t.records[p].line)
	}
}

// up returns the parent of a record on the path. A line written after a
// compaction may name a message that the compaction kept; the path then goes on
// at the boundary, since that is where the client put the message.
func (t *tree) up(i int) int {
	p := t.parent[i]
	if p < 0 {
		return p
	}
	b, ok := t.kept[p]
	if !ok || t.visited[b] || i <= b || t.records[i].boundary == compactBoundary {
		return p
	}
	if k, ok := t.summary[b]; ok && k < i && !t.visited[k] {
		return k
	}
	return b
}

// earlier returns the nearest record of the conversation before i that is not
// on the path, or isBroken.
func (t *tree) earlier(i int) int {
	j := t.before[i]
	for j >= 0 && t.visited[j] {
		j = t.before[j]
	}
	for k := i; k >= 0 && k != j; { // so that the next search is short
		k, t.before[k] = t.before[k], j
	}
	if j < 0 {
		return isBroken
	}
	return j
}

// compacted returns the record from which the stretch before a compaction is
// walked, or -1.
func (t *tree) compacted(i int) int {
	rec := &t.records[i]
	for _, uuid := range []string{rec.logical, rec.parent} {
		if p, ok := t.byUUID[uuid]; ok && uuid != "" && !t.visited[p] {
			return p
		}
	}
	p := t.earlier(i)
	if p == isBroken {
		return -1
	}
	if rec.logical != "" {
		t.problem(rec.line, "logicalParentUuid %q is not in the file, took line %d for the end of the stretch before", rec.logical, t.records[p].line)
	}
	return p
}

// abandoned lists the conversation lines that are in no segment, which used
// says for each record.
func (t *tree) abandoned(used []bool) []Branch {
	var all []Branch
	open := false
	for i := range t.records {
		rec := &t.records[i]
		if !rec.said() || t.copied[i] {
			continue
		}
		if used[i] {
			open = false
			continue
		}
		why := WhyAbandoned
		if rec.side && !t.side {
			why = WhySubAgent
		}
		if last := len(all) - 1; open && all[last].Why == why {
			all[last].Last = rec.line
			all[last].Messages++
			continue
		}
		all = append(all, Branch{First: rec.line, Last: rec.line, Messages: 1, Why: why})
		open = true
	}
	return all
}

// preserved returns the records that the compaction at a boundary kept, in order,
// with -1 for each that is not in the file.
func (t *tree) preserved(boundary int) []int {
	data := gjson.ParseBytes(t.records[boundary].body)
	var kept []int
	for _, uuid := range data.Get("preservedMessages.uuids").Array() {
		k, ok := t.byUUID[uuid.String()]
		if !ok {
			k = -1
		}
		kept = append(kept, k)
	}
	segment := data.Get("preservedSegment")
	if kept != nil || !segment.Exists() {
		return kept
	}
	head := segment.Get("headUuid").String()
	k, ok := t.byUUID[segment.Get("tailUuid").String()]
	if !ok {
		k = none
	}
	for k >= 0 && k < boundary && t.repeat(t.records[boundary].line, 1) {
		kept = append(kept, k)
		if t.records[k].uuid == head {
			slices.Reverse(kept)
			return kept
		}
		k = t.parent[k]
	}
	return []int{none}
}
