package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// windowTimeout is how long a provider has to tell a window.
const windowTimeout = 10 * time.Second

// An asked is what providers have told about the windows of a session's targets.
type asked struct {
	mu   sync.Mutex
	told map[string]int   // by target; 0: it does not tell, and the policy assumes one
	errs map[string]error // why it does not
}

// known returns targets with the windows that their providers tell, where nobody else states
// them. It is called without the session's lock: whoever looks at the session need not wait.
func (s *Session) known(ctx context.Context, targets []budget.Target) []budget.Target {
	if s.options.Window == nil {
		return targets
	}
	s.asked.mu.Lock()
	defer s.asked.mu.Unlock()
	out := slices.Clone(targets)
	for i, t := range out {
		if m, _ := s.options.Catalog.Lookup(t.Model); t.Window.Capacity == 0 && m.Window == 0 {
			out[i].Window.Capacity = s.ask(ctx, t)
		}
	}
	return out
}

// ask returns the window of a target as its provider tells it, or told it before; 0: it does not.
func (s *Session) ask(ctx context.Context, t budget.Target) int {
	a := &s.asked
	if n, ok := a.told[t.Name()]; ok {
		return n
	}
	if a.told == nil {
		a.told, a.errs = map[string]int{}, map[string]error{}
	}
	ctx, cancel := context.WithTimeout(ctx, windowTimeout)
	defer cancel()
	n, err := s.options.Window(ctx, t)
	n = max(n, 0)
	if err != nil {
		n, a.errs[t.Name()] = 0, err
	}
	if err == nil || s.options.Policy.OnUnknownWindow.Action != policy.WindowError {
		a.told[t.Name()] = n
	}
	return n
}

// unknown adds to an error about a window why its provider did not tell it.
func (s *Session) unknown(err error) error {
	if !errors.Is(err, budget.ErrUnknownWindow) {
		return err
	}
	s.asked.mu.Lock()
	defer s.asked.mu.Unlock()
	for name, why := range s.asked.errs {
		err = fmt.Errorf("%w; %s was asked: %w", err, name, why)
	}
	return err
}
