package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestClearedByTheProvider: what a provider takes out of prompts itself is no fault of its figures: the
// count falls to what it reports, nothing of ours is edited, and the ratio of text to tokens stays. A
// target that cannot is asked nothing, and our own rules act.
func TestClearedByTheProvider(t *testing.T) {
	for _, c := range []struct {
		model string
		asks  bool
	}{{"claude-sonnet-4-5", true}, {"gpt-5", false}} {
		t.Run(c.model, func(t *testing.T) {
			p, err := policy.Preset("balanced")
			must(t, err)
			p.Rules = append([]policy.Rule{{
				Name: "theirs", At: policy.AtPrepare, Do: policy.DoProvider,
				Args: policy.Args{Permille: 500, Keep: policy.Tail{Unit: policy.TailRounds, N: 1}},
			}}, p.Rules...)
			cfg, err := configured(p, budget.Target{Model: c.model, Window: budget.Window{Capacity: 20_000, OutputReserve: 1000, Buffer: budget.None}})
			must(t, err)
			h, err := newHost(cfg)
			must(t, err)
			edits := 0
			h.ready = func(r engine.Ready, _ string) { edits += len(r.Edits) }
			must(t, h.feed(engine.Append{Message: llm.UserText("Go.")}))
			cleared, whole := 0, 0
			for i := range 30 {
				id := fmt.Sprint("c", i)
				must(t, h.feed(engine.Append{Message: llm.AssistantText("On.", llm.ToolCall{CallID: id, Name: "read", Args: "{}"})}))
				must(t, h.feed(engine.Append{Message: llm.ToolText(id, logged(i))}))
				must(t, h.feed(engine.Prepare{}))
				if len(h.sent) != i+1 {
					t.Fatalf("request %d: nothing is sent", i)
				}
				send := h.sent[i]
				full := send.Count.Point
				if asks := send.Clear.Above > 0; asks != c.asks {
					t.Fatalf("request %d: asked %v, want %v", i, asks, c.asks)
				}
				if whole += 1100; c.asks && whole > send.Clear.Above {
					full, cleared = 3000, cleared+1
				}
				u := llm.Usage{Input: full, Output: 10}
				if full == 3000 {
					u.Cleared = whole - full
				}
				must(t, h.feed(engine.Usage{Usage: u, Reported: true}))
				if n := h.m.Count().Point; c.asks && n > full+100 {
					t.Fatalf("request %d: counted %d of a prompt of %d", i, n, full)
				}
			}
			if stored := len(h.blobs); c.asks && (cleared == 0 || stored == 0 || edits > 0) || !c.asks && edits == 0 {
				t.Errorf("%d prompts cleared, %d outputs stored, %d edits of ours", cleared, stored, edits)
			}
			if ratio := h.m.Calibration().Ratio(); c.asks && (ratio < 700 || ratio > 1500) {
				t.Errorf("the ratio of text to tokens is %d", ratio)
			}
		})
	}
}

// logged returns an output of some 700 tokens of its own.
func logged(n int) string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "the mate of vessel %d logged swell number %d\n", n, i*7+n)
	}
	return b.String()
}
