package replay_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestCopiedCallsAreRunAndInNoSum: a fork's copied calls are in its context, and its tokens and money are those of its own call.
func TestCopiedCallsAreRunAndInNoSum(t *testing.T) {
	cat, s := priced(t), conversation("harbour-1", 60)
	s.Parent, s.Kin = "parent", sessionfile.KinFork
	for _, i := range []int{1, 3} {
		s.Segments[0].Entries[i].Step.Copied = "parent"
	}
	balanced, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	res := runOff(t, s, replay.Options{Catalog: cat, Series: true})
	if res.Steps != 1 || res.Copied != 2 || res.Parent != "parent" || res.Kin != "fork" {
		t.Errorf("want one step of its own and two copied, got %d and %d of %s %q", res.Steps, res.Copied, res.Kin, res.Parent)
	}
	run := res.Runs[0]
	// in the upper tier 1000 x 2 + 11000 x 0.2 + 100 x 20, in millionths
	if run.Steps != 1 || run.TokensSent != 12_000 || run.TokensRaw != 12_000 || run.TokensToEnd != 12_000 || run.PeakSent != 12_000 || run.CostUSD != catalog.Dollars(6_200_000_000) {
		t.Errorf("off: want the last call alone, 12,000 tokens for $0.0062, got %+v", run)
	}
	if len(run.Series) != 1 || run.Series[0].Step != 3 {
		t.Errorf("want one point, of step 3, got %+v", run.Series)
	}
	if b := res.Billing; b.PaidUSD != run.CostUSD || b.PaidSteps != 1 || b.Compared != 1 {
		t.Errorf("want one call paid, got %+v", b)
	}
	r, err := replay.New(replay.Options{Catalog: cat, Policies: []policy.Policy{balanced}, Judge: true})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Session(t.Context(), s, func(res replay.Result) error {
		if run := res.Runs[0]; run.Steps != 1 || run.StepsOver != 0 || run.EndedAtStep != 0 {
			t.Errorf("balanced: got %+v", run)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
