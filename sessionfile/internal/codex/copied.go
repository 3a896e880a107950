package codex

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// copyGap is the number of milliseconds between two lines below which no model answered
// in between. A client writes a copy at once, and the time of the copy on each line.
const copyGap = 250

// An origin tells the calls of the session from those that it began with: a fork, and a
// sub-agent that knows what its parent knows, begin with a copy of the parent's items.
// A copy ends once, at the first line that must be the session's own. What shows it is,
// in this order: when the turn began, which its id says; a time before the session's
// beginning; and, if the file says that it holds a copy, that no time passed since the
// line before.
type origin struct {
	start  int64 // when the session began, in Unix milliseconds; 0 unknown
	forked bool  // the file says that it begins with a copy
	begun  bool  // a line that may be copied was read
	own    bool  // the copy is over
	last   int64 // the time of the line before
	turn   int64 // when the turn began, as its id says; 0 unknown
	elders []elder
}

// An elder is a session from which the file has lines.
type elder struct {
	id    string
	start int64 // 0 unknown
}

// ancestor takes in the head of another session: of the parent, or of one before it.
func (c *codex) ancestor(id string, start int64) {
	if c.origin.own {
		return
	}
	c.origin.forked = true
	if at := born(id); at > 0 {
		start = at
	}
	c.origin.elders = append(c.origin.elders, elder{id: strings.Clone(id), start: start})
	c.parent(id)
}

// parent sets the parent, unless it is known.
func (c *codex) parent(id string) {
	if id == "" || c.Session.Parent != "" {
		return
	}
	c.Session.Parent, c.Session.Kin = strings.Clone(id), sessionfile.KinFork
	if c.spawned {
		c.Session.Kin = sessionfile.KinAgent
	}
}

// copied reports whether the line is a copy. It is asked about the lines of the
// conversation in order.
func (c *codex) copied() bool {
	o, time := &c.origin, c.time
	first := !o.begun
	o.begun = true
	switch {
	case o.own:
	case c.Session.Parent == "":
		o.own = true
	case o.turn > 0 && o.start > 0:
		o.own = o.turn >= o.start
	case time > 0 && time < o.start:
	case o.forked && time > 0 && (first || time-o.last < copyGap):
	default:
		o.own = true
	}
	return !o.own
}

// written returns when what is on the line was written. Nobody knows it of a copy whose
// lines have the time of the copying.
func (c *codex) written(copied bool) int64 {
	if copied && c.time >= c.origin.start {
		return 0
	}
	return c.time
}

// owner returns the id of the session that made a copied call: the youngest elder that
// had begun when the call was made, where the file says that, else the parent.
func (c *codex) owner(time int64) string {
	o := &c.origin
	made := o.turn
	if made == 0 && time < o.start {
		made = time
	}
	owner, start := c.Session.Parent, int64(0)
	for _, e := range o.elders {
		if e.start > start && e.start <= made {
			owner, start = e.id, e.start
		}
	}
	return owner
}

// born returns the time in an id of UUID version 7, in Unix milliseconds; 0 if it is none.
func born(id string) int64 {
	const millis, version = 12, 14 // hexadecimal digits, with the dash; where the version stands
	if len(id) != 36 || id[8] != '-' || id[version] != '7' {
		return 0
	}
	at, err := strconv.ParseInt(id[:8]+id[9:millis+1], 16, 64)
	if err != nil {
		return 0
	}
	return at
}
