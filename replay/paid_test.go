package replay_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// inspected analyses a session as replay does.
func inspected(t *testing.T, s *sessionfile.Session, cat catalog.Catalog) inspect.Report {
	t.Helper()
	r, err := inspect.Session(s, inspect.Options{Catalog: cat, Encodings: (&plimsoll.Encodings{}).Load})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDoingNothingCostsWhatWasPaid: inspect, what was paid, and the run that changes nothing have one figure, of each kind of call.
func TestDoingNothingCostsWhatWasPaid(t *testing.T) {
	long := llm.Text{Text: strings.Repeat("the pilot boards at the outer buoy ", 50)}
	for _, c := range []struct {
		name      string
		change    func(steps []*sessionfile.Entry)
		usd       string
		estimated int
	}{
		// 100 x 1 + 4900 x 1.25 + 4900 x 0.1 + 1100 x 1.25 + 200 x 10, then in the upper tier 1000 x 2 + 11000 x 0.2 + 100 x 20
		{"as reported", func([]*sessionfile.Entry) {}, "$0.0163", 0},
		{"a first call that reads what another session left", func(s []*sessionfile.Entry) {
			s[0].Step.Usage = llm.Usage{Input: 100, CacheRead: 4900, Output: 100}
		}, "$0.0107", 0},
		{"the cost is stated", func(s []*sessionfile.Entry) {
			for _, e := range s {
				e.Step.Cost = 2_000_000_000
			}
		}, "$0.0060", 0},
		{"an output that was cut off", func(s []*sessionfile.Entry) {
			s[2].Message.Parts = []llm.Part{long}
			s[2].Step.OutputReported, s[2].Step.Usage.Output = false, 1
		}, "", 1},
		{"nothing of the last call is reported", func(s []*sessionfile.Entry) {
			s[2].Step.Usage, s[2].Step.Reported, s[2].Step.OutputReported = llm.Usage{}, false, false
		}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat, s := priced(t), conversation("harbour-1", 60)
			var steps []*sessionfile.Entry
			for i := range s.Segments[0].Entries {
				if e := &s.Segments[0].Entries[i]; e.Step != nil {
					steps = append(steps, e)
				}
			}
			c.change(steps)
			res, report := runOff(t, s, replay.Options{Catalog: cat, Series: true}), inspected(t, s, *cat)
			run, totals := res.Runs[0], report.Totals
			if !totals.CostUSD.Known || totals.CostUSD != res.Billing.PaidUSD || totals.CostUSD != run.CostUSD || run.CostUSD != run.Bill.RawUSD {
				t.Errorf("inspect %s, paid %s, off %s, of %s", totals.CostUSD, res.Billing.PaidUSD, run.CostUSD, run.Bill.RawUSD)
			}
			if c.usd != "" && totals.CostUSD.String() != c.usd {
				t.Errorf("want %s, got %s", c.usd, totals.CostUSD)
			}
			if totals.CostEstimated != c.estimated || res.Billing.EstimatedSteps != c.estimated {
				t.Errorf("want %d steps estimated, got %d and %d", c.estimated, totals.CostEstimated, res.Billing.EstimatedSteps)
			}
			if run.TokensSent != totals.Tokens || run.PeakSent != totals.Peak || run.TokensRaw != totals.Tokens {
				t.Errorf("inspect: %d tokens, peak %d; off: %d, peak %d", totals.Tokens, totals.Peak, run.TokensSent, run.PeakSent)
			}
		})
	}
}

// TestStatedSumsArePaid: where a file states only the sum of its calls, inspect, what was paid and the run that changes nothing have
// that sum, and so have all of them where the conversation is joined.
func TestStatedSumsArePaid(t *testing.T) {
	stated := func(n int) []sessionfile.Stated {
		return []sessionfile.Stated{{What: "result", From: 0, To: n, Figures: []sessionfile.Figure{
			{Name: sessionfile.FigurePrompt, Value: 20_001},
			{Name: sessionfile.FigureInput, Value: 10_001},
			{Name: sessionfile.FigureCacheRead, Value: 10_000},
			{Name: sessionfile.FigureOutput, Value: 101},
		}}}
	}
	silent := func() *sessionfile.Session {
		s := conversation("harbour-1", 60)
		s.Client = "gemini-cli"
		for i := range s.Segments[0].Entries {
			if st := s.Segments[0].Entries[i].Step; st != nil {
				st.Usage, st.Reported, st.OutputReported = llm.Usage{}, false, false
			}
		}
		return s
	}
	cat, s := priced(t), silent()
	s.Stated = stated(1)
	res, totals := runOff(t, s, replay.Options{Catalog: cat}), inspected(t, s, *cat).Totals
	if run := res.Runs[0]; totals.Tokens != 20_001 || run.TokensSent != 20_001 || run.TokensRaw != 20_001 || run.PeakSent != totals.Peak {
		t.Errorf("want 20,001 tokens, got %d by inspect and %d by off", totals.Tokens, run.TokensSent)
	}
	// 10,001 x 1 + 10,000 x 0.1 + 101 x 10
	if run := res.Runs[0]; run.CostUSD != totals.CostUSD || res.Billing.PaidUSD != totals.CostUSD || totals.CostUSD.String() != "$0.0120" {
		t.Errorf("want $0.0120, got %s by inspect, %s paid, %s by off", totals.CostUSD, res.Billing.PaidUSD, run.CostUSD)
	}
	s = silent()
	next := s.Segments[0]
	next.Start, next.Entries = sessionfile.StartRollback, nil
	s.Segments = append(s.Segments, next)
	s.Stated = stated(2)
	if res := runOff(t, s, replay.Options{Catalog: cat, Join: true}); res.Runs[0].TokensSent != 20_001 {
		t.Errorf("joined: want 20,001 tokens, got %d", res.Runs[0].TokensSent)
	}
}

// TestNothingIsOverItself: a window as large as the session's own peak holds the session.
func TestNothingIsOverItself(t *testing.T) {
	for _, file := range []string{"../examples/session.jsonl"} {
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := replay.ParseWindow("100%")
		if err != nil {
			t.Fatal(err)
		}
		if run := runOff(t, s, replay.Options{Windows: []replay.WindowSpec{whole}}).Runs[0]; run.StepsOver != 0 || run.PeakSent != run.Limit {
			t.Errorf("%s: want a peak at the limit of %d and no step over, got %d and %d", file, run.Limit, run.PeakSent, run.StepsOver)
		}
	}
}

// TestCorpusPaid sets what inspect says that a session cost beside what replay says was paid for it and what the run costs that
// changes nothing: the same figure three times. What the simulation of the cache would have said stands beside them.
func TestCorpusPaid(t *testing.T) {
	files := corpusSessions(t)
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	all := [3]catalog.Money{catalog.Dollars(0), catalog.Dollars(0), catalog.Dollars(0)} // inspect, off, simulated
	t.Run("sessions", func(t *testing.T) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				s, err := formats.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				row := paidRow(t, s, cat)
				if !row[0].Known || row[0].Pico == 0 {
					return
				}
				if row[0] != row[1] || row[1] != row[2] {
					t.Errorf("inspect %s, paid %s, off %s", row[0], row[1], row[2])
				}
				t.Logf("inspect %s, paid %s, off %s, simulated %s", row[0], row[1], row[2], row[3])
				if !row[3].Known {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				for i, k := range []int{0, 2, 3} {
					all[i] = all[i].Add(row[k])
				}
			})
		}
	})
	t.Logf("all: inspect %s, off %s, simulated %s", all[0], all[1], all[2])
}

// paidRow returns what the segments of a session that are run cost: by inspect, as paid, under off, and as simulated.
func paidRow(t *testing.T, s *sessionfile.Session, cat catalog.Catalog) (row [4]catalog.Money) {
	t.Helper()
	for i := range row {
		row[i] = catalog.Dollars(0)
	}
	report := inspected(t, s, cat)
	off := offPolicy(t)
	whole, err := replay.ParseWindow("100%")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: off, Windows: []replay.WindowSpec{whole}, Catalog: &cat})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Session(context.Background(), s, func(res replay.Result) error {
		if res.NotRun != "" {
			if res.Steps > 0 {
				t.Logf("segment %d is not run: %s", res.Segment, res.NotRun)
			}
			return nil
		}
		tokens, peak := 0, 0
		for _, st := range report.Segments[res.Segment-1].Own() {
			row[0] = row[0].Add(st.CostUSD)
			tokens, peak = tokens+st.Tokens, max(peak, st.Tokens)
		}
		run := res.Runs[0]
		row[1], row[2], row[3] = row[1].Add(res.Billing.PaidUSD), row[2].Add(run.CostUSD), row[3].Add(res.Billing.SimulatedUSD)
		if run.TokensSent != tokens || run.PeakSent != peak || run.StepsOver != 0 {
			t.Errorf("segment %d: inspect has %d tokens and a peak of %d, off %d and %d, with %d steps over at 100%%",
				res.Segment, tokens, peak, run.TokensSent, run.PeakSent, run.StepsOver)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return row
}

// TestClientsOwnCount: where a client counted its prompts by itself, the run that changes nothing sends those, and what the file
// does not have of them is in every other run too, and in what no policy can change.
func TestClientsOwnCount(t *testing.T) {
	cat, s := priced(t), conversation("harbour-1", 60)
	for i, n := range map[int]int{1: 9_000, 3: 9_500, 5: 9_900} {
		st := s.Segments[0].Entries[i].Step
		st.Usage, st.Reported, st.OutputReported, st.ClientCount = llm.Usage{Input: n, Output: 100}, false, false, true
	}
	half, err := replay.ParseWindow("50%")
	if err != nil {
		t.Fatal(err)
	}
	res := runOff(t, s, replay.Options{Catalog: cat, Windows: []replay.WindowSpec{{Percent: 100}, half}})
	run, totals := res.Runs[0], inspected(t, s, *cat).Totals
	if run.TokensSent != 28_400 || run.PeakSent != 9_900 || totals.Tokens != 28_400 || run.StepsOver != 0 || run.CostUSD != totals.CostUSD || !run.CostUSD.Known {
		t.Errorf("want the client's 28,400 tokens, got %d by inspect and %+v", totals.Tokens, run)
	}
	if res.Billing.Cache != "off" || len(res.Runs) != 1 || len(res.LeftOut) != 1 {
		t.Errorf("want no cache, and no half of a conversation of which the file has little, got %q, %d runs, %+v", res.Billing.Cache, len(res.Runs), res.LeftOut)
	}
}
