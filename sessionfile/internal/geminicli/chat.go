package geminicli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// chat reads the recording of a chat. Its messages are a list that later lines patch: a
// line with a known id replaces that message, $set.messages replaces the list, $rewindTo
// takes back its end.
//
// A list that was replaced is only looked at when the conversation goes on, since the
// client empties and refills it when a session is resumed. If it holds what was there and
// goes on from there, the segment does so too; else the client compacted.
type chat struct {
	*read.Reading
	list    []*record
	at      map[string]*record // the newest record of an id
	before  []*record          // the list before it was replaced
	known   map[string]*record // the records of before, by their ids; nil if nothing was replaced
	replace int                // the line that did
	start   sessionfile.Start
	old     map[*record]bool // records that the segment carries over
}

// A record is one message of the list.
type record struct {
	id   string
	line int
	time int64
	raw  []byte // its own
	said *said  // what raw says, once that was looked at
}

func newChat(r *read.Reading) *chat {
	return &chat{Reading: r, at: map[string]*record{}, start: sessionfile.StartRoot, old: map[*record]bool{}}
}

// line takes in one line of a recording.
func (c *chat) line(no int, f read.Fields) {
	switch {
	case f.Has("$rewindTo"):
		c.rewind(no, f.Str("$rewindTo"))
	case f.Has("id", "type"):
		c.message(no, f)
	case f.Has("$set"):
		c.patch(no, f.Of("$set"))
	case f.Has("sessionId"):
		c.head(no, f, func([]byte) int { return no })
	}
}

// head takes in the head of a recording, which may hold messages. A resumed session has
// several.
func (c *chat) head(no int, f read.Fields, lineOf func([]byte) int) {
	if id := f.Str("sessionId"); id != "" {
		c.Session.ID = id
	}
	read.EachElement(f["messages"], func(value []byte) bool {
		if m := read.FieldsOf(value); m != nil {
			c.message(lineOf(value), m)
		}
		return true
	})
}

// message adds a message to the list, or replaces the one with its id.
func (c *chat) message(no int, f read.Fields) {
	c.settle()
	if m := c.at[f.Str("id")]; m != nil && f.Str("id") != "" {
		m.raw, m.said = c.object(no, f), nil
		m.time = max(m.time, c.Time(no, f["timestamp"]))
		return
	}
	c.list = append(c.list, c.record(no, f))
	if f.Str("type") == "error" {
		c.Fail(read.Outcome{Line: no, Time: c.Time(no, f["timestamp"]), Words: wordsOf(f.Str("content"))})
	}
}

// wordsOf returns what went wrong without what the client puts around it.
func wordsOf(shown string) string {
	words, ok := strings.CutPrefix(shown, "[API Error: ")
	if !ok {
		return shown
	}
	return strings.TrimSuffix(strings.TrimSpace(words), "]")
}

// record makes a record of a message.
func (c *chat) record(no int, f read.Fields) *record {
	m := &record{id: f.Str("id"), line: no, time: c.Time(no, f["timestamp"]), raw: c.object(no, f)}
	c.at[m.id] = m
	return m
}

// kept are the fields of a message that matter.
var kept = []string{"type", "content", "displayContent", "thoughts", "tokens", "model", "toolCalls"}

// object returns the fields of a message that matter, as an object of their own.
func (c *chat) object(no int, f read.Fields) []byte {
	size := 2
	for _, name := range kept {
		size += len(name) + len(f[name]) + len(`"":,`)
	}
	b := append(make([]byte, 0, size), '{')
	for _, name := range kept {
		value, ok := f[name]
		if !ok {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
		b = append(b, value...)
	}
	b = append(b, '}')
	c.Halves(no, b)
	return b
}

// patch takes in a change of the head.
func (c *chat) patch(no int, set read.Fields) {
	messages, ok := set["messages"]
	if !ok {
		return
	}
	if c.known == nil {
		c.before, c.known = c.list, map[string]*record{}
		for _, m := range c.before {
			c.known[m.id] = m
		}
	}
	c.replace = no
	c.list, c.at = nil, map[string]*record{}
	read.EachElement(messages, func(value []byte) bool {
		f := read.FieldsOf(value)
		if f == nil || len(c.list) >= read.MaxRepeated {
			return f == nil
		}
		was := c.known[f.Str("id")]
		if was != nil {
			inherit(f, was)
		}
		m := c.record(no, f)
		if was != nil {
			m.line, m.time = was.line, was.time
			if bytes.Equal(m.raw, was.raw) {
				m.raw, m.said = was.raw, was.said
			}
			if c.old[was] {
				c.old[m] = true
			}
		}
		c.list = append(c.list, m)
		return true
	})
}

// inherit gives a message that replaces another what is known of its call, which the
// client loses when it resumes a session.
func inherit(f read.Fields, was *record) {
	old := read.FieldsOf(was.raw)
	for _, name := range []string{"tokens", "model", "displayContent"} {
		if value, ok := old[name]; ok && !f.Has(name) {
			f[name] = value
		}
	}
}

// settle decides what the replacement of the list was, if there was one.
func (c *chat) settle() {
	if c.known == nil {
		return
	}
	was, is := c.entries(c.before), c.entries(c.list)
	before := c.before
	c.before, c.known = nil, nil
	same, cleared := compare(was, is)
	if same {
		return
	}
	start := sessionfile.StartCompaction
	if cleared {
		start = sessionfile.StartMicrocompaction
	} else if same, _ := compare(is, was); same {
		start = sessionfile.StartRollback
		gone := was[len(is):]
		c.Session.Abandoned = append(c.Session.Abandoned, sessionfile.Branch{
			First: gone[0].Line, Last: gone[len(gone)-1].Line, Messages: len(gone), Why: sessionfile.WhyRolledBack,
		})
		if !slices.ContainsFunc(gone, func(e sessionfile.Entry) bool { return e.Step != nil }) {
			return // no request had it in the middle, so the segment goes on
		}
	}
	c.begin(c.replace, before, was, start)
}

// begin ends the segment that held the records before, whose entries are was. The list is
// what the next one carries over.
func (c *chat) begin(no int, before []*record, was []sessionfile.Entry, start sessionfile.Start) {
	if c.start == sessionfile.StartRoot || slices.ContainsFunc(before, func(m *record) bool { return !c.old[m] }) {
		c.emit(was)
		c.start = start
	}
	c.old = map[*record]bool{}
	if !c.Repeat(no, len(c.list)) {
		c.list, c.at = nil, map[string]*record{}
	}
	for _, m := range c.list {
		c.old[m] = true
	}
}

// rewind takes back a message and what came behind it.
func (c *chat) rewind(no int, id string) {
	c.settle()
	i := slices.IndexFunc(c.list, func(m *record) bool { return m.id == id })
	if i < 0 {
		i = 0
	}
	before := c.list
	gone := before[i:]
	if len(gone) == 0 {
		return
	}
	c.list = slices.Clone(before[:i])
	for _, m := range gone {
		delete(c.at, m.id)
	}
	c.Session.Abandoned = append(c.Session.Abandoned, sessionfile.Branch{
		First: gone[0].line, Last: max(gone[len(gone)-1].line, gone[0].line), Messages: len(gone), Why: sessionfile.WhyRolledBack,
	})
	c.begin(no, before, c.entries(before), sessionfile.StartRollback)
}

// finish ends the recording.
func (c *chat) finish() {
	c.settle()
	c.emit(c.entries(c.list))
}

func (c *chat) emit(entries []sessionfile.Entry) {
	s := sessionfile.Segment{Start: c.start, Entries: entries}
	build.Began(c.Reading, &s)
	c.Emit(s)
}

// compare reports whether is holds all of was in its place, and if not, whether only
// results were changed.
func compare(was, is []sessionfile.Entry) (same, cleared bool) {
	if len(is) < len(was) {
		return false, false
	}
	same, cleared = true, true
	for i, e := range was {
		a, b := e.Message, is[i].Message
		if a.Role != b.Role || a.Text() != b.Text() || len(a.Calls()) != len(b.Calls()) || len(a.Results()) != len(b.Results()) {
			return false, false
		}
		for k, r := range a.Results() {
			other := b.Results()[k]
			cleared = cleared && r.CallID == other.CallID
			same = same && r.CallID == other.CallID && r.Text() == other.Text()
		}
	}
	return same, cleared && !same
}

// entries returns the conversation that a list holds.
func (c *chat) entries(list []*record) []sessionfile.Entry {
	b := &builder{chat: c, answered: map[string]bool{}}
	for _, m := range list {
		b.record(m)
	}
	return b.out
}
