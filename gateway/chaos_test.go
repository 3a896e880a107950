package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// chaosSeeds returns how many conversations are made up: PLIMSOLL_CHAOS, or a quick share.
func chaosSeeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("PLIMSOLL_CHAOS")
	if text == "" {
		return 25
	}
	n, err := strconv.ParseUint(text, 10, 32)
	must(t, err)
	return n
}

// TestChaos: made-up clients retry, rewind, edit what they said, and run sub-agents side
// by side, while the process dies between and within exchanges. Each request leaves as it
// does from a process that never dies.
func TestChaos(t *testing.T) {
	edited, killed, requests, refused := 0, 0, 0, 0
	for seed := range chaosSeeds(t) {
		c := newChaos(t, seed)
		for c.n = range 60 {
			c.step()
		}
		edited, killed, requests, refused = edited+c.edited, killed+c.killed, requests+c.requests, refused+c.refused
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d requests, %d of them edited, %d refused, %d deaths", requests, edited, refused, killed)
	if edited == 0 || killed == 0 {
		t.Errorf("%d requests edited, %d deaths, want some of both", edited, killed)
	}
}

// A chaos is a client with several conversations, and two gateways that should do the
// same: one that never dies, and one that does.
type chaos struct {
	t        *testing.T
	rnd      *rand.Rand
	n        int
	talks    []*talk
	calm     *gateway.Gateway
	store    *store.Memory
	life     *life
	mortal   *gateway.Gateway
	edited   int
	killed   int
	requests int
	refused  int
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, rnd: rand.New(rand.NewPCG(seed, 13)), store: &store.Memory{}}
	c.life = &life{Store: c.store}
	c.calm, c.mortal = begin(t, nil), beginWith(t, c.life, 2)
	c.talks = []*talk{newTalk(t, fmt.Sprintf("Read them, for %d.", seed))}
	if seed%2 == 0 {
		c.talks[0].header = map[string]string{"X-Session-Id": fmt.Sprint(seed)}
	}
	return c
}

// step is something that a client does, and its request.
func (c *chaos) step() {
	k := c.talks[c.rnd.IntN(len(c.talks))]
	switch p := c.rnd.IntN(100); {
	case p < 55:
		k.reads(1 + c.rnd.IntN(160))
		if c.rnd.IntN(8) == 0 { // beside the output, in one wire message
			k.says(fmt.Sprintf("And mind %d.", c.n))
		}
	case p < 65:
		k.answered("So it is.").says(fmt.Sprintf("And what of %d?", c.n))
	case p < 75: // a retry
	case p < 82: // rewound, to before a Round
		for n := 1 + c.rnd.IntN(3); n > 0 && len(k.history) > 3; n-- {
			k.back(2)
			if len(k.history[len(k.history)-1].Calls()) > 0 {
				k.back(1)
			}
		}
		k.reads(1 + c.rnd.IntN(100))
	case p < 88: // the last message is another one now
		last := &k.history[len(k.history)-1]
		if k.rewritable() {
			*last = newTalk(c.t, fmt.Sprintf("Rather this: %d.", c.n)).history[0]
		}
	case p < 92 && len(c.talks) < 4: // a sub-agent of the same kind, from here
		sub := k.other()
		sub.calls += 1000 * len(c.talks)
		c.talks = append(c.talks, sub.reads(1+c.rnd.IntN(80)))
	case p < 96 && len(c.talks) < 4: // another agent that begins alike
		sub := newTalk(c.t, k.history[0].Text())
		sub.header, sub.system, sub.tools = k.header, "You are a reviewer.", []string{"grep"}
		c.talks = append(c.talks, sub)
	default: // what the client itself compacted
		kept := newTalk(c.t, fmt.Sprintf("A summary of what was said until %d.", c.n))
		k.history = kept.answered("I see.").says("Go on.").history
	}
	c.request(k)
}

// rewritable reports whether the last message is a person's and nothing hangs on it.
func (k *talk) rewritable() bool {
	n := len(k.history)
	return n > 2 && len(k.history[n-1].Results()) == 0 && len(k.history[n-2].Calls()) == 0
}

// request makes the request of a conversation in both gateways, and compares.
func (c *chaos) request(k *talk) {
	c.requests++
	death := c.rnd.IntN(12)
	if death == 0 {
		c.die() // between two exchanges
	}
	want, wantErr := c.calm.Begin(c.t.Context(), k.call())
	got, gotErr := c.mortal.Begin(c.t.Context(), k.call())
	if death == 1 { // within: the client asks again
		c.die()
		want, wantErr = c.calm.Begin(c.t.Context(), k.call())
		got, gotErr = c.mortal.Begin(c.t.Context(), k.call())
	}
	if wantErr != nil || gotErr != nil {
		c.refused++
		if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
			c.t.Errorf("request %d: got %v, want %v", c.n, gotErr, wantErr)
		}
		return
	}
	if r := got.Report(); !bytes.Equal(want.Body(), got.Body()) || r.Passed != want.Report().Passed {
		c.t.Errorf("request %d: want %+v\ngot  %+v", c.n, want.Report(), r)
	}
	if got.Edited() {
		c.edited++
	}
	if why := got.Report().Passed; why != "" {
		c.t.Errorf("request %d passed without a session: %s", c.n, why)
	}
	if death == 2 { // some of the reply arrives, and then no more
		for _, x := range []*gateway.Exchange{want, got} {
			relay := x.Relay(c.t.Context(), true)
			_, _ = relay.Write([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n"))
			if x == got {
				c.die()
			}
			relay.End()
		}
		return
	}
	ends(c.t, want)
	ends(c.t, got)
}

// die ends the process and begins another one. What the old one had not written yet it
// never writes.
func (c *chaos) die() {
	c.killed++
	c.life.end()
	c.life = &life{Store: c.store}
	c.mortal = beginWith(c.t, c.life, 2) // so few that they come and go
}

// A life is the store as one process sees it, until its end.
type life struct {
	store.Store

	mu    sync.Mutex
	ended bool
}

func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

func (l *life) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return errors.New("the process has ended")
	}
	return l.Store.Append(ctx, session, seq, records)
}
