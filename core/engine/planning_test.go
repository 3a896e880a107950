package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestWhoMadeABatch: where a batch that may wait does so and one that must not acts in its place, every
// edit names the rule that made it, and is the one that the second would plan by itself.
func TestWhoMadeABatch(t *testing.T) {
	plan := func(patient bool) []edit.Edit {
		p, err := named("balanced")
		must(t, err)
		p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r policy.Rule) bool { return r.Name == "old-outputs" || r.Name == "batch" && !patient })
		c, err := configured(p, budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: 60_000, OutputReserve: 4000}})
		must(t, err)
		h, err := newHost(c)
		must(t, err)
		ask(t, h, llm.Text{Text: "go on"})
		for i := 0; len(h.m.Journal()) == 0 && i < 400; i++ {
			call, result := benchRound(i)
			must(t, h.feed(engine.Append{Message: call}))
			must(t, h.feed(engine.Append{Message: result}))
			if i%8 == 0 {
				prepared(t, h)
			}
		}
		return h.m.Journal()
	}
	got, want := plan(true), plan(false)
	if len(got) == 0 || len(got) != len(want) {
		t.Fatalf("got %d edits, want %d", len(got), len(want))
	}
	for i, e := range got {
		if e.Rule != "must-batch" || fmt.Sprint(e) != fmt.Sprint(want[i]) {
			t.Errorf("edit %d: got %v, want %v", i, e, want[i])
		}
	}
}
