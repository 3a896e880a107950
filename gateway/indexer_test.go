package gateway_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A slowIndex takes a minute to index, and tells of each time that it has begun and ended.
type slowIndex struct {
	store.Memory
	begun, whole atomic.Int32
}

func (s *slowIndex) Index(ctx context.Context, _ string) error {
	s.begun.Add(1)
	select {
	case <-time.After(time.Minute):
		s.whole.Add(1)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestIndexWhileIdle: what left a conversation is made ready to be searched while nobody asks for
// anything; a request stops that, and it goes on when that one is over.
func TestIndexWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(slowIndex)
		c, g := indexed(t, s, true)
		if s.begun.Load() != 0 {
			t.Fatal("want nothing indexed at once")
		}
		time.Sleep(10 * time.Second)
		ends(t, c.says("Go on.").sends(g))
		synctest.Wait()
		if s.begun.Load() != 1 || s.whole.Load() != 0 {
			t.Fatalf("want it begun and stopped by the request, got %d times, %d to the end", s.begun.Load(), s.whole.Load())
		}
		time.Sleep(2 * time.Minute)
		if s.begun.Load() != 2 || s.whole.Load() != 1 {
			t.Errorf("want it done then, got %d times, %d to the end", s.begun.Load(), s.whole.Load())
		}
		time.Sleep(time.Hour)
		must(t, g.Close(t.Context()))
		if s.begun.Load() != 2 {
			t.Errorf("want nothing more to do, got %d times", s.begun.Load())
		}
	})
}

// TestIndexEnds: behind Close the store is left alone, and where nobody searches it always is.
func TestIndexEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(slowIndex)
		_, g := indexed(t, s, true)
		time.Sleep(10 * time.Second)
		must(t, g.Close(t.Context()))
		time.Sleep(time.Hour)
		if s.begun.Load() != 1 || s.whole.Load() != 0 {
			t.Errorf("want it stopped, got %d times, %d to the end", s.begun.Load(), s.whole.Load())
		}
		s = new(slowIndex)
		indexed(t, s, false)
		time.Sleep(time.Hour)
		if s.begun.Load() != 0 {
			t.Error("want no index without a search")
		}
	})
}

// indexed is a conversation of which something has left the view.
func indexed(t *testing.T, s store.Store, offer bool) (*talk, *gateway.Gateway) {
	t.Helper()
	g, err := gateway.New(gateway.Options{Store: s, Offer: offer, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: window, OutputReserve: 500}
	}})
	must(t, err)
	c := newTalk(t, "Read them.")
	edited := false
	for range 8 {
		c.reads(120)
		x := c.sends(g)
		edited = edited || x.Edited()
		ends(t, x)
	}
	if !edited {
		t.Fatal("want something taken out")
	}
	return c, g
}
