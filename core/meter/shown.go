package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// shown is what the messages of a view take.
type shown struct {
	sums    [token.NumComponents]token.Size
	total   token.Size // all of them together
	outputs token.Size // of them, the tool outputs
	sure    int        // tokens, as of measure
	now     []*measure // each message in the form that is shown, by ID; nil: it is not
	tried   *tried     // what is tried out on it; nil: nothing
}

// tried is what of the messages is shown otherwise while something is tried out.
type tried struct {
	now   map[llm.MessageID]*measure
	below *tried
}

// add books an item.
func (s *shown) add(it placed, m *measure) {
	c := token.ComponentOf(it.Message)
	s.sums[c], s.total = s.sums[c].Add(m.Size), s.total.Add(m.Size)
	s.outputs, s.sure = s.outputs.Add(m.outputs), s.sure+m.sure
	s.show(it, m)
}

// take takes an item out.
func (s *shown) take(it placed, m *measure) {
	c := token.ComponentOf(it.Message)
	s.sums[c], s.total = s.sums[c].Sub(m.Size), s.total.Sub(m.Size)
	s.outputs, s.sure = s.outputs.Sub(m.outputs), s.sure-m.sure
	s.show(it, nil)
}

// show notes in which form a message is shown.
func (s *shown) show(it placed, m *measure) {
	id := it.Message.ID
	switch {
	case it.IsNote():
	case s.tried != nil:
		s.tried.now[id] = m
	default:
		if int(id) >= len(s.now) {
			s.now = append(s.now, make([]*measure, int(id)+1-len(s.now))...)
		}
		s.now[id] = m
	}
}

// of returns a message in the form that is shown; nil if it is not.
func (s *shown) of(id llm.MessageID) *measure {
	for t := s.tried; t != nil; t = t.below {
		if m, ok := t.now[id]; ok {
			return m
		}
	}
	if int(id) >= len(s.now) {
		return nil
	}
	return s.now[id]
}

// on returns what is shown, to try something out on. s may not change as long.
func (s *shown) on() shown {
	c := *s
	c.tried = &tried{map[llm.MessageID]*measure{}, s.tried}
	return c
}
