package main

import (
	"bytes"
	"fmt"
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

// TestBusyHint: who meets another replay in the same store learns what to do.
func TestBusyHint(t *testing.T) {
	var b bytes.Buffer
	printError(&b, fmt.Errorf("replay: keep %q: %w", "s#1 off model", replay.ErrBusy))
	if got := b.String(); !strings.Contains(got, "another replay writes to this session") || !strings.Contains(got, "hint: ") || strings.Contains(got, "conflict") {
		t.Errorf("got %q", got)
	}
}
