package reports

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// TestBillingNote says what is missing where no cost is shown.
func TestBillingNote(t *testing.T) {
	for _, c := range []struct {
		name string
		bill replay.Bill
		want string
	}{
		{"no price", replay.Bill{Unpriced: []string{"m"}, UnpricedParts: []replay.UnpricedPart{{}}}, "no price is known of m, so"},
		{
			"some prices",
			replay.Bill{Unpriced: []string{"m", "n"}, UnpricedParts: []replay.UnpricedPart{{CacheRead: 7, Output: 1}, {}}},
			"no price is known of m (cache read, output), n, so",
		},
		{"no list prices", replay.Bill{}, "list prices do not hold for some of the calls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := replay.Result{Billing: replay.Billing{Cache: "anthropic"}, Runs: []replay.Run{{TokensSent: 1, Bill: c.bill}, {TokensSent: 1, Bill: c.bill}}}
			if got := billingNote(res); !strings.Contains(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestSpentOfSomeSteps: what is known is said with how much it is of all.
func TestSpentOfSomeSteps(t *testing.T) {
	cost := catalog.Dollars(500_000_000_000)
	r := inspect.Report{
		Totals:   inspect.Totals{Steps: 3, CostSteps: 2, Tokens: 900},
		Segments: []inspect.Segment{{Steps: []inspect.Step{{CostUSD: cost}, {}, {CostUSD: cost}}}},
	}
	if got, want := spent(r), "900 tokens sent; $1.00 for 2 of 3 steps, the rest is not priced"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestRunNotes(t *testing.T) {
	r := replay.Run{
		EndedAtStep: 3, EndReason: "context", StillOver: 1, BackstopEdits: 2, Orphans: 1, UnresolvedRefs: 1, Uncovered: 1, Note: "smaller",
		Irreducible: []replay.Irreducible{{Step: 2, Floor: 1200, Limit: 1000, Parts: map[string]int{"system": 1100, "newest_round": 100, "tools": 0}}, {Step: 3}},
	}
	want := []string{
		"ended at step 3 of 9: context guard enforced",
		"Still over limit after shrink: its last call was sent all the same",
		"step 2 cannot go below 1,200 tokens (newest round 100, system 1,100); 1 more are like it",
		"the last resort below all policies acted: 2 edits",
		"1 call or result without the other",
		"2 removed parts that cannot be read back",
		"smaller",
	}
	if got := runNotes(r, 9); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := runNotes(replay.Run{Steps: 9}, 9); len(got) > 0 {
		t.Errorf("nothing to say, got %q", got)
	}
}
