package telemetry_test

import (
	"context"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/telemetry"
)

var zero = telemetry.Options{}

// TestFollow: it blocks its caller until there is nothing more to come.
func TestFollow(t *testing.T) {
	following := func(ctx context.Context, g gathering, s *plimsoll.Session) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			g.Follow(ctx, s)
		}()
		return done
	}
	t.Run("ends with the session, with all of it", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "balanced", target("p", "m", 20_000))
		done := following(t.Context(), g, s)
		add(t, s, human("Go."))
		for range 10 {
			prepare(t, s)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		<-done
		if got := g.total(t, "plimsoll.request.sent"); got != 10 {
			t.Errorf("counted %d requests, want 10", got)
		}
	})
	t.Run("ends with the context, before the session", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "balanced", target("p", "m", 20_000))
		ctx, cancel := context.WithCancel(t.Context())
		done := following(ctx, g, s)
		cancel()
		<-done
		add(t, s, human("Go."))
		prepare(t, s)
	})
	t.Run("begins with what is still held", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "balanced", target("p", "m", 20_000))
		add(t, s, human("Go."))
		prepare(t, s)
		g.settled(t, s)
		if got := g.total(t, "plimsoll.request.sent"); got != 1 {
			t.Errorf("counted %d requests, want the one before Follow", got)
		}
	})
}

// TestMissed: who reads too slowly learns how much is in no metric.
func TestMissed(t *testing.T) {
	const all, held = 3_000, 1_024 // Session.Events holds that many
	g, s := gather(t, zero), open(t, "balanced", target("p", "m", 20_000))
	add(t, s, human("Go."))
	prepare(t, s) // one event
	for n := range all - 1 {
		if err := s.Observe(t.Context(), llm.Usage{Input: 10 + n%2, Output: 1}); err != nil {
			t.Fatal(err)
		}
	}
	events := g.settled(t, s)
	if last := events[len(events)-1].Seq; last < all {
		t.Fatalf("%d events, want at least %d", last, all)
	}
	last := int64(events[len(events)-1].Seq)
	if got := g.total(t, "plimsoll.event.missed"); got != last-held {
		t.Errorf("missed %d events, want %d", got, last-held)
	}
	var count uint64
	for _, p := range points(t, g.metrics(t)["gen_ai.client.token.usage"]) {
		count += p.count
	}
	if count == 0 || count > 2*held {
		t.Errorf("%d measurements of usage, want those of the events that were held", count)
	}
}

// TestConcurrent has one Recorder follow many sessions while it is collected; run it
// with -race.
func TestConcurrent(t *testing.T) {
	const sessions, steps = 8, 20
	g := gather(t, telemetry.Options{MaxTargets: 3})
	var following, working sync.WaitGroup
	for n := range sessions {
		s := open(t, "guard", target("p", string(rune('a'+n)), 20_000))
		following.Go(func() { g.Follow(t.Context(), s) })
		working.Go(func() {
			defer s.Close()
			add(t, s, human(tokens(50)))
			for range steps {
				prepare(t, s)
				if err := s.Observe(t.Context(), llm.Usage{Input: 60, Output: 5}); err != nil {
					t.Error(err)
				}
				add(t, s, reply(tokens(5)))
			}
		})
	}
	collecting, stop := context.WithCancel(t.Context())
	var collector sync.WaitGroup
	collector.Go(func() {
		for collecting.Err() == nil {
			g.metrics(t)
		}
	})
	working.Wait()
	following.Wait()
	stop()
	collector.Wait()
	if got := g.total(t, "plimsoll.request.sent"); got != sessions*steps {
		t.Errorf("counted %d requests, want %d", got, sessions*steps)
	}
	if got := g.values(t, "plimsoll.usage.tokens", "plimsoll.usage.part"); got["input"] != sessions*steps*60 || got["output"] != sessions*steps*5 {
		t.Errorf("counted %v tokens, want %d and %d", got, sessions*steps*60, sessions*steps*5)
	}
}
