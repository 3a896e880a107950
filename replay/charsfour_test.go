package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// A sizing is one figure for a prompt beside what the provider reported of it, in tokens.
type sizing struct{ real, estimate int }

// sizings are the figures for the prompts of a group. The count's are of those with a reported
// prompt before them, from which it counts.
type sizings struct {
	text     []sizing // chars/4 of what the file has
	overhead []sizing // and what the first prompt of its model had beyond that
	point    []sizing // the count
	bound    []sizing // its upper bound, which decides
}

func (s *sizings) add(o *sizings) {
	s.text, s.overhead = append(s.text, o.text...), append(s.overhead, o.overhead...)
	s.point, s.bound = append(s.point, o.point...), append(s.bound, o.bound...)
}

// spread returns the errors as shares of what was reported, in ppm: median, p95 and the largest of
// those without their sign, and the median with it.
func spread(all []sizing) (p50, p95, most, signed int) {
	if len(all) == 0 {
		return 0, 0, 0, 0
	}
	ppm, bare := make([]int, len(all)), make([]int, len(all))
	for i, s := range all {
		ppm[i] = (s.estimate - s.real) * 1_000_000 / s.real
		bare[i] = abs(ppm[i])
	}
	slices.Sort(ppm)
	slices.Sort(bare)
	return at(bare, 50), at(bare, 95), bare[len(bare)-1], at(ppm, 50)
}

// judged returns how many prompts were really at or above a threshold, how many of them an estimate
// took for smaller, and how many others it took for as large.
func judged(all []sizing, threshold int) (above, missed, alarms int) {
	for _, s := range all {
		switch {
		case s.real >= threshold:
			above++
			if s.estimate < threshold {
				missed++
			}
		case s.estimate >= threshold:
			alarms++
		}
	}
	return above, missed, alarms
}

// TestSizings pins the arithmetic of both tables.
func TestSizings(t *testing.T) {
	all := []sizing{{100_000, 99_999}, {100_000, 100_000}, {200_000, 150_000}, {99_999, 100_000}, {50_000, 10_000}}
	if above, missed, alarms := judged(all, 100_000); above != 3 || missed != 1 || alarms != 1 {
		t.Errorf("want 3 at or above, 1 missed, 1 false alarm; got %d, %d, %d", above, missed, alarms)
	}
	p50, p95, most, signed := spread([]sizing{{100, 50}, {100, 90}, {100, 130}})
	if p50 != 300_000 || p95 != 500_000 || most != 500_000 || signed != -100_000 {
		t.Errorf("want 300000, 500000, 500000 and -100000 ppm, got %d, %d, %d and %d", p50, p95, most, signed)
	}
}

// TestCharsFour sets the size of every reported prompt by chars/4 over the whole conversation, as
// most agents measure, beside the count. docs/benchmarks.md has the tables.
func TestCharsFour(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no reported usage to compare with")
	}
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	groups, all := map[string]*sizings{}, &sizings{}
	for _, format := range []string{"claude-code", "codex", "pi", "gemini-cli", "opencode", "cline", "openhands", "inspect-ai"} {
		files, err := filepath.Glob(filepath.Join(root, format, "*", "*.json*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for family, s := range sessionSizings(t, r, f) {
				key := format + ", " + family
				if groups[key] == nil {
					groups[key] = &sizings{}
				}
				groups[key].add(s)
				all.add(s)
			}
		}
	}
	groups["all"] = all
	t.Log(sizingTable(groups))
	t.Log(lowTable(all))
	t.Log(thresholdTable(all))
	checkSizings(t, all)
}

// checkSizings asserts what the count is for: it is nearer than chars/4, and its bound sees what
// chars/4 overlooks.
func checkSizings(t *testing.T, all *sizings) {
	if len(all.text) < 1000 || len(all.point) < 1000 {
		t.Fatalf("want at least 1,000 prompts and pairs, got %d and %d", len(all.text), len(all.point))
	}
	_, count, _, _ := spread(all.point)
	_, chars, _, _ := spread(all.overhead)
	if count*10 > chars {
		t.Errorf("want the count's p95 below a tenth of that of chars/4 with overhead, got %d and %d ppm", count, chars)
	}
	for _, threshold := range thresholds {
		above, missed, _ := judged(all.bound, threshold)
		if above == 0 || missed*100 > above {
			t.Errorf("%d: want at most 1 in 100 prompts missed by the bound, got %d of %d", threshold, missed, above)
		}
		if over, lost, _ := judged(all.overhead, threshold); lost*above <= missed*over {
			t.Errorf("%d: want chars/4 to miss more than the bound, got %d of %d and %d of %d", threshold, lost, over, missed, above)
		}
	}
}

// thresholds are sizes at which agents compact: half and three quarters of 200,000, and four fifths.
var thresholds = [...]int{100_000, 150_000, 160_000}

// sessionSizings measures the reported prompts of one session, by tokenizer family.
func sessionSizings(t *testing.T, r *Replayer, file string) map[string]*sizings {
	s, err := formats.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	chars, err := token.NewCounter("chars/4", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.remember = map[string]*bpe.Encoding{}
	out, hidden := map[string]*sizings{}, map[string]int{} // hidden: what the first prompt of a model had beyond its text
	group := func(model string) *sizings {
		family := r.catalog.FamilyOf(model).Name
		if out[family] == nil {
			out[family] = &sizings{}
		}
		return out[family]
	}
	var carried Overhead
	for i, seg := range s.Segments {
		if seg.NotRun != "" || seg.Steps() == 0 {
			continue
		}
		raw, err := r.measure(s, seg, i+1, carried)
		if err != nil {
			t.Fatal(err)
		}
		if raw.notRun != "" {
			continue
		}
		pairs, err := r.runRaw(context.Background(), s, raw)
		if err != nil {
			t.Fatal(err)
		}
		if raw.overhead.Kind == inspect.Measured {
			carried = raw.overhead
		}
		eachPrompt(chars, seg, func(model string, x sizing) {
			if _, seen := hidden[model]; !seen {
				hidden[model] = max(x.real-x.estimate, 0)
			}
			g := group(model)
			g.text, g.overhead = append(g.text, x), append(g.overhead, sizing{x.real, x.estimate + hidden[model]})
		})
		for _, p := range pairs {
			g := group(p.model)
			g.point, g.bound = append(g.point, sizing{p.real, p.point}), append(g.bound, sizing{p.real, p.bound})
		}
	}
	return out
}

// eachPrompt measures the text of each reported prompt of a segment, and tells f of it.
func eachPrompt(c token.Counter, seg sessionfile.Segment, f func(model string, x sizing)) {
	n := token.SizeOfTools(c, seg.Tools).Tokens
	for _, s := range seg.Sections {
		n += token.SizeOfSection(c, s).Tokens
	}
	for _, e := range seg.Entries {
		if e.Step != nil && e.Step.Reported {
			f(e.Step.Model, sizing{e.Step.Usage.Prompt(), n})
		}
		n += token.SizeOf(c, e.Message).Tokens
	}
}

func sizingTable(groups map[string]*sizings) string {
	var b strings.Builder
	b.WriteString("\n| format, family | prompts | chars/4 | chars/4 + overhead | pairs | the count |\n|---|---|---|---|---|---|\n")
	for _, k := range slices.SortedFunc(maps.Keys(groups), cmp.Compare) {
		g := groups[k]
		if len(g.text) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %s |\n", k, len(g.text), spreadCell(g.text), spreadCell(g.overhead), len(g.point), spreadCell(g.point))
	}
	return b.String()
}

func spreadCell(all []sizing) string {
	if len(all) == 0 {
		return "–"
	}
	p50, p95, most, signed := spread(all)
	sign := "+"
	if signed < 0 {
		sign = "−"
	}
	if abs(signed) < 100 { // shown as 0.00
		sign = ""
	}
	return fmt.Sprintf("%s / %s / %s (%s%s)", share(p50), share(p95), share(most), sign, share(abs(signed)))
}

// lowTable says by how many tokens large prompts were taken for too small.
func lowTable(all *sizings) string {
	var b strings.Builder
	b.WriteString("\n| prompts of 100,000 and more | n | too low by: median | p95 | most |\n|---|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		all  []sizing
	}{{"chars/4", all.text}, {"chars/4 + overhead", all.overhead}, {"the count", all.point}, {"its bound", all.bound}} {
		var low []int
		for _, s := range row.all {
			if s.real >= thresholds[0] {
				low = append(low, s.real-s.estimate)
			}
		}
		slices.Sort(low)
		if len(low) > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", row.name, len(low), at(low, 50), at(low, 95), low[len(low)-1])
		}
	}
	return b.String()
}

func thresholdTable(all *sizings) string {
	var b strings.Builder
	b.WriteString("\n| threshold | prompts at or above | chars/4 misses | chars/4 + overhead misses | pairs at or above | the count misses | its bound misses | false alarms of the bound |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, threshold := range thresholds {
		above, text, _ := judged(all.text, threshold)
		_, overhead, _ := judged(all.overhead, threshold)
		pairs, point, _ := judged(all.point, threshold)
		_, bound, alarms := judged(all.bound, threshold)
		fmt.Fprintf(&b, "| %d | %d | %d (%d %%) | %d (%d %%) | %d | %d | %d | %d of %d |\n", threshold, above,
			text, text*100/max(above, 1), overhead, overhead*100/max(above, 1), pairs, point, bound, alarms, len(all.bound)-pairs)
	}
	return b.String()
}
