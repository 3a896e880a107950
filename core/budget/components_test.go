package budget_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestComponents(t *testing.T) {
	c := budget.Components{System: 1_000, Skills: 500, Tools: 25_000, Summary: 300, History: 20_000, Notes: 200}
	if c.Largest() != token.Tools {
		t.Errorf("largest = %v, want tools", c.Largest())
	}
	sum := 0
	for i := range token.NumComponents {
		sum += c.Of(token.Component(i))
	}
	if sum != c.Used() || c.Of(token.Component(99)) != 0 {
		t.Errorf("the components add up to %d, used is %d", sum, c.Used())
	}
}

// A share is rounded down, exact for every size, and nothing of what is negative.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, permille := rapid.IntRange(0, 1<<40).Draw(t, "n"), rapid.IntRange(0, 4_000).Draw(t, "permille")
		if got, want := budget.Share(n, permille), n*permille/1000; got != want {
			t.Fatalf("%d permille of %d = %d, want %d", permille, n, got, want)
		}
		if got := budget.Share(-n, permille); got != 0 {
			t.Fatalf("%d permille of %d = %d, want 0", permille, -n, got)
		}
	})
	if got := budget.Share(math.MaxInt, 1000); got != math.MaxInt {
		t.Errorf("the whole of the largest number is %d", got)
	}
}
