package loop_test

import (
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// chars4 counts four characters as a token.
var chars4 = sync.OnceValue(func() token.Counter {
	c, err := token.NewCounter("chars/4", nil)
	if err != nil {
		panic(err)
	}
	return c
})

const goal = "Make the tracker ready for its first users."

// start returns a machine for a task, with the defaults where c says nothing.
func start(t *testing.T, c loop.Config) *loop.Machine {
	t.Helper()
	if c.Counter == nil {
		c.Counter = chars4()
	}
	m, err := loop.New(c, loop.Task{ID: "t1", Goal: goal})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// begin returns what is to be done, which has to be an iteration.
func begin(t *testing.T, m *loop.Machine) loop.Ready {
	t.Helper()
	r := m.Ready()
	if r.Do != loop.DoBegin {
		t.Fatalf("want an iteration to begin, got %+v", r)
	}
	return r
}

func feed(t *testing.T, m *loop.Machine, in loop.Input) []loop.Event {
	t.Helper()
	events, err := m.Feed(in)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// iterate runs one iteration of a minute and returns its prompt and what came of it.
func iterate(t *testing.T, m *loop.Machine, out loop.Output) (*loop.Prompt, []loop.Event) {
	t.Helper()
	r := begin(t, m)
	at := int64(r.Number) * 60_000
	feed(t, m, loop.Began{At: at})
	if out.At == 0 {
		out.At = at + 50_000
	}
	return r.Prompt, feed(t, m, out)
}
