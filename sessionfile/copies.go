package sessionfile

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Copies tells calls that stand in the files of several sessions by their ids: a session
// that was taken up again may begin with a copy of another whose lines do not say so. It
// knows the calls of the sessions that it was given; the zero Copies knows none.
type Copies struct {
	made map[madeCall]*maker
}

// A madeCall is what makes two calls one. Ids alone would not do: some servers count
// theirs from 1.
type madeCall struct {
	message, request, model string
	usage                   llm.Usage
}

// A maker is the session that was given with a call first.
type maker struct{ id string }

// In takes one more session by its id, and returns what marks its segments, which it is
// given in their order: a call that an earlier session has is copied from it
// (Step.Copied). What is marked is a copy of the segment. Hand over the elder session
// first, where that is known; whichever comes first, each call is made once. Sessions of
// one id are taken for one.
func (c *Copies) In(id string) func(Segment) Segment {
	if c.made == nil {
		c.made = map[madeCall]*maker{}
	}
	own := &maker{id}
	return func(s Segment) Segment {
		cloned := false
		for i, e := range s.Entries {
			from := c.maker(e.Step, own)
			if from.id == id {
				continue
			}
			if !cloned {
				s.Entries, cloned = slices.Clone(s.Entries), true
			}
			step := *e.Step
			step.Copied = from.id
			s.Entries[i].Step = &step
		}
		return s
	}
}

// Mark takes in one more session as In does, and marks its segments and the calls of its
// branches. Of a session without its segments it marks the branches.
func (c *Copies) Mark(s *Session) {
	mark := c.In(s.ID)
	for i := range s.Segments {
		s.Segments[i] = mark(s.Segments[i])
	}
	own := &maker{s.ID}
	for _, b := range s.Abandoned {
		for i := range b.Calls {
			if from := c.maker(&b.Calls[i], own); from.id != s.ID {
				b.Calls[i].Copied = from.id
			}
		}
	}
}

// maker returns the session that made a call: own unless another one was given with it.
func (c *Copies) maker(step *Step, own *maker) *maker {
	if step == nil || step.MessageID == "" || step.Copied != "" {
		return own
	}
	call := madeCall{step.MessageID, step.RequestID, step.Model, step.Usage}
	if from, ok := c.made[call]; ok {
		return from
	}
	c.made[call] = own
	return own
}
