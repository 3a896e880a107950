package web_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestPartlyPriced: what Steps cost together is shown as a sum only if it is known of all;
// else it is said of how many it is, and the line of sums ends where the first is unknown.
func TestPartlyPriced(t *testing.T) {
	dollar, unknown := catalog.Dollars(1_000_000_000_000), catalog.Money{}
	for _, c := range []struct {
		name    string
		costs   []catalog.Money
		heading string
		sums    []int // microdollars
		facts   []string
	}{
		{"all", []catalog.Money{dollar, dollar}, "$2.00", []int{1_000_000, 2_000_000}, []string{"$2.00", "2 of 2 Steps have a price"}},
		{"not the second", []catalog.Money{dollar, unknown, dollar}, "$2.00 for 2 of 3 Steps", []int{1_000_000}, []string{"?", "$2.00 for 2 of 3 Steps, the rest has no price"}},
		{"not the first", []catalog.Money{unknown, dollar}, "$1.00 for 1 of 2 Steps", nil, []string{"?", "$1.00 for 1 of 2 Steps, the rest has no price"}},
		{"none", []catalog.Money{unknown, unknown}, "?", nil, []string{"?", "0 of 2 Steps have a price"}},
		{"free", []catalog.Money{catalog.Dollars(0)}, "$0", []int{0}, []string{"$0", "1 of 1 Steps have a price"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seg := inspect.Segment{Number: 1, Start: "root"}
			totals := inspect.Totals{Steps: len(c.costs)}
			for _, m := range c.costs {
				seg.Steps = append(seg.Steps, inspect.Step{Tokens: 10, CostUSD: m})
			}
			report := inspect.Report{Session: "quay.jsonl", Totals: totals, Segments: []inspect.Segment{seg, {Number: 2, Start: "compaction"}}}
			var b strings.Builder
			if err := web.WriteInspect(&b, []inspect.Report{report}, web.Options{}); err != nil {
				t.Fatal(err)
			}
			page := b.String()
			run := dataOf(t, page).Groups[0].Runs[0]
			if run.USD != c.heading || run.Paid != len(c.sums) || !slices.Equal(unpack(t, run.Cost, run.Paid), c.sums) {
				t.Errorf("chart: want %q and sums %v, got %q, %d of %q", c.heading, c.sums, run.USD, run.Paid, run.Cost)
			}
			for _, want := range c.facts { // of the segment and of the session
				if strings.Count(page, ">"+want+"<") < 2 {
					t.Errorf("want %q twice in the facts", want)
				}
			}
		})
	}
}

// TestPartlyPricedRun: a run's line of sums goes on over a Step that was refused, which cost
// nothing, and ends at one whose cost is not known.
func TestPartlyPricedRun(t *testing.T) {
	dollar := catalog.Dollars(1_000_000_000_000)
	run := replay.Run{Policy: "guard", Window: "model", Steps: 4, Series: []replay.Point{
		{Step: 1, CostUSD: dollar}, {Step: 2, Refused: true}, {Step: 3, CostUSD: dollar}, {Step: 4}, {Step: 5, CostUSD: dollar},
	}}
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{{Session: "quay.jsonl", Runs: []replay.Run{run}}}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	got := dataOf(t, b.String()).Groups[0].Runs[0]
	if sums := unpack(t, got.Cost, got.Paid); got.N != 5 || !slices.Equal(sums, []int{1_000_000, 1_000_000, 2_000_000}) {
		t.Errorf("want sums over the first three of five Steps, got %v of %d", sums, got.N)
	}
}

// shown is what a page says of its charts' money.
type shown struct {
	Groups []struct {
		Runs []struct {
			N, Paid   int
			Cost, USD string
		}
	}
}

func dataOf(t *testing.T, page string) shown {
	t.Helper()
	var d shown
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(page)
	if len(m) < 2 {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal([]byte(m[1]), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReplayPageHasSubAgents: a page of a replay has what the session took with its sub-agents, as a page of an inspection does.
func TestReplayPageHasSubAgents(t *testing.T) {
	res := replay.Result{Session: "pier.jsonl", Segment: 1, Steps: 1, Whole: &inspect.Family{Steps: 1, Tokens: 12_000, CostUSD: catalog.Dollars(61_000_000_000)}}
	agent := inspect.Report{Session: "agent-a1.jsonl", Totals: inspect.Totals{Steps: 1, Tokens: 9_000, CostUSD: catalog.Dollars(46_000_000_000), CostSteps: 1}}
	res.Attach([]inspect.Report{agent})
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{res}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"agent-a1.jsonl", "the session with them", "21,000", "$0.11"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q on the page", want)
		}
	}
}

// TestPagesHaveWhatStandsAside: a sub-agent inside the file is told by its first line, and lines that lead nowhere have what they took, on
// both pages, redacted or not.
func TestPagesHaveWhatStandsAside(t *testing.T) {
	agents := []inspect.Agent{{Session: "pier.jsonl", Line: 1_234, ID: "quay", Steps: 2, Tokens: 17_000, CostUSD: catalog.Dollars(0)}}
	aside := []inspect.Branch{{First: 77, Last: 78, Messages: 2, Why: sessionfile.WhyAbandoned, Took: &inspect.Family{
		Steps: 1, Tokens: 11_000, CostUSD: catalog.Dollars(56_000_000_000),
	}}}
	for _, o := range []web.Options{{}, {Redact: true}} {
		for name, write := range map[string]func(*strings.Builder) error{
			"replay": func(b *strings.Builder) error {
				return web.WriteReplay(b, []replay.Result{{Session: "pier.jsonl", Segment: 1, Agents: agents, Abandoned: aside}}, o)
			},
			"inspect": func(b *strings.Builder) error {
				return web.WriteInspect(b, []inspect.Report{{Session: "pier.jsonl", Abandoned: aside, Kindred: inspect.Kindred{Agents: agents}}}, o)
			},
		} {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"from line 1,234 on", "17,000", "11,000", "$0.0560"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s, redacted %v: want %q on the page", name, o.Redact, want)
				}
			}
		}
	}
}

// TestPagesSayWhatWasAccepted: a limit that was too small for a session stands on both pages, with the prompt that shows it.
func TestPagesSayWhatWasAccepted(t *testing.T) {
	a := &inspect.Accepted{Step: 2, Line: 4, Tokens: 212_345, Known: 200_000, Window: 1_000_000}
	for name, write := range map[string]func(*strings.Builder) error{
		"replay": func(b *strings.Builder) error {
			return web.WriteReplay(b, []replay.Result{{Session: "pier.jsonl", Segment: 1, Accepted: a}}, web.Options{Redact: true})
		},
		"inspect": func(b *strings.Builder) error {
			return web.WriteInspect(b, []inspect.Report{{Session: "pier.jsonl", Segments: []inspect.Segment{{Number: 1, Accepted: a}}}}, web.Options{Redact: true})
		},
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if want := "the limit of 200,000 that is known is too small for this session, a window of 1,000,000 is taken"; !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "212,345") {
			t.Errorf("%s: want %q on the page", name, want)
		}
	}
}
