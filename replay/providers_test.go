package replay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// The groups of a table of bills: by who makes the model, and apart from them the sessions in
// which the client's system prompt and tools are more than half of the largest prompt.
var billGroups = []string{"anthropic", "openai", "google", "small"}

// A billSum is what the runs of one group, window and policy came to.
type billSum struct {
	segments  int
	cost, raw catalog.Money
	kept      replay.Grounding
}

// TestCorpusBillsOfOthers: docs/benchmarks.md has what policies of other programs and the presets
// cost by the provider's own prices and cache, with system prompt, tools and thinking, beside what
// they keep. Left out are sessions of which a price is not known, or nothing was reported.
func TestCorpusBillsOfOthers(t *testing.T) {
	t.Parallel()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	policies := othersAndOwn(t)
	windows := []replay.WindowSpec{{Percent: 100}, {Percent: 50}, {Percent: 25}}
	r, err := replay.New(replay.Options{Policies: policies, Windows: windows, Ground: true})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]*billSum{}
	for _, file := range corpusSessions(t) {
		if strings.Contains(file, "request-bodies") {
			continue // a request is no session
		}
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Session(context.Background(), s, func(res replay.Result) error {
			if group := billGroup(known, res); group != "" {
				for _, run := range res.Runs {
					addBill(sums, group, run)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var rows []string
	for _, w := range windows {
		for _, p := range policies {
			row := fmt.Sprintf("| %s | `%s` |", w, p.Name)
			for _, g := range billGroups {
				row += sums[g+p.Name+w.String()].cells()
			}
			rows = append(rows, row)
		}
	}
	for _, g := range billGroups {
		x := sums[g+"balanced100%"]
		rows = append(rows, fmt.Sprintf("| %s | %d | %s |", g, x.segments, x.raw))
	}
	hasRows(t, rows)
}

// billGroup returns the group that a segment belongs to; empty: to none.
func billGroup(known catalog.Catalog, res replay.Result) string {
	m, ok := known.Lookup(res.Model)
	if !ok || len(res.Runs) == 0 || res.Reported.Peak == 0 || !res.Billing.PaidUSD.Known || !res.Billing.SimulatedUSD.Known {
		return ""
	}
	if !slices.ContainsFunc(billGroups, func(g string) bool { return g == m.Provider }) {
		return ""
	}
	if 2*(res.Overhead.Tokens+res.Overhead.Unrecorded) > res.Reported.Peak {
		return "small"
	}
	return m.Provider
}

func addBill(sums map[string]*billSum, group string, run replay.Run) {
	k := group + run.Policy + run.Window
	x := sums[k]
	if x == nil {
		x = &billSum{cost: catalog.Dollars(0), raw: catalog.Dollars(0)}
		sums[k] = x
	}
	x.segments++
	x.cost, x.raw = x.cost.Add(run.CostUSD), x.raw.Add(run.Bill.RawUSD)
	x.kept.Add(*run.Grounding)
}

// cells are those of a group: cost of the client's, what is visible and of how many lines.
func (x *billSum) cells() string {
	if x == nil || x.raw.Pico == 0 {
		return " – | – | – |"
	}
	share := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", 100*float64(a)/float64(b))
	}
	lines := x.kept.Kind("line")
	return fmt.Sprintf(" %.2f | %s | %s |", float64(x.cost.Pico)/float64(x.raw.Pico), share(x.kept.Visible, x.kept.Spans), share(lines.Visible, lines.Spans))
}
