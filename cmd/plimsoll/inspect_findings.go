package main

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// replayOf says what the default policy would have sent in place of what the client did, as
// plimsoll replay says it of the same session: nil if it could not be run whole.
func replayOf(ctx context.Context, s *sessionfile.Session, model string) *advice.Replayed {
	f := replayFlags{policies: []string{reports.PolicyOff, policy.DefaultPreset}, windows: []string{"model"}, model: model}
	o, err := f.options()
	if err != nil {
		return nil // the flags are ours: there is no such file or model
	}
	o.Other = tokenizers.Encoding
	r, err := replay.New(o)
	if err != nil {
		return nil
	}
	out := &advice.Replayed{Policy: policy.DefaultPreset, Paid: catalog.Dollars(0), CostUSD: catalog.Dollars(0), Sent: true}
	whole := true
	err = r.Session(ctx, s, func(res replay.Result) error {
		whole = whole && res.NotRun == "" && len(res.Runs) == 2
		for _, run := range res.Runs {
			if run.Policy == reports.PolicyOff {
				out.Paid = out.Paid.Add(run.CostUSD)
				continue
			}
			out.CostUSD = out.CostUSD.Add(run.CostUSD)
			out.Sent = out.Sent && run.StepsOver == 0 && len(run.Irreducible) == 0 && run.EndedAtStep == 0
			if run.PeakSent > out.Peak {
				out.Peak, out.Limit = run.PeakSent, run.Limit
			}
		}
		return nil
	})
	if err != nil || !whole {
		return nil
	}
	return out
}
