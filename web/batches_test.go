package web_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestReplayPageHasBatches: the page of a replay has what each batch cost and saved, the sums of a
// run, and what reading again would cost; one that saved less than it cost is marked.
func TestReplayPageHasBatches(t *testing.T) {
	dollar := int64(1_000_000_000_000)
	run := replay.Run{
		Policy: "balanced", Window: "50%", Steps: 70,
		Bill: replay.Bill{LookUpsUSD: catalog.Dollars(dollar / 4)},
		Batches: []replay.Batch{
			{
				Step: 26, Rules: []string{"must-batch"}, Edits: 4, Removed: 29_337, Rewritten: 14_253, Calls: 7, BreakEven: 6,
				CostUSD: catalog.Dollars(2 * dollar), SavedUSD: catalog.Dollars(3 * dollar), Expected: &replay.Expected{Calls: 31},
			},
			{Step: 33, Rules: []string{"old-outputs"}, Edits: 2, Removed: 4_807, Rewritten: 14_498, Calls: 28, CostUSD: catalog.Dollars(5 * dollar), SavedUSD: catalog.Dollars(4 * dollar)},
		},
		Batched: &replay.BatchSum{Batches: 2, Removed: 34_144, Rewritten: 28_751, CostUSD: catalog.Dollars(7 * dollar), SavedUSD: catalog.Dollars(7 * dollar)},
	}
	for _, o := range []web.Options{{}, {Redact: true}} {
		var b strings.Builder
		if err := web.WriteReplay(&b, []replay.Result{{Session: "quay.jsonl", Segment: 1, Runs: []replay.Run{run}}}, o); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, want := range []string{"What each batch cost and saved", "must-batch", "29,337", "14,498", ">31<", "$3.00", "28,751", "$7.00", "$0.25", "never"} {
			if !strings.Contains(page, want) {
				t.Errorf("redacted %v: want %q on the page", o.Redact, want)
			}
		}
		if !strings.Contains(page, `bad">$4.00`) || strings.Contains(page, `bad">$3.00`) {
			t.Errorf("redacted %v: want the batch marked that saved less than it cost, and no other", o.Redact)
		}
	}
}
