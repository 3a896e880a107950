package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// billingNote says what the costs of a segment rest on.
func billingNote(res replay.Result) string {
	b, unpriced := res.Billing, unpricedNames(res.Runs)
	switch {
	case res.Base == replay.BaseMessages:
		return ""
	case len(unpriced) > 0:
		return "no price is known of " + console.Safe(strings.Join(unpriced, ", ")) + ", so no cost is shown; a price can be stated in plimsoll.yaml (plimsoll config --help)"
	case slices.ContainsFunc(res.Runs, func(r replay.Run) bool { return r.TokensSent > 0 && !r.CostUSD.Known }):
		return "no cost is shown, as list prices do not hold for some of the calls"
	case b.Cache == "":
		return ""
	case b.Cache == "off":
		return "cost: the client did not use the provider's cache, so no call does" + estimated(b)
	}
	text := ""
	if b.PaidUSD.Known && b.PaidUSD.Pico > 0 {
		text = "the client paid " + b.PaidUSD.String() + estimated(b) + "; "
	}
	text += fmt.Sprintf("cost of other calls: the provider's cache is simulated (%s, kept for %s)", console.Safe(b.Cache), lasting(b.Lifetime))
	if b.Compared > 0 && b.ReadReported > 0 {
		text += fmt.Sprintf(", which reads %s of the tokens that were reported as read for the client's own", console.Ratio(b.ReadSimulated, b.ReadReported))
	}
	return text
}

// estimated says of how many calls what was paid is an estimate.
func estimated(b replay.Billing) string {
	return estimatedCost(inspect.Totals{CostSteps: b.PaidSteps, CostEstimated: b.EstimatedSteps})
}

// unpricedNames returns the models without a price, each with what of it has none where
// the rest has one.
func unpricedNames(runs []replay.Run) []string {
	var models []string
	parts := map[string][]string{}
	for _, r := range runs {
		for i, m := range r.Bill.Unpriced {
			if !slices.Contains(models, m) {
				models = append(models, m)
			}
			if i >= len(r.Bill.UnpricedParts) {
				continue
			}
			for _, part := range partNames(r.Bill.UnpricedParts[i]) {
				if !slices.Contains(parts[m], part) {
					parts[m] = append(parts[m], part)
				}
			}
		}
	}
	for i, m := range models {
		if len(parts[m]) > 0 {
			models[i] += " (" + strings.Join(parts[m], ", ") + ")"
		}
	}
	return models
}

// partNames names the parts that have tokens.
func partNames(p replay.UnpricedPart) []string {
	var names []string
	for _, part := range []struct {
		name   string
		tokens int
	}{
		{"input", p.Input},
		{"cache read", p.CacheRead},
		{"cache write, short", p.CacheWrite5m},
		{"cache write, long", p.CacheWrite1h},
		{"output", p.Output},
	} {
		if part.tokens > 0 {
			names = append(names, part.name)
		}
	}
	return names
}

// lasting says how long something lasts.
func lasting(n int) string {
	switch {
	case n == 0:
		return "an unknown time"
	case n%3600 == 0:
		return console.Plural(n/3600, "hour")
	case n%60 == 0:
		return console.Plural(n/60, "minute")
	}
	return console.Plural(n, "second")
}
