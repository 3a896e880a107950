package crosscheck

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// fewAlike is how many scripts are played with every go test, beside those that have found something.
const fewAlike = 4

// foundAlike are the latter: a tool list that counts for other targets, lines of an output that were
// taken for gone, a skill whose note had left the view, thinking under tools that were set while
// it was written.
var foundAlike = []int{11, 167, 171, 1027}

// TestAlike plays scripts, each by several sessions: one that goes on in one process, and others
// that are closed and opened again between any two actions, from a snapshot, from all records,
// from an old snapshot, and that go on as a fork. All of them send the same bytes, and have the same
// usage, bill and edits, after each action. PLIMSOLL_ALIKE says how many scripts, or, after a colon, which
// one alone.
func TestAlike(t *testing.T) {
	n, first, seeds := fewAlike, 0, foundAlike
	if s := os.Getenv("PLIMSOLL_ALIKE"); s != "" {
		count, from, _ := strings.Cut(s, ":")
		var err error
		if n, err = strconv.Atoi(count); err != nil {
			t.Fatalf("PLIMSOLL_ALIKE, want N or N:FIRST, got %q", s)
		}
		first, _ = strconv.Atoi(from)
		seeds = nil
	}
	for seed := first; seed < first+n; seed++ {
		seeds = append(slices.Clip(seeds), seed)
	}
	var presets []policy.Policy
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		presets = append(presets, p)
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			alike(t, newScript(uint64(seed), presets), &cat) //nolint:gosec // not negative
		})
	}
}

// The ways in which a session comes to an action.
var ways = []string{goesOn, openedAgain, withoutSnapshots, withOldOnes, asFork, afterFailures}

const (
	goesOn           = "goes on"
	openedAgain      = "opened again"
	withoutSnapshots = "opened without snapshots"
	withOldOnes      = "opened with old snapshots"
	asFork           = "as a fork"
	afterFailures    = "after failures"
)

// alike plays a script in all ways.
func alike(t *testing.T, s script, cat *catalog.Catalog) {
	t.Helper()
	var want *player
	for _, way := range ways {
		p := newPlayer(t, s, way, cat)
		p.play()
		if want == nil {
			want = p
			continue
		}
		for i, lines := range want.told {
			if i >= len(p.told) {
				t.Fatalf("seed %d: %s: ends at action %d", s.seed, way, i)
			}
			if way == afterFailures { // what was written and not kept is written again
				lines, p.told[i] = slices.DeleteFunc(slices.Clone(lines), ofSummaries), slices.DeleteFunc(p.told[i], ofSummaries)
			}
			if !reflect.DeepEqual(lines, p.told[i]) {
				t.Fatalf("seed %d, policy %s: %s (moved before %v): after action %d, %s:\n%s", s.seed, s.policy.Name, way, p.moved, i, s.actions[i].do, unlike(p.told[i], lines))
			}
		}
	}
}

// unlike says where two lists of lines differ.
func unlike(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			at := 0
			for at < min(len(g), len(w)) && g[at] == w[at] {
				at++
			}
			from := max(at-120, 0)
			return fmt.Sprintf("want …%s\ngot  …%s", w[from:min(at+160, len(w))], g[from:min(at+160, len(g))])
		}
	}
	return ""
}

// look notes what there is to be seen of the session.
func (p *player) look() {
	u := p.s.Usage()
	p.note("usage %+v", u)
	b := p.s.Bill()
	for _, line := range since(p.bill, b) {
		p.note("bill %s", line)
	}
	p.bill = b
	all := p.s.Edits()
	for _, e := range all[min(p.edits, len(all)):] {
		p.note("edit %d %s %s %v part %d by %s: %d to %d, refs %v, supersedes %v, %s", e.ID, e.Op, e.Kind, e.Span, e.Part, e.Rule, e.Before, e.After, e.Refs, e.Supersedes, e.Why)
	}
	p.edits = len(all)
	v := p.s.View()
	p.note("view %d items, %d sections, %d tools", len(v.Items), len(v.Sections), len(v.Tools))
	for _, tool := range p.s.LeftOut() {
		p.note("left out %s", tool.Name)
	}
}

// since says what a bill has beyond an earlier one.
func since(was, now plimsoll.Bill) []string {
	figures := func(b plimsoll.Bill) map[string][3]int {
		out := map[string][3]int{}
		for _, l := range b.Lines {
			out[l.Target] = [3]int{l.Calls, l.Usage.Prompt(), l.Usage.Output}
		}
		for _, l := range b.Summaries {
			out[summariesOf+l.Target] = [3]int{l.Calls, l.Usage.Prompt(), l.Usage.Output}
		}
		return out
	}
	old, out := figures(was), []string{}
	for name, f := range figures(now) {
		for i := range f {
			f[i] -= old[name][i]
		}
		if f != [3]int{} {
			out = append(out, fmt.Sprintf("%s %v", name, f))
		}
	}
	slices.Sort(out)
	return out
}

// summariesOf begins a line of a bill for summaries.
const summariesOf = "summaries of "

func ofSummaries(line string) bool { return strings.HasPrefix(line, "bill "+summariesOf) }
