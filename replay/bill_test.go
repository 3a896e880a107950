package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// priced is a model with prices and a cache that are easy to reckon with: a dollar a million in, ten out, a tenth for what
// is read, a quarter more for what is written; prompts of more than 10,000 tokens cost twice as much.
func priced(t *testing.T) *catalog.Catalog {
	t.Helper()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	dollar := catalog.Prices{Input: 1_000_000, Output: 10_000_000, CacheRead: 100_000, CacheWrite5m: 1_250_000, CacheWrite1h: 2_000_000}
	twice := catalog.Prices{Input: 2_000_000, Output: 20_000_000, CacheRead: 200_000, CacheWrite5m: 2_500_000, CacheWrite1h: 4_000_000}
	known = known.With(catalog.Model{
		ID: "harbour-1", Window: 200_000, MaxOutput: 8000, Family: "unknown", Cache: "anthropic", CacheMinimum: 100,
		Tiers: []catalog.Tier{{Prices: dollar}, {Above: 10_000, Prices: twice}},
	})
	return &known
}

// conversation is three calls that a provider has reported, so many seconds apart.
func conversation(model string, pause int64) *sessionfile.Session {
	say := func(role llm.Role, origin llm.Origin, text string, at int64) sessionfile.Entry {
		return sessionfile.Entry{Message: llm.Message{Role: role, Origin: origin, Parts: []llm.Part{llm.Text{Text: text}}}, Time: at}
	}
	reply := func(at int64, u llm.Usage) sessionfile.Entry {
		e := say(llm.RoleAssistant, llm.Model, strings.Repeat("aye ", 100), at)
		e.Step = &sessionfile.Step{Model: model, Usage: u, Reported: true, OutputReported: true, Time: at}
		return e
	}
	ask := strings.Repeat("where does the pilot board? ", 100)
	at := int64(1_700_000_000_000)
	var entries []sessionfile.Entry
	for i, u := range []llm.Usage{
		{Input: 100, CacheWrite5m: 4900, Output: 100}, {Input: 0, CacheRead: 4900, CacheWrite5m: 1100, Output: 100}, {Input: 1000, CacheRead: 11_000, Output: 100},
	} {
		now := at + int64(i)*pause*1000
		entries = append(entries, say(llm.RoleUser, llm.Human, fmt.Sprint(i, ask), now), reply(now+500, u))
	}
	return &sessionfile.Session{Path: "made-up.jsonl", Segments: []sessionfile.Segment{{Start: sessionfile.StartRoot, Entries: entries}}}
}

// offPolicy is the policy that changes nothing.
func offPolicy(t *testing.T) []policy.Policy {
	t.Helper()
	off, err := policy.Preset("off")
	if err != nil {
		t.Fatal(err)
	}
	return []policy.Policy{off}
}

func runOff(t *testing.T, s *sessionfile.Session, o replay.Options) replay.Result {
	t.Helper()
	o.Policies = offPolicy(t)
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out replay.Result
	if err := r.Session(context.Background(), s, func(res replay.Result) error { out = res; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBillOfARun reckons by hand: prompts of 5,000, 6,000 and 12,000 tokens, 100 tokens of output each. The run that changes
// nothing costs what was reported, whatever the simulation of the cache says.
func TestBillOfARun(t *testing.T) {
	for _, c := range []struct {
		name      string
		pause     int64
		simulated string
	}{
		// 5000 x 1.25 + 5000 x 0.1 + 1000 x 1.25 + 2 x 100 x 10, and in the upper tier 6000 x 0.2 + 6000 x 2.5 + 100 x 20, in millionths
		{"the cache stays warm", 60, "0.0282"},
		// 5000 x 1.25 + 6000 x 1.25 + 12000 x 2.5 + 2 x 100 x 10 + 100 x 20
		{"it lapses between the calls", 600, "0.04775"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := runOff(t, conversation("harbour-1", c.pause), replay.Options{Catalog: priced(t), Series: true})
			run := res.Runs[0]
			if got, err := json.Marshal(run.CostUSD); err != nil || string(got) != "0.01629" || run.CostUSD != res.Billing.PaidUSD {
				t.Errorf("cost, want what was paid, 0.01629, got %s, %v, paid %s", got, err, res.Billing.PaidUSD)
			}
			if got, _ := json.Marshal(res.Billing.SimulatedUSD); string(got) != c.simulated {
				t.Errorf("simulated, want %s, got %s", c.simulated, got)
			}
			b := run.Bill
			if b.Input != 1100 || b.CacheRead != 15_900 || b.CacheWrite5m != 6000 || b.Output != 300 {
				t.Errorf("want the reported tokens, got %+v", b)
			}
			if b.SavedUSD != catalog.Dollars(0) || b.RawUSD != b.CostUSD || run.CacheBreaks != 0 || len(b.Unpriced) != 0 {
				t.Errorf("the run without a policy is the raw one: got %+v, %d cache breaks", b, run.CacheBreaks)
			}
			sum := catalog.Dollars(0)
			for _, p := range run.Series {
				sum = sum.Add(p.CostUSD)
				total := 0
				for _, n := range p.By {
					total += n
				}
				if total != p.Tokens {
					t.Errorf("step %d: its parts add up to %d of %d tokens", p.Step, total, p.Tokens)
				}
			}
			if sum != run.CostUSD || len(run.Series) != 3 {
				t.Errorf("%d points cost %s, the run costs %s", len(run.Series), sum, run.CostUSD)
			}
		})
	}
}

// TestReportedFigures: 100 x 1 + 4900 x 1.25 + 4900 x 0.1 + 1100 x 1.25 + 200 x 10, then in the upper tier 1000 x 2 + 11000 x 0.2 + 100 x 20.
func TestReportedFigures(t *testing.T) {
	b := runOff(t, conversation("harbour-1", 60), replay.Options{Catalog: priced(t)}).Billing
	if got, _ := json.Marshal(b.PaidUSD); string(got) != "0.01629" {
		t.Errorf("reported cost, want 0.01629, got %s", got)
	}
	if b.Compared != 3 || b.ReadReported != 15_900 || b.ReadSimulated != 11_000 || b.WriteReported != 6000 || b.Cache != "anthropic" || b.Lifetime != 300 {
		t.Errorf("got %+v", b)
	}
}

// TestUnknownPrice: what has no price has no cost, and is named.
func TestUnknownPrice(t *testing.T) {
	run := runOff(t, conversation("a-model-nobody-knows", 60), replay.Options{}).Runs[0]
	if run.CostUSD.Known || run.Bill.SavedUSD.Known || !slices.Equal(run.Bill.Unpriced, []string{"a-model-nobody-knows"}) {
		t.Errorf("want no cost, got %s, bill %+v", run.CostUSD, run.Bill)
	}
	if data, err := json.Marshal(run); err != nil || !strings.Contains(string(data), `"cost_usd":null`) {
		t.Errorf("want cost_usd null in the JSON, got %v %s", err, data)
	}
}

// TestNoCacheOfTheClient: a client whose prompts were never read from a cache does not get one in the simulation.
func TestNoCacheOfTheClient(t *testing.T) {
	s := conversation("harbour-1", 60)
	for _, e := range s.Segments[0].Entries {
		if e.Step != nil {
			e.Step.Usage = llm.Usage{Input: e.Step.Usage.Prompt(), Output: e.Step.Usage.Output}
		}
	}
	res := runOff(t, s, replay.Options{Catalog: priced(t)})
	if b := res.Runs[0].Bill; b.CacheRead != 0 || b.CacheWrite5m != 0 || b.Input != 23_000 || res.Billing.Cache != "off" {
		t.Errorf("got %+v, cache %q", b, res.Billing.Cache)
	}
}

// mostCacheError is how far simulated reads may be from reported ones over all sessions of a format, in permille of what
// was reported. Single sessions differ more: a provider evicts, and what other sessions left warm is in no file.
var mostCacheError = map[string]int{"claude-code": 10, "codex": 60, "pi": 100}

// TestCorpusBills sets the simulated cache of the raw run beside what providers reported, by format.
func TestCorpusBills(t *testing.T) {
	files := corpusSessions(t)
	var mu sync.Mutex
	type sum struct {
		steps, read, simulated, write, written int
		reported, cost                         catalog.Money
	}
	sums := map[string]sum{}
	t.Run("sessions", func(t *testing.T) {
		for _, file := range files {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				s, err := formats.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				off, err := policy.Preset("off")
				if err != nil {
					t.Fatal(err)
				}
				r, err := replay.New(replay.Options{Policies: []policy.Policy{off}})
				if err != nil {
					t.Fatal(err)
				}
				err = r.Session(context.Background(), s, func(res replay.Result) error {
					if len(res.Runs) == 0 || res.Billing.Compared == 0 || !res.Billing.SimulatedUSD.Known || !res.Billing.PaidUSD.Known {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					x, ok := sums[res.Format]
					if !ok {
						x.reported, x.cost = catalog.Dollars(0), catalog.Dollars(0)
					}
					b := res.Billing
					x.steps, x.read, x.simulated = x.steps+b.Compared, x.read+b.ReadReported, x.simulated+b.ReadSimulated
					x.write, x.written = x.write+b.WriteReported, x.written+b.WriteSimulated
					x.reported, x.cost = x.reported.Add(b.PaidUSD), x.cost.Add(res.Billing.SimulatedUSD)
					sums[res.Format] = x
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
	for _, format := range slices.Sorted(maps.Keys(sums)) {
		x := sums[format]
		off := max(x.read-x.simulated, x.simulated-x.read) * 1000 / max(x.read, 1)
		t.Logf("%-14s %5d calls: read %d, simulated %d (%d permille off); written %d, simulated %d; cost %s, simulated %s",
			format, x.steps, x.read, x.simulated, off, x.write, x.written, x.reported, x.cost)
		if most, ok := mostCacheError[format]; ok && off > most {
			t.Errorf("%s: simulated reads, want within %d permille of the reported ones, got %d", format, most, off)
		}
	}
}

// TestLifetime: the long lifetime is simulated where most of what was written to the cache has it.
func TestLifetime(t *testing.T) {
	for _, c := range []struct{ short, long, want int }{{20_100, 100, 300}, {100, 20_100, 3600}, {5000, 5000, 3600}, {5000, 0, 300}} {
		s := conversation("harbour-1", 60)
		s.Segments[0].Entries[1].Step.Usage = llm.Usage{Input: 5000, Output: 100}
		s.Segments[0].Entries[3].Step.Usage = llm.Usage{Input: 1000, CacheRead: 5000, Output: 100}
		s.Segments[0].Entries[5].Step.Usage = llm.Usage{CacheWrite5m: c.short, CacheWrite1h: c.long, Output: 100}
		res := runOff(t, s, replay.Options{Catalog: priced(t)})
		if res.Billing.Lifetime != c.want {
			t.Errorf("%d short, %d long: want %d seconds, got %d", c.short, c.long, c.want, res.Billing.Lifetime)
		}
	}
}

// TestUnpricedParts: of a model that has some prices it is said which one is missing.
func TestUnpricedParts(t *testing.T) {
	known := priced(t)
	m, _ := known.Lookup("harbour-1")
	m.ID, m.Tiers = "harbour-2", []catalog.Tier{{Prices: m.Tiers[0].Prices}}
	m.Tiers[0].CacheRead = catalog.UnknownPrice
	with := known.With(m)
	run := runOff(t, conversation("harbour-2", 60), replay.Options{Catalog: &with}).Runs[0]
	want := []replay.UnpricedPart{{CacheRead: 15_900}}
	if b := run.Bill; run.CostUSD.Known || !slices.Equal(b.Unpriced, []string{"harbour-2"}) || !slices.Equal(b.UnpricedParts, want) {
		t.Errorf("want %+v, got %+v", want, b)
	}
	run = runOff(t, conversation("a-model-nobody-knows", 60), replay.Options{}).Runs[0]
	if got := run.Bill.UnpricedParts; !slices.Equal(got, []replay.UnpricedPart{{}}) {
		t.Errorf("of a model without any price, want nothing to be named, got %+v", got)
	}
}

// TestOtherThanListPrices: a call that was not charged by list prices has no known cost, though its model has prices.
func TestOtherThanListPrices(t *testing.T) {
	s := conversation("harbour-1", 60)
	s.Segments[0].Entries[3].Step.Unpriced = "a service tier other than the standard one"
	res := runOff(t, s, replay.Options{Catalog: priced(t), Series: true})
	run := res.Runs[0]
	if run.CostUSD.Known || run.Bill.RawUSD.Known || res.Billing.PaidUSD.Known || len(run.Bill.Unpriced) > 0 {
		t.Errorf("want no cost and no model without a price, got %s, %+v, %+v", run.CostUSD, run.Bill, res.Billing)
	}
	for i, p := range run.Series {
		if p.CostUSD.Known == (i == 1) {
			t.Errorf("step %d: got a cost of %s", p.Step, p.CostUSD)
		}
	}
}

// TestStatedCost: what a file states is a sum only if it states the cost of every call whose usage it has.
func TestStatedCost(t *testing.T) {
	for _, c := range []struct {
		name  string
		costs [3]int64 // picodollars; 0: not stated
		want  catalog.Money
	}{
		{"every call", [3]int64{1_000_000, 2_000_000, 3_000_000}, catalog.Dollars(6_000_000)},
		{"not the first", [3]int64{0, 2_000_000, 3_000_000}, catalog.Money{}},
		{"not the last", [3]int64{1_000_000, 2_000_000, 0}, catalog.Money{}},
		{"none", [3]int64{}, catalog.Money{}},
	} {
		s := conversation("harbour-1", 60)
		for i, cost := range c.costs {
			s.Segments[0].Entries[2*i+1].Step.Cost = cost
		}
		if got := runOff(t, s, replay.Options{Catalog: priced(t)}).Billing.StatedUSD; got != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, got)
		}
	}
	s := conversation("harbour-1", 60) // a call that has no usage costs nothing that could be stated
	for i, cost := range []int64{1_000_000, 2_000_000, 0} {
		s.Segments[0].Entries[2*i+1].Step.Cost = cost
	}
	last := s.Segments[0].Entries[5].Step
	last.Usage, last.Reported, last.OutputReported = llm.Usage{}, false, false
	if got := runOff(t, s, replay.Options{Catalog: priced(t)}).Billing.StatedUSD; got != catalog.Dollars(3_000_000) {
		t.Errorf("want the sum of the calls with a usage, got %s", got)
	}
}

// TestHiddenStays: what was measured as hidden is hidden in every view, edited or not.
func TestHiddenStays(t *testing.T) {
	s, err := formats.Open("../examples/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	half, err := replay.ParseWindow("50%")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Windows: []replay.WindowSpec{half}, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	err = r.Session(context.Background(), s, func(res replay.Result) error {
		for _, p := range res.Runs[0].Series {
			edits += len(p.Edits)
			total := 0
			for _, n := range p.By {
				total += n
			}
			if want := res.Overhead.Tokens + res.Overhead.Unrecorded; p.By["hidden"] != want || total != p.Tokens {
				t.Errorf("step %d: want %d hidden tokens of %d, got %d of %d", p.Step, want, p.Tokens, p.By["hidden"], total)
			}
		}
		return nil
	})
	if err != nil || edits == 0 {
		t.Errorf("want a run with edits, got %d, %v", edits, err)
	}
}
