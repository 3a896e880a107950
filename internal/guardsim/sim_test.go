package guardsim

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	quickShare = 48              // sessions without PLIMSOLL_SIM
	patience   = 5 * time.Minute // for one session: it takes a fraction of a second
	mostOver   = 15              // requests of class bound that may be refused, in 1,000 that were ok
)

// share returns how many sessions are to run.
func share(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PLIMSOLL_SIM")
	if text == "" {
		return quickShare
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PLIMSOLL_SIM, want a number of sessions, got %q", text)
	}
	return n
}

// TestSessions runs the sessions and judges them together.
func TestSessions(t *testing.T) {
	var mu sync.Mutex
	total := &tally{}
	t.Run("seeds", func(t *testing.T) {
		for seed := range share(t) {
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				t.Parallel()
				one := watched(t, newPlan(uint64(seed), ""))
				mu.Lock()
				defer mu.Unlock()
				total.add(one)
			})
		}
	})
	t.Log("\n" + total.String())
	for _, note := range total.notes {
		t.Log(note)
	}
	if total.sessions < quickShare {
		return // of so few nothing follows
	}
	t.Run("R000-4_exact_counts_are_never_refused", func(t *testing.T) { held(t, total.classes[exact], 0) })
	t.Run("R000-4_prompts_come_near_the_limit", func(t *testing.T) { total.near(t) })
	t.Run("R000-18_bounds_hold", func(t *testing.T) { held(t, total.classes[bound], mostOver) })
	t.Run("law 4 after a restart", func(t *testing.T) {
		if total.differ > 0 {
			t.Errorf("requests after a restart, want each as without it, got %d of %d that differ", total.differ, total.same)
		}
	})
	t.Run("R000-11_every_verdict_was_given", func(t *testing.T) {
		if all := total.sum(); all.skip == 0 || all.final == 0 || total.classes[lied].ok == 0 || total.classes[lied].rejected == 0 || total.same == 0 || total.tooLarge == 0 {
			t.Errorf("requests, want some that are ok, go to a fallback, are a final Step, are refused where the window was stated too large or the server takes fewer bytes, and follow a restart, got\n%s", total)
		}
	})
}

// near fails if too few of the prompts of models whose tokenizer is known came near the
// limit for the rest to mean something.
func (t *tally) near(to *testing.T) {
	to.Helper()
	if c := t.classes[exact]; c.edge < t.sessions/12 || c.percent < t.sessions/48 {
		to.Errorf("of %d sessions, want %d prompts counted within %d tokens of the limit, and %d within 1 %% of it, got %d and %d",
			t.sessions, t.sessions/12, edgeTokens, t.sessions/48, c.edge, c.percent)
	}
}

// held fails if no request of a class had the verdict ok, or if of the requests of a class with the verdict ok more than most in 1,000 were
// refused as too long.
func held(t *testing.T, c class, most int) {
	t.Helper()
	if c.ok == 0 || c.okRejected*1000 > c.ok*most {
		t.Errorf("requests with the verdict ok, want some, and at most %d in 1,000 refused as too long, got %d of %d", most, c.okRejected, c.ok)
	}
}

// TestServerRefuses shows that the server refuses what is over: the same agents without a
// policy run into it.
func TestServerRefuses(t *testing.T) {
	total := &tally{}
	for seed := range 10 {
		one, _ := simulate(t.Context(), newPlan(uint64(seed), "off"))
		total.add(one)
	}
	for _, k := range []kind{exact, bound} {
		if total.classes[k].rejected == 0 {
			t.Errorf("requests of the policy off, want some refused as too long of each kind, got\n%s", total)
		}
	}
}

// watched runs a session and fails if it does not end.
func watched(t *testing.T, p *plan) *tally {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type end struct {
		tally  *tally
		faults []error
	}
	done := make(chan end, 1)
	go func() {
		one, faults := simulate(ctx, p)
		done <- end{one, faults}
	}()
	select {
	case e := <-done:
		for _, err := range e.faults {
			t.Errorf("%s: %v", p, err)
		}
		if len(e.faults) > 0 {
			t.Logf("again: PLIMSOLL_SIM=%d go test ./internal/guardsim -run '/seeds/seed=%d$'", p.seed+1, p.seed)
		}
		return e.tally
	case <-ctx.Done():
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s: want an end within %v, got none\n%s", p, patience, stacks[:runtime.Stack(stacks, true)])
	}
	return &tally{}
}

// String names a plan.
func (p *plan) String() string {
	text := fmt.Sprintf("seed %d, %s", p.seed, p.policy)
	for i, m := range p.models {
		text += fmt.Sprintf(", %s/%s %d", m.provider, m.name, p.targets[i].Window.Capacity)
	}
	return text
}
