package replay_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// agents are the folders of the corpus with sessions of coding agents.
var agents = []string{"claude-code", "codex", "copilot-cli", "pi"}

// economical is a policy with an economy, a rule that shortens old outputs early, and no
// batch before the window is full unless it pays. What must be, must be above the limit.
func economical(t *testing.T) (with, without policy.Policy) {
	t.Helper()
	p := exampleOf(t, "summary-ahead")
	p.Rules = slices.Clone(p.Rules)
	for i := range p.Rules {
		if w := &p.Rules[i].When; w.Permille == 1000 {
			w.Op = ">"
		}
	}
	without, with = p, p
	without.Name, with.Name = "without", "with"
	with.Economy = policy.Economy{Horizon: 20, Write: 1250, Read: 100}
	with.Rules = append([]policy.Rule{{
		Name: "old-outputs", At: policy.AtPrepare, Do: policy.DoPreview,
		Args: policy.Args{Template: policy.TemplateCap, Permille: 150, Bytes: 1600, Min: 10},
	}}, p.Rules...)
	return with, without
}

// An economySum is what the runs of one window came to.
type economySum struct {
	with, without, raw int64 // costs, of segments where they are known
	dearer, segments   int   // of those, how many are dearer with than without
	worst              int64 // of those that are dearer with, in permille of raw
	ratios             []int // calls that a batch served, in permille of those expected, for rules that wait
}

func (s *economySum) add(with, without, raw int64) {
	if raw <= 0 {
		return
	}
	s.with, s.without, s.raw, s.segments = s.with+with, s.without+without, s.raw+raw, s.segments+1
	if with > without {
		s.dearer++
		s.worst = max(s.worst, with*1000/raw)
	}
}

// TestCorpusEconomy: over recorded sessions a policy that waits until its edits pay is not
// dearer than the same policy without that, in any window and by either reckoning, and where
// the window is wide no session becomes dearer by it than sending everything is. How many
// calls an edit is expected to serve is right in the median.
func TestCorpusEconomy(t *testing.T) {
	files := agentSessions(t)
	with, without := economical(t)
	for _, base := range []replay.Base{replay.BaseFull, replay.BaseMessages} {
		for _, percent := range []int{100, 50, 25} {
			o := replay.Options{
				Policies: []policy.Policy{with, without}, Windows: []replay.WindowSpec{{Percent: percent}}, Base: base,
				Ground: base == replay.BaseMessages, Batches: true,
			}
			sum := economyOf(t, files, o)
			t.Logf("%s at %d%%: %d permille of what it costs without, %d of raw; dearer in %d of %d segments, at most %d of raw",
				base, percent, sum.with*1000/sum.without, sum.with*1000/sum.raw, sum.dearer, sum.segments, sum.worst)
			if sum.segments < 20 || sum.with > sum.without {
				t.Errorf("%s at %d%%: want it no dearer than without, got %+v", base, percent, sum)
			}
			if percent == 100 && sum.worst > 1030 {
				t.Errorf("%s: want no session above what sending everything costs, got %d permille of it", base, sum.worst)
			}
			if base == replay.BaseFull && percent == 100 {
				slices.Sort(sum.ratios)
				n := len(sum.ratios)
				if n < 20 || sum.ratios[n/2] < 500 || sum.ratios[n/2] > 2000 {
					t.Fatalf("calls served of those expected, in permille: %v", sum.ratios)
				}
				t.Logf("calls served of those expected, in permille: quartiles %d, %d, %d of %d batches", sum.ratios[n/4], sum.ratios[n/2], sum.ratios[n*3/4], n)
			}
		}
	}
}

// TestCorpusEconomyOfBalanced: docs/benchmarks.md has what the economy of balanced, with its rule
// that shortens old outputs, costs and saves beside balanced without both. Pooled it is nowhere
// dearer by more than a hundredth.
func TestCorpusEconomyOfBalanced(t *testing.T) {
	with, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	without := with
	with.Name, without.Name = "with", "without"
	without.Economy = policy.Economy{}
	without.Rules = slices.DeleteFunc(slices.Clone(with.Rules), func(r policy.Rule) bool { return r.Do == policy.DoPreview })
	files := agentSessions(t)
	for _, base := range []replay.Base{replay.BaseFull, replay.BaseMessages} {
		for _, percent := range []int{100, 50, 25} {
			sum := economyOf(t, files, replay.Options{
				Policies: []policy.Policy{with, without}, Windows: []replay.WindowSpec{{Percent: percent}}, Base: base,
				Ground: base == replay.BaseMessages, Batches: true,
			})
			of := func(a, b int64) float64 { return float64(a) / float64(b) }
			row := fmt.Sprintf("| %s | %d%% | %.3f | %.3f | %d of %d | %.3f |", base, percent, of(sum.with, sum.without), of(sum.with, sum.raw), sum.dearer, sum.segments, float64(sum.worst)/1000)
			hasRows(t, []string{row})
			if sum.with*100 > sum.without*101 {
				t.Errorf("%s at %d%%: dearer than without by more than a hundredth: %+v", base, percent, sum)
			}
		}
	}
}

// agentSessions are the sessions of coding agents in the corpus.
func agentSessions(t *testing.T) (files []string) {
	t.Helper()
	for _, file := range corpusSessions(t) {
		if slices.ContainsFunc(agents, func(a string) bool {
			return strings.Contains(file, string(filepath.Separator)+a+string(filepath.Separator))
		}) {
			files = append(files, file)
		}
	}
	return files
}

func economyOf(t *testing.T, files []string, o replay.Options) economySum {
	t.Helper()
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum economySum
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Session(context.Background(), s, func(res replay.Result) error {
			if len(res.Runs) == 2 {
				sum.take(o, res.Runs[0], res.Runs[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

func (s *economySum) take(o replay.Options, with, without replay.Run) {
	switch {
	case o.Base == replay.BaseMessages && with.Grounding != nil && without.Grounding != nil:
		s.add(with.Grounding.Cost.Sent, without.Grounding.Cost.Sent, with.Grounding.Cost.Raw)
	case o.Base == replay.BaseFull && with.CostUSD.Known && without.CostUSD.Known && with.Bill.RawUSD.Known:
		s.add(with.CostUSD.Pico, without.CostUSD.Pico, with.Bill.RawUSD.Pico)
	}
	for _, b := range with.Batches {
		if b.Expected == nil || strings.HasPrefix(b.Rules[0], "must") {
			continue
		}
		s.ratios = append(s.ratios, min(b.Calls, o.Policies[0].Economy.Horizon)*1000/b.Expected.Calls)
	}
}
