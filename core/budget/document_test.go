package budget_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// documented is the target of the guard document's examples: 128,000 - 8,192 - 16,384.
var documented = budget.Target{Provider: "openai", Model: "gpt-4", Window: budget.Window{Capacity: 128_000, Buffer: 8_192, OutputReserve: 16_384}}

// TestDocumentExamples: the guard document prints figures that its own formulas do not
// give, as they are of an earlier state of its program. The formulas hold.
func TestDocumentExamples(t *testing.T) {
	var g budget.Guard
	g.TurnStart(0)
	g.SetSchema(3_000)
	g.BeginRequest()
	g.Commit(llm.Usage{Input: 44_000, Output: 1_000})
	g.TurnStart(2_000)
	t.Run("R000-3 its evaluate example adds the schema", func(t *testing.T) {
		if got := g.Project(0).Base; got != 47_000 {
			t.Errorf("45,000 + 2,000 + 0 + 0 = %d, want 47,000 and not the 50,000 of the page", got)
		}
	})
	t.Run("R000-25 its provider-eval example blocks what fits", func(t *testing.T) {
		v := g.Evaluate(nil, []budget.Target{documented}, 3_000)
		if v.Base != 50_000 || v.Entries[0].Blocked || v.Decision != budget.OK {
			t.Errorf("50,000 of %d tokens: %+v, want ok", v.Entries[0].Limit, v)
		}
	})
	t.Run("R000-9 its provider-eval example has a buffer of 256", func(t *testing.T) {
		old := documented.Window
		old.Buffer = 256
		if old.Limit() != 111_360 || documented.Window.Limit() != 103_424 {
			t.Errorf("limits %d and %d, want 111,360 with the old buffer and 103,424", old.Limit(), documented.Window.Limit())
		}
	})
}

// TestOriginMistakes: what the program behind the guard document does otherwise than its
// document, or than it should.
func TestOriginMistakes(t *testing.T) {
	full := []budget.Target{documented}
	t.Run("R000-12 an overflow smaller than the schema is enforced", func(t *testing.T) {
		// There the schema is taken off again before the limit is looked at.
		var g budget.Guard
		g.SetSchema(3_000)
		g.TurnStart(103_424 + 1)
		if v := g.Evaluate(nil, full, 0); v.Decision != budget.Final {
			t.Errorf("one token above the limit beside 3,000 of schema: %v, want final", v.Decision)
		}
	})
	t.Run("R000-11 skip names the target to go on with", func(t *testing.T) {
		// There the call goes to the skipped one all the same.
		var g budget.Guard
		g.TurnStart(110_000)
		larger := documented
		larger.Model, larger.Window.Capacity = "gpt-4.1", 1_000_000
		v := g.Evaluate(nil, []budget.Target{documented, larger}, 0)
		if v.Decision != budget.Skip || v.Next != 1 || v.Entries[1].Decision != budget.OK {
			t.Errorf("verdict %+v, want skip and then the second target", v)
		}
	})
	t.Run("R000-14 what is fresh is not forgotten by the enforcement", func(t *testing.T) {
		// There it is set to 0, so that outputs of this Turn count nothing until the next usage.
		var g budget.Guard
		g.TurnStart(100_000)
		g.BeginRequest()
		g.AddFresh(5_000)
		before := g.Project(0).Base
		g.Enforce()
		if got := g.Project(0).Base; got != before || g.Counters().Fresh != 0 {
			t.Errorf("%d tokens became %d, want them committed", before, got)
		}
	})
	t.Run("R000-23 the next Turn may run tools", func(t *testing.T) {
		// There they stay off for the rest of the session.
		var g budget.Guard
		g.TurnStart(103_000)
		if g.Preview(full, 1_000) {
			t.Fatal("want no room for an output")
		}
		g.Exceed()
		if g.CanExecute() {
			t.Fatal("want the tool budget exceeded")
		}
		g.Commit(llm.Usage{Input: 2_000})
		g.TurnStart(10)
		if !g.CanExecute() || !g.Preview(full, 1_000) {
			t.Error("want room and tools in the next Turn")
		}
	})
	t.Run("R000-6 a window that is all buffer and reserve blocks", func(t *testing.T) {
		// There a limit of 0 switches the guard off.
		none := documented
		none.Window.Capacity = none.Window.Buffer + none.Window.OutputReserve
		var g budget.Guard
		if v := g.Evaluate(nil, []budget.Target{none}, 0); v.Decision != budget.Final || g.Preview([]budget.Target{none}, 0) {
			t.Errorf("a limit of 0: %v, want final", v.Decision)
		}
		if err := none.Window.Validate(); err == nil {
			t.Error("want a mistake in the configuration, got none")
		}
	})
	t.Run("R000-2 usage counts in all its parts, once", func(t *testing.T) {
		var g budget.Guard
		g.Commit(llm.Usage{Input: 1, CacheRead: 20, CacheWrite5m: 300, CacheWrite1h: 4_000, Output: 50_000, Reasoning: 30_000})
		if got := g.Counters().Current; got != 54_321 {
			t.Errorf("current %d, want 54,321: reasoning is within the output (R000-10)", got)
		}
	})
}

// TestThresholdOfEveryTarget: R000-4 holds for each target by itself, one token below
// its limit, at it and above it.
func TestThresholdOfEveryTarget(t *testing.T) {
	targets, _ := eight()
	for i, target := range targets {
		for by, blocked := range map[int]bool{-1: false, 0: false, 1: true} {
			var g budget.Guard
			g.TurnStart(target.Window.Limit() + by)
			v := g.Evaluate(nil, targets, 0)
			if v.Entries[i].Blocked != blocked {
				t.Errorf("R000-4 %d tokens of %d: blocked %v", target.Window.Limit()+by, target.Window.Limit(), !blocked)
			}
			// The limits rise, so that the next one that fits is known.
			if want := i; !blocked && v.Next != want {
				t.Errorf("R000-11 next %d, want %d", v.Next, want)
			}
		}
	}
}
