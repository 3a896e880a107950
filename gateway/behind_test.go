package gateway_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/store"
)

// A stuck store takes one write at a time, and ends none before its caller has had enough.
type stuck struct {
	store.Memory
	lane chan struct{}
}

func (s *stuck) Append(ctx context.Context, _ string, _ int, _ [][]byte) error {
	select {
	case s.lane <- struct{}{}:
		defer func() { <-s.lane }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for ctx.Err() == nil {
		time.Sleep(time.Second) // of the bubble's clock
	}
	return ctx.Err()
}

// TestStuckStore: with a store that takes nothing each of many conversations waits as long
// as one does, and goes on.
func TestStuckStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := begin(t, &stuck{lane: make(chan struct{}, 1)})
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
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("they waited %v", took)
		}
	})
}
