package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// others are the policies of other programs, by their files in examples/policies.
var others = []string{"drop-oldest", "trim-last", "trim-outputs", "clear-tool-uses", "mask-observations", "offload-4k", "least-recently-used"}

// A published row is what a study of the same sessions found for a policy, with an extractor of
// its own: visible, by Step, complete, in percent, and cost of the client's.
type published struct {
	policy, window                  string
	visible, macro, complete, costs float64
}

// own are the presets beside them.
var own = []string{"lean", "balanced", "quality"}

// studied are the rows of the policies that the study has. What differs by more than a point, or
// than .03 of the cost, is told in docs/benchmarks.md.
var studied = []published{
	{"trim-last", "50%", 98.2, 97.6, 95.6, 2.07},
	{"trim-last", "25%", 92.3, 91.9, 86.6, 1.63},
	{"trim-outputs", "50%", 96.8, 97.0, 93.6, .74},
	{"trim-outputs", "25%", 91.2, 92.1, 85.4, .49},
	{"clear-tool-uses", "50%", 93.9, 95.4, 89.6, .60},
	{"clear-tool-uses", "25%", 88.8, 90.9, 83.4, .51},
	{"drop-oldest", "50%", 96.4, 95.6, 92.8, .80},
	{"drop-oldest", "25%", 90.4, 89.6, 83.1, .60},
	{"mask-observations", "50%", 93.6, 95.8, 89.3, 1.30},
	{"mask-observations", "25%", 90.8, 91.4, 85.0, .97},
	{"least-recently-used", "100%", 98.7, 99.3, 97.9, .81},
	{"least-recently-used", "50%", 98.1, 97.8, 94.9, .61},
	{"least-recently-used", "25%", 93.3, 95.4, 90.7, .38},
}

// TestCorpusOthers: policies of other programs keep and cost what was published of them, and
// docs/benchmarks.md has their rows. Looked at are the segments of 20,000 tokens and more with
// twelve Steps that refer to something.
func TestCorpusOthers(t *testing.T) {
	t.Parallel()
	sums, segments := othersSums(t, othersAndOwn(t), 100, 50, 25)
	var rows []string
	for _, w := range []string{"100%", "50%", "25%"} {
		for _, p := range slices.Concat(others, own) {
			rows = append(rows, othersRow(p, w, sums[p+w]))
		}
	}
	hasRows(t, rows)
	for _, want := range studied {
		g := sums[want.policy+want.window]
		share := func(a, b int) float64 { return 100 * float64(a) / float64(b) }
		got := published{
			want.policy, want.window, share(g.Visible, g.Spans), float64(g.MacroPPM) / 10_000, share(g.Complete, g.Steps),
			float64(g.Cost.Sent) / float64(g.Cost.Raw),
		}
		far := func(a, b, most float64) bool { return a-b > most || b-a > most }
		if far(got.visible, want.visible, 1.3) || far(got.macro, want.macro, 1.3) || far(got.complete, want.complete, 2.2) || far(got.costs, want.costs, .07) {
			t.Errorf("published is %+v, got %+v", want, got)
		}
	}
	if segments != 18 {
		t.Errorf("want the 18 segments of the study, got %d", segments)
	}
}

// othersAndOwn returns the policies of others, and ours.
func othersAndOwn(t *testing.T) []policy.Policy {
	t.Helper()
	var out []policy.Policy
	for _, name := range others {
		out = append(out, exampleOf(t, name))
	}
	for _, name := range own {
		out = append(out, preset(t, name))
	}
	return out
}

// hasRows reports the rows that docs/benchmarks.md does not have.
func hasRows(t *testing.T, rows []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Log(row)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/benchmarks.md does not have the row %s", row)
		}
	}
}

// exampleOf returns a policy of examples/policies.
func exampleOf(t *testing.T, name string) policy.Policy {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "policies", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// othersSums returns what each policy keeps on each window over the corpus, by policy and
// window, and over how many segments; the first window is 100 %, by which they are chosen.
func othersSums(t *testing.T, policies []policy.Policy, percents ...int) (sums map[string]*replay.Grounding, segments int) {
	t.Helper()
	sums = map[string]*replay.Grounding{}
	othersRuns(t, policies, percents, func(res replay.Result) {
		segments++
		for _, run := range res.Runs {
			addRun(sums, run)
		}
	})
	return sums, segments
}

// addRun adds what a run keeps to the sum of its policy and window.
func addRun(sums map[string]*replay.Grounding, run replay.Run) {
	k := run.Policy + run.Window
	if sums[k] == nil {
		sums[k] = &replay.Grounding{}
	}
	sums[k].Add(*run.Grounding)
}

// othersRuns replays the segments of the study.
func othersRuns(t *testing.T, policies []policy.Policy, percents []int, each func(replay.Result)) {
	t.Helper()
	var windows []replay.WindowSpec
	for _, p := range percents {
		windows = append(windows, replay.WindowSpec{Percent: p})
	}
	r, err := replay.New(replay.Options{Policies: policies, Windows: windows, Base: replay.BaseMessages, Ground: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range corpusSessions(t) {
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Session(context.Background(), s, func(res replay.Result) error {
			if len(res.Runs) > 0 && res.Runs[0].Limit >= 20_000 && res.Runs[0].Grounding.Steps >= 12 {
				each(res)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// othersRow is a row of the table.
func othersRow(name, window string, g *replay.Grounding) string {
	share := func(a, b int) string { return fmt.Sprintf("%.1f", 100*float64(a)/float64(max(b, 1))) }
	lines := g.Kind("line")
	return fmt.Sprintf("| %s | `%s` | %s | %.1f | %s | %s | %s | %.2f |", window, name, share(g.Visible, g.Spans), float64(g.MacroPPM)/10_000,
		share(g.Complete, g.Steps), share(lines.Visible, lines.Spans), share(g.Lost+g.Archived, g.Spans), float64(g.Cost.Sent)/float64(g.Cost.Raw))
}
