package engine_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// TestCountThatComesBack is a host that reports our own count as usage, Step after Step:
// what the count is careful about must not add up until nothing fits.
func TestCountThatComesBack(t *testing.T) {
	for _, model := range []string{"gpt-4o", "claude-opus-4-5", "mystery"} {
		for _, figure := range []string{"point", "bound"} {
			t.Run(model+"/"+figure, func(t *testing.T) { echo(t, model, figure == "bound") })
		}
	}
}

func echo(t *testing.T, model string, bound bool) {
	const limit, steps = 12_000, 400
	p, err := policy.Preset("balanced")
	must(t, err)
	w := budget.Window{Capacity: limit, Buffer: budget.None, OutputReserve: budget.None, MaxBytes: engine.NoLimit}
	c, err := configured(p, budget.Target{Model: model, Window: w})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: "Do it all."})
	for i := range steps {
		must(t, h.feed(engine.Prepare{}))
		if len(h.sent) != i+1 {
			t.Fatalf("Step %d: want a request, got refused: %v", i, h.refused)
		}
		s := h.sent[i]
		if i%10 == 0 {
			if real := costs(h); s.Count.Point > real+limit/5 || s.Count.Point < real*19/20 {
				t.Fatalf("Step %d: want a count of some %d, got %+v", i, real, s.Count)
			}
		}
		used := s.Count.Point
		if bound {
			used = s.Count.Bound
		}
		must(t, h.feed(engine.Usage{Usage: llm.Usage{Input: used, Output: 30}, Reported: true}))
		look(t, h, fmt.Sprint("c", i), llm.Text{Text: filler(2500, fmt.Sprint("out", i))})
	}
}

// costs returns what all that a machine shows costs, measured anew.
func costs(h *host) int {
	var total token.Size
	meter := h.m.MeterStates()[0]
	for i, it := range h.m.View().Items {
		size := h.size(meter.Counter, it, h.m.View().Items[:i])
		if known, ok := h.known(meter.Key)[it.Message.ID]; ok {
			size = token.Size{Known: known, Messages: 1}
		}
		total = total.Add(size)
	}
	g := token.GrowthOf(total)
	g.OutputUnknown = true
	return meter.Cal.Cost(g)
}
