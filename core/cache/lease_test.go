package cache

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// stored are prices like those of a model with resources: a tenth for what is read, and an hour's storage at three and a half times the input.
var stored = catalog.Prices{Input: 1_250_000, CacheRead: 125_000, CacheWrite5m: 1_250_000, Storage: 4_500_000}

func sights(gap int64, s ...Sight) *Lease {
	var l Lease
	for i := range s {
		s[i].At = 1 + int64(i)*gap
		l.Answered(s[i])
	}
	return &l
}

func TestLeaseMakesWhatPays(t *testing.T) {
	const tokens = 100_000
	blind := Sight{Prompt: 120_000}
	for _, c := range []struct {
		name  string
		lease *Lease
		want  int // seconds
	}{
		{"nothing is known of the pace yet", sights(10*second, blind, blind), 0},
		{"three requests of a minute that read nothing pay for as many more", sights(10*second, blind, blind, blind), 60},
		{"where the provider's own cache reads it all, nothing is saved", sights(10*second, blind, Sight{Prompt: 120_000, Read: 110_000}, Sight{Prompt: 120_000, Read: 120_000}), 0},
		{"where it reads most, the rest does not pay", sights(10*second, blind, Sight{Prompt: 120_000, Read: 90_000}, Sight{Prompt: 120_000, Read: 90_000}), 0},
		{"it would be gone before the next request", sights(3600*second, blind, blind, blind, blind), 0},
		{"the storage of a pause costs more than it saves", sights(1700*second, blind, blind, blind, blind), 0},
		{"a long conversation pays for longer", sights(40*second, blind, blind, blind, blind, blind, blind, blind, blind, blind, blind, blind, blind), 600},
	} {
		t.Run("R002-14_"+c.name, func(t *testing.T) {
			if got := c.lease.Make(stored, tokens, 0); got.Seconds != c.want || (got.Gain > 0) != (c.want > 0) {
				t.Errorf("want %d s, got %+v", c.want, got)
			}
		})
	}
	unknown := stored
	unknown.Storage = 0
	if got := sights(10*second, blind, blind, blind).Make(unknown, tokens, 0); got.Seconds != 0 {
		t.Errorf("without a price of storage: %+v", got)
	}
	if got := sights(10*second, blind, blind, blind).Lengthen(stored, tokens, 0); got.Seconds != 0 {
		t.Errorf("longer, though nothing was missed: %+v", got)
	}
	if got := sights(10*second, blind, blind, blind).Make(stored, tokens, tokens-5000); got.Seconds != 0 {
		t.Errorf("for a little more than is held already: %+v", got)
	}
	broken := sights(10*second, blind, blind, blind)
	if broken.Broken(); broken.Make(stored, tokens, 0).Seconds != 0 {
		t.Error("what another beginning missed says nothing")
	}
}

// What is decided costs no more than doing without, if the conversation goes on as it did: the same pace, the same reads, for as many requests as reckoned.
// It is law 11.
func TestLeaseCostsNoMoreThanDoingWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := catalog.Prices{Input: catalog.Price(rapid.IntRange(1, 5_000_000).Draw(t, "input")), Storage: catalog.Price(rapid.IntRange(0, 9_000_000).Draw(t, "storage"))}
		p.CacheRead = p.Input * catalog.Price(rapid.IntRange(0, 1000).Draw(t, "read")) / 1000
		tokens, gap := rapid.IntRange(1, 1_000_000).Draw(t, "tokens"), int64(rapid.IntRange(1, 4000).Draw(t, "gap"))*second
		read := rapid.IntRange(0, tokens).Draw(t, "found")
		n := rapid.IntRange(1, 20).Draw(t, "requests")
		var l Lease
		for i := range n {
			l.Answered(Sight{At: 1 + int64(i)*gap, Prompt: tokens, Read: read})
		}
		stay := l.Make(p, tokens, 0)
		if stay.Seconds == 0 {
			return
		}
		requests := min(1+int64(stay.Seconds)*1000/gap, int64(n))
		without := requests * (int64(tokens-read)*int64(p.Input) + int64(read)*int64(p.CacheRead))
		with := requests*int64(tokens)*int64(p.CacheRead) + int64(tokens)*int64(p.Input) + Storage(p, tokens, stay.Seconds)
		if with >= without {
			t.Fatalf("%+v at one request each %d ms: %d with it, %d without", stay, gap, with, without)
		}
	})
}

func TestNamedReadsTheResource(t *testing.T) {
	c := New(automatic, Options{})
	a, b := block{'a', 3000, NoMark, 1}, block{'b', 500, NoMark, 1}
	r := prompt(1, a, b)
	if _, ok := c.Named(r, r.Blocks[0].Prefix); ok {
		t.Error("a resource that was never made is read")
	}
	c.Hold(r.Blocks[0].Prefix, 3000, 1+60*second)
	if use, ok := c.Named(r, r.Blocks[0].Prefix); !ok || use.Usage != (llm.Usage{CacheRead: 3000, Input: 500}) {
		t.Errorf("got %+v, %v", use, ok)
	}
	if use, ok := c.Named(prompt(2, a, b), r.Blocks[0].Prefix); !ok || use.CacheRead != 3456 || use.Prompt() != 3500 {
		t.Errorf("where the provider has more by itself: %+v, %v", use, ok)
	}
	if _, ok := c.Named(prompt(3, b), r.Blocks[0].Prefix); ok {
		t.Error("a request that does not begin with it reads it")
	}
	if _, ok := c.Named(prompt(1+60*second, a, b), r.Blocks[0].Prefix); ok {
		t.Error("a resource that has lapsed is read")
	}
	c.Drop(r.Blocks[0].Prefix)
	if _, ok := c.Named(r, r.Blocks[0].Prefix); ok {
		t.Error("a resource that was given up is read")
	}
}
