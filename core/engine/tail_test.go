package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestRulesActBeforeTheBackstop: under a policy that makes room, the backstop has nothing
// to do in any conversation whose newest messages leave room, however few tool Rounds it
// has. It acts by its batch, seldom, with the summary beside it.
func TestRulesActBeforeTheBackstop(t *testing.T) {
	for name, hasRound := range map[string]func(step int) bool{
		"no Round":             func(int) bool { return false },
		"Rounds at the start":  func(step int) bool { return step < 5 },
		"a Round now and then": func(step int) bool { return step%60 == 5 },
		"a Round in each Step": func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				chatUnder(t, "summary-ahead", rand.New(rand.NewPCG(seed, 5)), hasRound)
				chatUnder(t, "balanced", rand.New(rand.NewPCG(seed, 5)), hasRound)
			}
		})
	}
}

func chatUnder(t *testing.T, name string, r *rand.Rand, hasRound func(step int) bool) {
	t.Helper()
	h := hostUnder(t, name, "gpt-4o", budget.Window{Capacity: 9000 + r.IntN(16_000), Buffer: 500, OutputReserve: 1000})
	const steps = 250
	batches, edits := 0, 0
	for step := range steps {
		ask(t, h, llm.Text{Text: fmt.Sprint("message ", step, " ", prose(50+r.IntN(900), "why"))})
		if hasRound(step) {
			look(t, h, fmt.Sprint("c", step), llm.Text{Text: filler(20+r.IntN(1200), fmt.Sprint("out", step))})
		}
		must(t, h.feed(engine.Prepare{}))
		for _, a := range h.asks {
			must(t, h.feed(engine.Answer{Ask: a.ID, Text: "<summary>" + prose(600, "summary") + "</summary>"}))
		}
		h.asks = nil
		if n := h.m.Stats().Backstop; n > 0 {
			t.Fatalf("step %d: the backstop made %d edits where the rules had room to act", step, n)
		}
		if made := h.m.Journal()[edits:]; slices.ContainsFunc(made, func(e edit.Edit) bool { return e.Rule == "batch" }) {
			batches++
			if limit := h.m.Targets()[0].Window.Limit(); h.m.Count().Bound > limit*920/1000 {
				t.Errorf("step %d: the batch left %d of %d tokens", step, h.m.Count().Bound, limit)
			}
			if name == "summary-ahead" && !slices.ContainsFunc(h.m.View().Items, func(it edit.Item) bool { return it.Message.Flags.Has(llm.FlagSummary) }) {
				t.Errorf("step %d: the batch shows no summary of what it took out", step)
			}
		}
		edits = len(h.m.Journal())
		must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: prose(20+r.IntN(200), "so")}}}}))
	}
	if batches == 0 || batches > steps/5 {
		t.Errorf("want a batch now and then, got %d in %d Steps", batches, steps)
	}
}

// TestTailBendsForCompact: a compaction by hand finds something to do in a chat with
// fewer Rounds than the tail has.
func TestTailBendsForCompact(t *testing.T) {
	h := screenHost(t, "gpt-4o", budget.Window{Capacity: 100_000})
	for step := range 6 {
		ask(t, h, llm.Text{Text: fmt.Sprint("message ", step, " ", prose(900, "why"))})
		must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: prose(900, "so")}}}}))
	}
	must(t, h.feed(engine.Compact{}))
	if len(h.asks) != 1 || h.asks[0].Span.To <= 1 {
		t.Fatalf("want a question for a summary, got %v", h.asks)
	}
	if p := h.m.Policy(); p.Tail.Unit != policy.TailRounds {
		t.Errorf("the tail of %s is in %s, want Rounds for this test to say something", p.Name, p.Tail.Unit)
	}
}
