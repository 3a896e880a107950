// Package pair gives ids to calls that came without one and finds the call that a result
// answers, for dialects whose calls and results need no ids. It knows no dialect.
package pair

import (
	"hash/fnv"
	"strconv"
)

// ID returns the id of a call without one: the same for the same salt (see [Arguments] and
// [Signature]), name and place among the calls of its message, counted from 1. It fits the
// id patterns of the other dialects.
func ID(salt []byte, name string, n int) string {
	h := fnv.New64a()
	for _, b := range [][]byte{[]byte(name), {'\n'}, salt, {'\n'}, strconv.AppendInt(nil, int64(n), 10)} {
		_, _ = h.Write(b) // a hash takes everything
	}
	const base, width = 36, 13 // all of 64 bits
	sum := strconv.FormatUint(h.Sum64(), base)
	for len(sum) < width {
		sum = "0" + sum
	}
	return "call_" + sum
}

// A Call is a call that waits for its result.
type Call struct {
	ID, Name string
	Own      bool // the id was on the wire
}

// Calls are the calls that wait. The zero Calls knows none. A copy is independent of what
// it was copied from.
type Calls struct {
	open    []Call
	orphans int
}

// Begin says that a message had these calls: what waited before it waits no longer.
func (c *Calls) Begin(calls []Call) {
	if len(calls) > 0 {
		c.open = calls[:len(calls):len(calls)]
	}
}

// Result returns the id of the call that a result with this id and name answers, either of
// which may be empty: the one with the id; else, since some clients give the result an id
// but not the call, the first call of that name without its own; for a result without an id
// the first call of that name. A result that answers no call keeps its id or gets one.
func (c *Calls) Result(id, name string) string {
	named := func(call Call) bool { return name == "" || call.Name == name }
	if id == "" {
		if found, ok := c.take(named); ok {
			return found
		}
		c.orphans++
		return ID([]byte("result"), name, c.orphans)
	}
	if found, ok := c.take(func(call Call) bool { return call.Own && call.ID == id }); ok {
		return found
	}
	if found, ok := c.take(func(call Call) bool { return !call.Own && named(call) }); ok {
		return found
	}
	return id
}

// take takes out the first call that fits.
func (c *Calls) take(fits func(Call) bool) (string, bool) {
	for i, call := range c.open {
		if fits(call) {
			c.open = append(c.open[:i:i], c.open[i+1:]...) // a new slice, for copies of c
			return call.ID, true
		}
	}
	return "", false
}
