package inspect

import (
	"cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// cuts lists what the client took out of the context.
func (r *reading) cuts() {
	for _, g := range r.segments {
		if !isCut(g.Start) {
			continue
		}
		if prev, ok := before(r.segments[:g.number-1], g); ok {
			c := cutOf(prev, g)
			r.cold(&c, prev)
			r.report.Cuts = append(r.report.Cuts, c)
		}
	}
}

// isCut reports whether a segment starts with what a client or a person took out.
func isCut(s sessionfile.Start) bool {
	return s == sessionfile.StartCompaction || s == sessionfile.StartMicrocompaction || s == sessionfile.StartRollback
}

// cold sets how long after the last Step a compaction came, and what it cost if the
// provider's cache had lapsed by then: the whole prompt had to be sent at full price for the
// summary. Only where the client uses a cache that keeps what is marked for a stated time.
func (r *reading) cold(c *Cut, prev *segment) {
	if c.What != string(sessionfile.StartCompaction) || c.Time == 0 || len(prev.steps) == 0 {
		return
	}
	last := prev.steps[len(prev.steps)-1]
	model := cmp.Or(last.info.Model, prev.model)
	rule := prev.listed(r.o, model).rule
	if last.info.Time == 0 || c.Time <= last.info.Time || !rule.Marked || len(rule.Lifetimes) == 0 || !prev.caching.used {
		return
	}
	c.Idle = int((c.Time - last.info.Time) / 1000)
	kept := rule.Lifetimes[0]
	if prev.caching.long {
		kept = rule.Lifetimes[len(rule.Lifetimes)-1]
	}
	if c.Idle <= kept {
		return
	}
	c.Cold = c.Idle - kept
	full, read := prev.price(r.o, model, llm.Usage{Input: c.Before}), prev.price(r.o, model, llm.Usage{CacheRead: c.Before})
	if full.Known && read.Known {
		cost := catalog.Dollars(full.Pico - read.Pico)
		c.ColdUSD = &cost
	}
}

// carriedOver returns how many of a segment's first entries make its new context:
// what the client kept and what it put in, without what was said since.
func (g *segment) carriedOver(prev *segment) int {
	end, last := len(g.Entries), 0
	if len(g.steps) > 0 {
		end = g.steps[0].entry
	}
	for _, e := range prev.Entries {
		last = max(last, e.Line)
	}
	for end > 0 {
		if e := g.Entries[end-1]; e.Message.Origin == llm.Note || e.Line <= last {
			break
		}
		end--
	}
	return end
}

func cutOf(prev, g *segment) Cut {
	start := g.carriedOver(prev)
	c := Cut{
		StepRef: StepRef{g.number, min(1, len(g.steps))}, What: string(g.Start),
		MessagesBefore: len(prev.Entries), MessagesAfter: start,
	}
	if n := len(prev.steps); n > 0 {
		c.Before = prev.steps[n-1].tokens
	}
	if len(g.steps) > 0 {
		c.After = g.steps[0].tokens
	}
	was, dropped, added := alignment(prev, len(prev.Entries), g, start), token.Contents{}, token.Contents{}
	for _, i := range was.removed {
		c.DroppedMessages++
		dropped = dropped.Add(totalOf(prev.sizes[i]))
	}
	for _, p := range was.changed {
		c.ChangedMessages++
		gain, loss := apart(totalOf(prev.sizes[p[0]]), totalOf(g.sizes[p[1]]))
		dropped, added = dropped.Add(loss), added.Add(gain)
	}
	for _, i := range was.added {
		added = added.Add(totalOf(g.sizes[i]))
	}
	c.Dropped, c.Added = named(dropped), named(added)
	c.Line, c.Time = g.boundary(was, start)
	c.Time = cmp.Or(g.Cut, c.Time)
	return c
}

// boundary returns where and when a cut was made: with the first message that was
// new, else with the first one after it.
func (g *segment) boundary(a aligned, start int) (line int, at int64) {
	i := start
	if len(a.added) > 0 {
		i = a.added[0]
	}
	for ; i < len(g.Entries); i++ {
		e := g.Entries[i]
		if line == 0 {
			line = e.Line
		}
		if e.Time != 0 {
			return line, e.Time
		}
	}
	return line, 0
}

// apart returns what b has more than a and what a has more than b.
func apart(a, b token.Contents) (gain, loss token.Contents) {
	for i := range a {
		gain[i], loss[i] = max(b[i]-a[i], 0), max(a[i]-b[i], 0)
	}
	return gain, loss
}

// An aligned says what became of messages a in messages b, by their positions.
type aligned struct {
	prefix  int      // messages at the beginning that are the same
	same    int      // messages that are in both
	removed []int    // of a
	added   []int    // of b
	changed [][2]int // of both: the same line of the file with other content
}

// alignment compares the first na messages of a with the first nb of b by what they
// say to a model, and those that differ by their line in the file.
func alignment(a *segment, na int, b *segment, nb int) aligned {
	var out aligned
	left := map[llm.Digest][]int{}
	for i, d := range a.digests[:na] {
		left[d] = append(left[d], i)
	}
	gone := make([]bool, na) // matched
	var rest []int
	for j, d := range b.digests[:nb] {
		if j == out.prefix && j < na && a.digests[j] == d {
			out.prefix++
		}
		if list := left[d]; len(list) > 0 {
			gone[list[0]] = true
			left[d] = list[1:]
			out.same++
			continue
		}
		rest = append(rest, j)
	}
	lines := map[int]int{} // the file's lines with one message that is left
	for i, e := range a.Entries[:na] {
		if _, twice := lines[e.Line]; twice {
			lines[e.Line] = -1
		} else if !gone[i] && e.Line > 0 {
			lines[e.Line] = i
		}
	}
	for _, j := range rest {
		i, ok := lines[b.Entries[j].Line]
		if !ok || i < 0 || gone[i] {
			out.added = append(out.added, j)
			continue
		}
		gone[i] = true
		out.changed = append(out.changed, [2]int{i, j})
	}
	for i := range gone {
		if !gone[i] {
			out.removed = append(out.removed, i)
		}
	}
	return out
}
