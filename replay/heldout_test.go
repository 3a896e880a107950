package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// marks are first_batch and low_water of the forms of balanced between which a choice is made.
var marks = [][2]int{{0, 160}, {240, 160}, {280, 140}, {320, 140}, {400, 140}, {0, 280}, {320, 120}}

// kept are the sums of a form's runs by repository and window.
type kept map[string]map[string]*replay.Grounding

// sum returns what a form keeps on a window over all repositories for which in says so.
func (k kept) sum(window string, in func(repository string) bool) *replay.Grounding {
	out := &replay.Grounding{}
	for repository, windows := range k {
		if g := windows[window]; g != nil && in(repository) {
			out.Add(*g)
		}
	}
	return out
}

// TestCorpusHeldOut: the marks of balanced, chosen without a repository, hold in it: for each
// one the form is taken that keeps most of the others' text and costs no more than 0.61 and 0.39
// of the client's own, and docs/benchmarks.md has what those forms keep, each of the repository
// that it has not seen.
func TestCorpusHeldOut(t *testing.T) {
	t.Parallel()
	base, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	var policies []policy.Policy
	forms := map[string]kept{}
	for _, m := range marks {
		p := base
		p.Name, p.FirstBatch, p.LowWater = fmt.Sprintf("to-%d-%d", m[0], m[1]), m[0], m[1]
		policies, forms[p.Name] = append(policies, p), kept{}
	}
	repositories := map[string]bool{}
	othersRuns(t, policies, []int{100, 50, 25}, func(res replay.Result) {
		path, err := filepath.Rel(os.Getenv("PLIMSOLL_CORPUS"), res.Session)
		if err != nil {
			t.Fatal(err)
		}
		repository := strings.Join(strings.SplitN(filepath.ToSlash(path), "/", 3)[:2], "/") // below its format
		repositories[repository] = true
		for _, run := range res.Runs {
			of := forms[run.Policy]
			if of[repository] == nil {
				of[repository] = map[string]*replay.Grounding{}
			}
			if of[repository][run.Window] == nil {
				of[repository][run.Window] = &replay.Grounding{}
			}
			of[repository][run.Window].Add(*run.Grounding)
		}
	})
	half, quarter := &replay.Grounding{}, &replay.Grounding{}
	asBuilt := 0
	for held := range repositories {
		best, most := "", 0.0
		for _, p := range policies {
			others := func(repository string) bool { return repository != held }
			if s := worthOf(forms[p.Name].sum("50%", others), .61) + worthOf(forms[p.Name].sum("25%", others), .39); s > most {
				best, most = p.Name, s
			}
		}
		if best == fmt.Sprintf("to-%d-%d", base.FirstBatch, base.LowWater) {
			asBuilt++
		}
		only := func(repository string) bool { return repository == held }
		half.Add(*forms[best].sum("50%", only))
		quarter.Add(*forms[best].sum("25%", only))
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{
		othersRow("held out", "50%", half), othersRow("held out", "25%", quarter),
		fmt.Sprintf("as built in %d of %d cases", asBuilt, len(repositories)),
	}
	for _, window := range []string{"50%", "25%"} {
		for _, p := range policies {
			rows = append(rows, othersRow(p.Name, window, forms[p.Name].sum(window, func(string) bool { return true })))
		}
	}
	for _, row := range rows {
		t.Log(row)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/benchmarks.md does not have %s", row)
		}
	}
}

// worthOf is what a form is chosen by: the shares of spans and, half each, of lines and of Steps
// that it keeps, in percent, and five points less for a hundredth of cost above most.
func worthOf(g *replay.Grounding, most float64) float64 {
	share := func(a, b int) float64 { return 100 * float64(a) / float64(max(b, 1)) }
	lines := g.Kind("line")
	over := max(float64(g.Cost.Sent)/float64(g.Cost.Raw)-most, 0)
	return share(g.Visible, g.Spans) + share(lines.Visible, lines.Spans)/2 + share(g.Complete, g.Steps)/2 - 500*over
}
