package gateway_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestFewInMemory: of many conversations only so many are in memory as are wanted, and
// the others go on as if they were.
func TestFewInMemory(t *testing.T) {
	few, all := beginWith(t, &store.Memory{}, 3), begin(t, nil)
	talks := make([]*talk, 20)
	for i := range talks {
		talks[i] = newTalk(t, fmt.Sprintf("Read them, for %d.", i%10)) // two with each beginning
		if i >= 10 {
			talks[i].reads(1)
		}
	}
	edited := 0
	for range 12 {
		for _, c := range talks {
			c.reads(100)
			want, got := c.sends(all), c.sends(few)
			if !bytes.Equal(want.Body(), got.Body()) || got.Report().Match != want.Report().Match {
				t.Fatalf("got %+v, want %+v", got.Report(), want.Report())
			}
			if got.Edited() {
				edited++
			}
			ends(t, want)
			ends(t, got)
		}
		if n := few.InMemory(); n > 3 {
			t.Errorf("%d conversations in memory, want 3", n)
		}
	}
	if edited == 0 {
		t.Error("nothing was edited")
	}
	if _, err := gateway.New(gateway.Options{Sessions: -1}); err == nil {
		t.Error("a negative number is taken")
	}
}

// TestNothingStays: of conversations that have left memory nothing is remembered.
func TestNothingStays(t *testing.T) {
	const families = 16 // of a gateway that keeps one conversation
	g, before := beginWith(t, nil, 1), 0
	for n := range 4 * families {
		c := newTalk(t, fmt.Sprintf("Read them, for %d.", n))
		for range 3 {
			ends(t, c.reads(1).sends(g))
		}
		if n == families-1 {
			before = g.Known()
		}
	}
	if got := g.Known(); got > before {
		t.Errorf("of %d sessions something is remembered, want %d", got, before)
	}
}

// TestReadAgain: a conversation that another process has gone on with is read again, and is
// in memory once.
func TestReadAgain(t *testing.T) {
	var s store.Memory
	one, two := begin(t, &s), begin(t, &s)
	c := newTalk(t, "Read them.")
	for range 5 {
		for _, g := range []*gateway.Gateway{one, two} {
			ends(t, c.reads(1).sends(g))
		}
	}
	if got := one.InMemory(); got != 1 {
		t.Errorf("%d conversations are in memory, want 1", got)
	}
}
