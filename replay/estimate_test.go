package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// TestEstimateFigures pins the arithmetic of an estimate row.
func TestEstimateFigures(t *testing.T) {
	var pairs []pair
	for i := range 100 { // errors of 0, 10, … 990 ppm; the bound 5 tokens above the point
		real := 1_000_000
		pairs = append(pairs, pair{model: "m", output: i > 0, real: real, point: real - 10*i, bound: real - 10*i + 5})
	}
	e := estimate(pairs)
	want := Estimate{
		Pairs: 100, Kind: "exact", OutputReported: false,
		P50PPM: 490, P95PPM: 940, MaxPPM: 990, BoundCoveredPPM: 10_000, MarginP50Tokens: 5,
	}
	if e != want {
		t.Errorf("want %+v\ngot  %+v", want, e)
	}
	if e := estimate(nil); e.Pairs != 0 || e.OutputReported {
		t.Errorf("of no pair: got %+v", e)
	}
}

// TestEstimates predicts every reported prompt of the corpus from the one before
// it and prints the errors by model.
func TestEstimates(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no reported usage to compare with")
	}
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]pair{}
	var sessions []int // p95 of each session, in ppm
	for _, format := range []string{"claude-code", "codex", "pi", "gemini-cli", "opencode", "cline", "openhands", "inspect-ai"} {
		files, err := filepath.Glob(filepath.Join(root, format, "*", "*.json*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			pairs := sessionPairs(t, r, f)
			for _, p := range pairs {
				kind := "output reported"
				if !p.output {
					kind = "output not reported"
				}
				for _, k := range []string{fmt.Sprintf("%s, %s", p.model, kind), format + ", " + kind, "all, " + kind} {
					groups[k] = append(groups[k], p)
				}
			}
			if len(pairs) > 8 {
				sessions = append(sessions, estimate(pairs).P95PPM)
			}
		}
	}
	t.Logf("%-52s %6s %8s %8s %8s %9s %7s", "model", "pairs", "p50 %", "p95 %", "max %", "covered %", "margin")
	for _, k := range slices.SortedFunc(maps.Keys(groups), cmp.Compare) {
		e := estimate(groups[k])
		t.Logf("%-52s %6d %8s %8s %8s %9s %7d", k, e.Pairs, share(e.P50PPM), share(e.P95PPM), share(e.MaxPPM), share(e.BoundCoveredPPM), e.MarginP50Tokens)
	}
	slices.Sort(sessions)
	t.Logf("median of the sessions' p95: %s %%", share(at(sessions, 50)))
	checkEstimates(t, estimate(groups["all, output reported"]), estimate(groups["all, output not reported"]), at(sessions, 50))
}

// checkEstimates holds the figures well above what was measured, so that only a
// real step back fails; docs/benchmarks.md has the figures and the targets.
func checkEstimates(t *testing.T, reported, not Estimate, session int) {
	for what, c := range map[string]struct{ got, most int }{
		"p50, output reported":     {reported.P50PPM, 1_000},
		"p95, output reported":     {reported.P95PPM, 15_000},
		"p50, output not reported": {not.P50PPM, 2_000},
		"p95, output not reported": {not.P95PPM, 30_000},
		"median session's p95":     {session, 12_000},
		"not covered, reported":    {1_000_000 - reported.BoundCoveredPPM, 30_000},
		"margin, reported":         {reported.MarginP50Tokens, 800},
	} {
		if c.got > c.most {
			t.Errorf("%s: want at most %d ppm or tokens, got %d", what, c.most, c.got)
		}
	}
}

func share(ppm int) string { return fmt.Sprintf("%d.%02d", ppm/10_000, ppm%10_000/100) }

// sessionPairs predicts the prompts of one session.
func sessionPairs(t *testing.T, r *Replayer, file string) []pair {
	s, err := formats.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	r.remember = map[string]*bpe.Encoding{}
	var all []pair
	var carried Overhead
	for i, seg := range s.Segments {
		if seg.NotRun != "" || seg.Steps() == 0 {
			continue
		}
		raw, err := r.measure(s, s.Segments[i], i+1, carried)
		if err != nil {
			t.Fatal(err)
		}
		if raw.notRun != "" {
			t.Logf("%s segment %d left out: %s", filepath.Base(file), i+1, raw.notRun)
			continue
		}
		pairs, err := r.runRaw(context.Background(), s, raw)
		if err != nil {
			t.Fatal(err)
		}
		if raw.overhead.Kind == "measured" {
			carried = raw.overhead
		}
		all = append(all, pairs...)
		if os.Getenv("PLIMSOLL_VERBOSE") != "" {
			for _, p := range pairs {
				if d := p.point - p.real; abs(d)*400 > p.real && abs(d) > 150 {
					t.Logf("%s segment %d step %d: %d reported, %+d", filepath.Base(file), i+1, p.step, p.real, d)
				}
			}
		}
	}
	return all
}
