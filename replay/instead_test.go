package replay

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// TestInstead: what another request than the client's is charged for, by what was reported of the client's own. The client
// sent 100,000 tokens, the run sends 60,000.
func TestInstead(t *testing.T) {
	expected := llm.Usage{CacheRead: 90_000, CacheWrite5m: 10_000}
	for _, c := range []struct {
		name          string
		reported, use llm.Usage
		shared        int
		want          llm.Usage
	}{
		{
			"as simulated",
			expected,
			llm.Usage{CacheRead: 50_000, CacheWrite5m: 10_000},
			0,
			llm.Usage{CacheRead: 50_000, CacheWrite5m: 10_000},
		},
		{
			"the provider had nothing: it has nothing of this one",
			llm.Usage{Input: 4, CacheWrite5m: 99_996},
			llm.Usage{CacheRead: 50_000, CacheWrite5m: 10_000},
			0,
			llm.Usage{Input: 3, CacheWrite5m: 59_997},
		},
		{
			"it read half of what was expected",
			llm.Usage{CacheRead: 45_000, CacheWrite5m: 55_000},
			llm.Usage{CacheRead: 50_000, CacheWrite5m: 10_000},
			0,
			llm.Usage{CacheRead: 25_000, CacheWrite5m: 35_000},
		},
		{
			"it read more, of which the two have 20,000 in common",
			llm.Usage{CacheRead: 99_000, CacheWrite5m: 1_000},
			llm.Usage{CacheWrite5m: 60_000},
			20_000,
			llm.Usage{CacheRead: 20_000, CacheWrite5m: 40_000},
		},
		{
			"what is not read is divided as it was reported",
			llm.Usage{CacheRead: 90_000, Input: 2_500, CacheWrite1h: 7_500},
			llm.Usage{CacheRead: 20_000, CacheWrite5m: 40_000},
			0,
			llm.Usage{CacheRead: 20_000, Input: 10_000, CacheWrite1h: 30_000},
		},
		{
			"all of the client's was read: the rest as simulated",
			llm.Usage{CacheRead: 100_000},
			llm.Usage{CacheRead: 20_000, CacheWrite5m: 40_000},
			0,
			llm.Usage{CacheRead: 20_000, CacheWrite5m: 40_000},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			step := rawStep{reported: true}
			step.Charge = inspect.Charge{Usage: c.reported, Simulated: expected}
			c.want.Output, step.Usage.Output = 300, 300
			b := &biller{}
			got := b.instead(step, c.use, c.shared)
			if got.Usage != c.want || got.Usage.Prompt() != c.use.Prompt() {
				t.Errorf("want %+v, got %+v", c.want, got.Usage)
			}
			if got.CostUSD.Known || got.CostKind != inspect.CostEstimated {
				t.Errorf("of a call that list prices do not hold for, want no cost, got %+v", got)
			}
		})
	}
}

// TestScaled: a product above 64 bits is no error, and nothing is divided by nothing.
func TestScaled(t *testing.T) {
	const most = 1<<63 - 1
	for _, c := range [][4]int64{{most, most, most, most}, {most, most, 1, most}, {5, 3, 0, 0}, {5, -3, 2, 0}, {7, 3, 2, 10}} {
		if got := scaled(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%d·%d/%d: want %d, got %d", c[0], c[1], c[2], c[3], got)
		}
	}
}

// TestStatedCostScales: where a file states what a call cost, another request costs its list price at the same rate.
func TestStatedCostScales(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	known = known.With(catalog.Model{ID: "harbour-1", Family: "unknown", Tiers: []catalog.Tier{{Prices: catalog.Prices{
		Input: 1_000_000, Output: 10_000_000, CacheRead: 100_000, CacheWrite5m: 1_250_000, CacheWrite1h: 2_000_000,
	}}}})
	b := (&Replayer{catalog: known}).biller(&raw{model: "harbour-1"})
	step := rawStep{reported: true, listed: true, model: "harbour-1"}
	step.Charge = inspect.Charge{Usage: llm.Usage{Input: 1000}, Simulated: llm.Usage{Input: 1000}, CostUSD: catalog.Dollars(500_000_000)} // half of the list price
	if got := b.instead(step, llm.Usage{Input: 600}, 0).CostUSD; got != catalog.Dollars(300_000_000) {
		t.Errorf("want half of 600 tokens' list price, got %s", got)
	}
}
