package cache

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// prices are those of one token, where an uncached one costs a dollar a million.
func prices(read, write, long catalog.Price) catalog.Prices {
	return catalog.Prices{Input: 1_000_000, CacheRead: read, CacheWrite5m: write, CacheWrite1h: long}
}

// TestBreakEven holds, for the price ratios of real caches, the requests after which a cut has paid, with a suffix as large
// as what was removed, so that the factor shows.
func TestBreakEven(t *testing.T) {
	for _, c := range []struct {
		name            string
		p               catalog.Prices
		removed, suffix int
		long            bool
		want            int
	}{
		{"Anthropic, five minutes: 11.5", prices(100_000, 1_250_000, 2_000_000), 1000, 1000, false, 12},
		{"the same, exactly", prices(100_000, 1_250_000, 2_000_000), 1000, 2000, false, 23},
		{"Anthropic, one hour: 19", prices(100_000, 1_250_000, 2_000_000), 1000, 1000, true, 19},
		{"read at 0.05: 24", prices(50_000, 1_250_000, 2_000_000), 1000, 1000, false, 24},
		{"read at 0.025: 49", prices(25_000, 1_250_000, 2_000_000), 1000, 1000, false, 49},
		{"OpenAI before GPT-5.6: 9", prices(100_000, 1_000_000, -1), 1000, 1000, false, 9},
		{"read at half: 1", prices(500_000, 1_000_000, -1), 1000, 1000, false, 1},
		{"2k before 50k: 287.5", prices(100_000, 1_250_000, -1), 2000, 50_000, false, 288},
		{"50k before 10k: 2.3", prices(100_000, 1_250_000, -1), 50_000, 10_000, false, 3},
		{"nothing behind it: at birth it is free", prices(100_000, 1_250_000, -1), 5000, 0, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := BreakEven(c.p, c.removed, c.suffix, c.long)
			if !ok || got != c.want {
				t.Errorf("requests, want %d, got %d, %v", c.want, got, ok)
			}
		})
	}
}

func TestNeverOrUnknown(t *testing.T) {
	for name, f := range map[string]func() (int, bool){
		"unknown price": func() (int, bool) { return BreakEven(prices(-1, 1_250_000, -1), 10, 10, false) },
		"unknown long":  func() (int, bool) { return BreakEven(prices(100, 1_250_000, -1), 10, 10, true) },
		"no gain":       func() (int, bool) { return BreakEven(prices(100, 1000, -1), 0, 10, false) },
		"reading free":  func() (int, bool) { return BreakEven(prices(0, 1000, -1), 10, 10, false) },
	} {
		if n, ok := f(); ok {
			t.Errorf("%s: want no answer, got %d", name, n)
		}
	}
	if g, ok := (Change{Removed: 1}).Gain(prices(-1, 1, 1)); ok {
		t.Errorf("gain with an unknown price: want none, got %d", g)
	}
}

// TestGainChangesSignAtBreakEven: one request fewer does not pay, so many do.
func TestGainChangesSignAtBreakEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := rapid.Int64Range(1, 5_000_000).Draw(t, "read")
		p := prices(catalog.Price(read), catalog.Price(read+rapid.Int64Range(0, 50_000_000).Draw(t, "more")), -1)
		ch := Change{Removed: rapid.IntRange(1, 1_000_000).Draw(t, "removed"), Suffix: rapid.IntRange(0, 1_000_000).Draw(t, "suffix"), Warm: 1000}
		n, ok := BreakEven(p, ch.Removed, ch.Suffix, false)
		if !ok {
			t.Fatal("want an answer")
		}
		ch.Requests = n
		if g, _ := ch.Gain(p); g < 0 {
			t.Fatalf("%d requests: want a gain, got %d", n, g)
		}
		if ch.Requests = n - 1; n > 1 {
			if g, _ := ch.Gain(p); g >= 0 {
				t.Fatalf("%d requests: want no gain, got %d", n-1, g)
			}
		}
	})
}

// TestColdAlwaysPays: with nothing warm an edit costs nothing.
func TestColdAlwaysPays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ch := Change{
			Removed: rapid.IntRange(1, 1<<40).Draw(t, "removed"), Suffix: rapid.IntRange(0, 1<<40).Draw(t, "suffix"),
			Requests: rapid.IntRange(1, 1<<30).Draw(t, "requests"), Warm: 0,
		}
		if g, ok := ch.Gain(prices(100_000, 1_250_000, -1)); !ok || g <= 0 {
			t.Fatalf("gain, want more than 0, got %d, %v", g, ok)
		}
	})
}
