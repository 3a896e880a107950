package policy_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		id, preset string
		w          budget.Window
		want       policy.Line
	}{
		{
			"R000-4 R000-6", "guard",
			budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 16384},
			policy.Line{
				Rule: "no-room", At: "prepare", Do: "final", Measure: "guard", Op: ">", Threshold: 103424, Unit: "tokens",
				Estimator: "max(model,chars/4)", Permille: 1000, Of: "limit",
			},
		},
		{
			"R000-21", "guard",
			budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 16384},
			policy.Line{Rule: "big-output", At: "tool", Do: "offload", Measure: "output_bytes", Op: ">", Threshold: 12288, Unit: "bytes"},
		},
		{
			"R001-14", "cache-compact",
			budget.Window{Capacity: 200000},
			policy.Line{
				Rule: "compact", At: "usage", Do: "summarise", Measure: "usage", Op: ">=", Threshold: 160000, Unit: "tokens",
				Estimator: "reported", Permille: 800, Of: "capacity",
			},
		},
		{
			"R001-2", "cache-compact",
			budget.Window{Capacity: 400000},
			policy.Line{
				Rule: "trim-outputs", At: "prepare", Do: "trim", Measure: "outputs", Op: ">", Threshold: 60000, Unit: "tokens",
				Estimator: "bytes/4", Permille: 250, Of: "capacity", Min: 20000, Max: 60000,
			},
		},
		{
			"R001-1 always", "cache-compact",
			budget.Window{Capacity: 400000},
			policy.Line{Rule: "cut-output", At: "tool", Do: "cap"},
		},
		{
			"R002-10", "layered",
			budget.Window{Capacity: 100000, OutputReserve: 4096},
			policy.Line{
				Rule: "block-clear", At: "prepare", Do: "clear", Measure: "view", Op: ">", Threshold: 93985, Unit: "tokens",
				Estimator: "bytes/4+10", Permille: 980, Of: "limit", Forced: true,
			},
		},
		{
			"R003-7", "turn-budget",
			budget.Window{Capacity: 131072, OutputReserve: 32768},
			policy.Line{Rule: "many-messages", At: "turn_end", Do: "summarise", Measure: "messages", Op: ">", Threshold: 20, Unit: "count"},
		},
		{
			"low water", "balanced",
			budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 32000},
			policy.Line{
				Rule: "batch", At: "prepare", Do: "demote", Measure: "view", Op: ">", Threshold: 86051, Unit: "tokens",
				Estimator: "count", Permille: 980, Of: "limit", First: 28098 + 6000, Down: 12293 + 6000,
			},
		},
		{
			"low water and the note", "lean",
			budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 32000},
			policy.Line{
				Rule: "batch", At: "prepare", Do: "demote", Measure: "view", Op: ">", Threshold: 86051, Unit: "tokens",
				Estimator: "count", Permille: 980, Of: "limit", Down: 10536 + 6000,
			},
		},
		{
			"one output", "balanced",
			budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 32000},
			policy.Line{Rule: "huge-output", At: "tool", Do: "cap", Down: 21952, Show: "ends"},
		},
	} {
		t.Run(c.preset+"/"+c.id, func(t *testing.T) {
			lines := policy.Explain(preset(t, c.preset), c.w)
			i := slices.IndexFunc(lines, func(l policy.Line) bool { return l.Rule == c.want.Rule })
			if i < 0 {
				t.Fatalf("no line for rule %q", c.want.Rule)
			}
			if lines[i] != c.want {
				t.Errorf("line:\n got %+v\nwant %+v", lines[i], c.want)
			}
		})
	}
	if lines := policy.Explain(preset(t, "off"), budget.Window{Capacity: 1}); len(lines) != 0 {
		t.Errorf("off: %d lines, want none", len(lines))
	}
}

// A threshold is the share of its base rounded down and clamped, for windows of
// any size, and it never falls when the window grows.
func TestThresholdProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := policy.Condition{
			Measure: "view", Op: ">", Of: "capacity",
			Permille: rapid.IntRange(1, 1000).Draw(t, "permille"),
			Min:      rapid.IntRange(0, 1e6).Draw(t, "min"),
		}
		if rapid.Bool().Draw(t, "bounded") {
			c.Max = rapid.IntRange(max(c.Min, 1), 2e6).Draw(t, "max")
		}
		n := rapid.IntRange(0, 4e6).Draw(t, "capacity")
		want := max(n*c.Permille/1000, c.Min)
		if c.Max > 0 {
			want = min(want, c.Max)
		}
		got := c.Threshold(budget.Window{Capacity: n})
		if got != want {
			t.Fatalf("Threshold(%d) of %+v = %d, want %d", n, c, got, want)
		}
		more := c.Threshold(budget.Window{Capacity: n + rapid.IntRange(0, 1e6).Draw(t, "more")})
		if more < got {
			t.Fatalf("the threshold fell from %d to %d as the window grew", got, more)
		}
	})
	whole := policy.Condition{Measure: "view", Op: ">", Permille: 1000, Of: policy.OfLimit}
	if got := whole.Threshold(budget.Window{Capacity: math.MaxInt}); got != math.MaxInt {
		t.Errorf("whole of the largest window = %d, want no overflow", got)
	}
	if got := whole.Threshold(budget.Window{Capacity: 10, Buffer: 20}); got != 0 {
		t.Errorf("share of a negative limit = %d, want 0", got)
	}
}

// What a provider is asked for has no condition, and yet a figure from where on it is done.
func TestExplainOfAProvider(t *testing.T) {
	p := policy.Policy{Rules: []policy.Rule{{Name: "theirs", At: policy.AtPrepare, Do: policy.DoProvider, Args: policy.Args{Permille: 500, To: 900}}}}
	got := policy.Explain(p, budget.Window{Capacity: 100_000})
	if l := got[0]; l.Threshold != 50_000 || l.Unit != policy.UnitTokens || l.Permille != 500 || l.Of != policy.OfLimit || l.Down != 45_000 {
		t.Errorf("want it from 50,000 tokens on down to 45,000, got %+v", l)
	}
}
