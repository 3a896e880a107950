package plimsoll_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestUnknownWindow: a window that nobody states is asked for at the provider, once, and what
// the policy does about an unknown one comes after that.
func TestUnknownWindow(t *testing.T) {
	strict, err := policy.Preset("cache-compact")
	if err != nil {
		t.Fatal(err)
	}
	errDown := errors.New("the provider is down")
	mystery := budget.Target{Provider: "p", Model: "mystery-9"}
	var names []string
	telling := func(window int, err error) func(context.Context, budget.Target) (int, error) {
		names = nil
		return func(_ context.Context, t budget.Target) (int, error) {
			names = append(names, t.Name())
			return window, err
		}
	}
	t.Run("R001-24_it is asked first", func(t *testing.T) {
		s := open(t, plimsoll.Options{Policy: strict, Targets: []budget.Target{mystery}, Window: telling(50_000, nil)})
		add(t, s, human("Hello."))
		for range 2 {
			send, err := s.Prepare(t.Context(), mystery)
			if err != nil {
				t.Fatal(err)
			}
			if send.Target.Window.Capacity != 50_000 {
				t.Errorf("the request is for a window of %d, want 50,000", send.Target.Window.Capacity)
			}
		}
		if len(names) != 1 || names[0] != "p/mystery-9" {
			t.Errorf("asked %v, want once", names)
		}
	})
	t.Run("R001-24_then the strict error", func(t *testing.T) {
		o := plimsoll.Options{Policy: strict, Targets: []budget.Target{mystery}, Window: telling(0, errDown)}
		_, err := plimsoll.Open(t.Context(), o)
		if !errors.Is(err, budget.ErrUnknownWindow) || !errors.Is(err, errDown) || !strings.Contains(err.Error(), "p/mystery-9 was asked") {
			t.Errorf("got %v, want an unknown window, and why", err)
		}
		o.Targets[0].Window.Capacity = 60_000
		s := open(t, o)
		add(t, s, human("Hello."))
		if _, err := s.Prepare(t.Context(), mystery); !errors.Is(err, errDown) {
			t.Errorf("got %v, want %v", err, errDown)
		}
		if _, err := s.Prepare(t.Context(), o.Targets[0]); err != nil {
			t.Errorf("a stated window: %v", err)
		}
	})
	t.Run("one that is known is not asked for, nor again where the policy assumes one", func(t *testing.T) {
		s := open(t, plimsoll.Options{Targets: []budget.Target{{Model: "claude-opus-4-5"}}, Window: telling(0, errDown)})
		add(t, s, human("Hello."))
		for range 3 {
			if _, err := s.Prepare(t.Context(), mystery); err != nil {
				t.Fatal(err)
			}
		}
		if len(names) != 1 {
			t.Errorf("asked %v, want p/mystery-9 once", names)
		}
	})
}
