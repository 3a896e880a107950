package plimsoll_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestBillOfKeptBeginnings: what a resource cost is on the bill, also after a restart, and in no prompt.
func TestBillOfKeptBeginnings(t *testing.T) {
	p := preset(t, "balanced")
	p.Prompt.Explicit = true
	o := plimsoll.Options{
		ID: "s", Store: &store.Memory{}, Policy: p,
		Targets: []budget.Target{{Provider: "gemini", Model: "gemini-2.5-pro", Window: budget.Window{Capacity: 200_000}}},
	}
	s := open(t, o)
	add(t, s, human("Go."))
	observe(t, s, llm.Usage{Input: 40, Made: 50_000, Stored: 50_000 * 300})
	const want = 40*1_250_000 + 50_000*1_250_000 + 4_167*4_500_000 // 15,000,000 token-seconds are 4,167 begun token-hours
	for _, when := range []string{"now", "after a restart"} {
		b := s.Bill()
		if b.Cost.Pico != want || !b.Cost.Known || b.Usage.Made != 50_000 || b.Lines[0].Usage.Stored != 50_000*300 {
			t.Errorf("%s: want %d, got %+v", when, want, b)
		}
		if n := s.Usage().Count.Point; n > 1000 {
			t.Errorf("%s: a prompt of %d tokens", when, n)
		}
		s = open(t, o)
	}
}
