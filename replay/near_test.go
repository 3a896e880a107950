package replay_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Windows near half and near a quarter: what a single window shows may be its luck.
var (
	nearHalf    = []string{"45%", "50%", "55%"}
	nearQuarter = []string{"22%", "25%", "28%"}
)

// TestCorpusNear: docs/benchmarks.md has what balanced keeps on windows near half and a quarter,
// and how many more of the lines that edits quote than the policy that takes out what was used
// least lately: at least a point in the mean over sessions and windows.
func TestCorpusNear(t *testing.T) {
	t.Parallel()
	balanced, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	has := func(row string) { hasRows(t, []string{row}) }
	sums := map[string]*replay.Grounding{}
	half, quarter := []float64{}, []float64{}
	other := exampleOf(t, "least-recently-used")
	othersRuns(t, []policy.Policy{balanced, other}, []int{100, 55, 50, 45, 28, 25, 22}, func(res replay.Result) {
		shares := map[string]float64{}
		for _, run := range res.Runs {
			addRun(sums, run)
			if k := run.Grounding.Kind("line"); k.Spans > 0 {
				shares[run.Policy+run.Window] = 100 * float64(k.Visible) / float64(k.Spans)
			}
		}
		more := func(windows []string) float64 {
			sum := 0.0
			for _, w := range windows {
				sum += shares["balanced"+w] - shares[other.Name+w]
			}
			return sum / float64(len(windows))
		}
		if len(shares) > 0 { // without quoted lines there is nothing to compare
			half, quarter = append(half, more(nearHalf)), append(quarter, more(nearQuarter))
		}
	})
	for _, w := range []string{"55%", "45%", "28%", "22%"} {
		has(othersRow("balanced", w, sums["balanced"+w]))
	}
	for _, c := range []struct {
		windows []string
		diffs   []float64
	}{{nearHalf, half}, {nearQuarter, quarter}} {
		mean, low, high := bootstrap(c.diffs)
		has(fmt.Sprintf("| %s | %d | %+.1f | %+.1f to %+.1f |", strings.Join(c.windows, ", "), len(c.diffs), mean, low, high))
		if mean < 1 {
			t.Errorf("windows of %v: want a point of the lines more, got %.2f", c.windows, mean)
		}
	}
}

// bootstrap returns the mean of some figures and an interval that has it in 95 of 100 draws.
func bootstrap(of []float64) (mean, low, high float64) {
	r := rand.New(rand.NewPCG(1, 1))
	draws := make([]float64, 4000)
	for i := range draws {
		for range of {
			draws[i] += of[r.IntN(len(of))] / float64(len(of))
		}
	}
	slices.Sort(draws)
	for _, x := range of {
		mean += x / float64(len(of))
	}
	return mean, draws[len(draws)/40], draws[len(draws)-len(draws)/40]
}
