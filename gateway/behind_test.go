package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A stuck store takes one write at a time, and ends none before its caller has had enough.
type stuck struct {
	store.Memory
	lane chan struct{}
	deaf bool // it does not listen to its caller's context, as SQLite where another process has the lock
}

func (s *stuck) Append(ctx context.Context, _ string, _ int, _ [][]byte) error {
	select {
	case s.lane <- struct{}{}:
		defer func() { <-s.lane }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.deaf {
		time.Sleep(10 * time.Second)
	}
	for ctx.Err() == nil {
		time.Sleep(time.Second) // of the bubble's clock
	}
	return ctx.Err()
}

// TestStuckStore: with a store that takes nothing each of many conversations waits as long
// as one does, and goes on.
func TestStuckStore(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := begin(t, &stuck{lane: make(chan struct{}, 1), deaf: deaf})
			began := time.Now()
			var all sync.WaitGroup
			for n := range 50 {
				all.Go(func() {
					x := newTalk(t, fmt.Sprintf("Read them, for %d.", n)).sends(g)
					if x.Edited() {
						t.Error("it left edited")
					}
					ends(t, x)
				})
			}
			all.Wait()
			if took := time.Since(began); took > 2500*time.Millisecond {
				t.Errorf("they waited %v", took)
			}
			time.Sleep(time.Hour) // until the store has ended
		})
	}
}

// A stuckForks is a store that takes what is appended, and no fork before ten seconds are over.
type stuckForks struct{ store.Memory }

func (s *stuckForks) Fork(context.Context, string, string, int) error {
	time.Sleep(10 * time.Second)
	return errors.New("locked")
}

// TestStuckFork: a client goes back in its history while the store begins no fork. While
// nothing was taken out it is kept waiting for two seconds, and the request leaves as it is;
// where it may have to be shorter, for ten.
func TestStuckFork(t *testing.T) {
	for name, tt := range map[string]struct {
		lines int
		most  time.Duration
	}{"whole": {10, 2500 * time.Millisecond}, "edited": {120, 10500 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := begin(t, &stuckForks{})
				c := newTalk(t, "Read them.")
				for range 12 {
					c.reads(tt.lines)
					ends(t, c.sends(g))
				}
				began := time.Now()
				x, err := g.Begin(t.Context(), c.back(4).reads(5).call())
				if took := time.Since(began); took > tt.most || took < tt.most-time.Second {
					t.Errorf("it waited %v", took)
				}
				if tt.lines > 10 {
					_ = refused(t, err)
				} else if must(t, err); x.Edited() || x.Report().Passed == "" {
					t.Errorf("want it to pass as it is, got %+v", x.Report())
				}
				time.Sleep(time.Hour) // until the store has ended
			})
		})
	}
}

// TestStuckResponses: a response that such a store does not take keeps its client waiting no
// longer.
func TestStuckResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := begin(t, &stuck{lane: make(chan struct{}, 1), deaf: true})
		began := time.Now()
		x, err := g.Begin(t.Context(), gateway.Call{Provider: "openai", Dialect: "openai-responses", Body: []byte(`{"model":"m","input":"Hello."}`)})
		must(t, err)
		r := x.Relay(t.Context(), false)
		_, _ = r.Write([]byte(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`))
		r.End()
		if took := time.Since(began); took > 4500*time.Millisecond { // as above, and as long for the response
			t.Errorf("it waited %v", took)
		}
		time.Sleep(time.Hour) // until the store has ended
	})
}
