package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// An idea is one thing about balanced that is otherwise.
type idea struct {
	name string
	set  func(*policy.Policy)
}

// ideas are what was tried with balanced, each alone.
var ideas = []idea{
	{"as-built", func(*policy.Policy) {}},
	{"oldest-first", func(p *policy.Policy) { p.Order, p.References = "arrival", policy.References{} }}, // which has no note
	{"least-used-first", func(p *policy.Policy) { p.Order = "use" }},
	{"no-note-of-names", func(p *policy.Policy) { p.References = policy.References{} }},
	{"note-of-a-tenth", func(p *policy.Policy) { p.References.Permille = 100 }},
	{"note-of-a-quarter", func(p *policy.Policy) { p.References.Permille = 250 }},
	{"no-dedup", without("repeated-lines")},
	{"no-cap", without("huge-output")},
	{"no-early-preview", without("old-outputs")},
	{"no-economy", func(p *policy.Policy) { without("old-outputs")(p); p.Economy = policy.Economy{} }},
	{"newest-three-rounds", func(p *policy.Policy) { p.Tail.N = 3 }},
	{"pins-whole", func(p *policy.Policy) { p.PinPermille = 0 }},
	{"batch-at-the-limit", without("batch")},
	{"batch-at-920", func(p *policy.Policy) {
		p.Rules = slices.Clone(p.Rules)
		for i := range p.Rules {
			if p.Rules[i].Name == "batch" {
				p.Rules[i].When.Permille = 920
			}
		}
	}},
}

func without(rule string) func(*policy.Policy) {
	return func(p *policy.Policy) {
		p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r policy.Rule) bool { return r.Name == rule })
	}
}

// TestCorpusIdeas: docs/benchmarks.md has what balanced keeps with one thing about it changed,
// and which of these forms, and of the policies of others, no other one beats.
func TestCorpusIdeas(t *testing.T) {
	t.Parallel()
	base := preset(t, "balanced")
	var policies []policy.Policy
	var names []string
	for _, i := range ideas {
		p := base
		p.Name = i.name
		if i.set(&p); p.Name != i.name {
			t.Fatal(p.Name)
		}
		policies, names = append(policies, p), append(names, p.Name)
	}
	for _, name := range others {
		policies, names = append(policies, exampleOf(t, name)), append(names, name)
	}
	for _, name := range []string{"lean", "quality"} {
		policies, names = append(policies, preset(t, name)), append(names, name)
	}
	sums, _ := othersSums(t, policies, 100, 50, 25)
	var rows []string
	for _, w := range []string{"50%", "25%"} {
		for _, i := range ideas {
			rows = append(rows, othersRow(i.name, w, sums[i.name+w]))
		}
	}
	for _, w := range []string{"50%", "25%"} {
		rows = append(rows, fmt.Sprintf("| %s | `%s` |", w, strings.Join(unbeaten(names, w, sums), "`, `")))
	}
	hasRows(t, rows)
}

// unbeaten returns the names of the forms than which no other one keeps at least as many of
// the spans and of the lines at no higher cost, and more of one or cheaper; the cheapest first.
func unbeaten(names []string, window string, sums map[string]*replay.Grounding) []string {
	type point struct{ cost, visible, lines float64 }
	at := func(name string) point {
		g := sums[name+window]
		lines := g.Kind("line")
		return point{
			float64(g.Cost.Sent) / float64(g.Cost.Raw), float64(g.Visible) / float64(max(g.Spans, 1)), float64(lines.Visible) / float64(max(lines.Spans, 1)),
		}
	}
	var out []string
	for _, name := range names {
		p := at(name)
		if !slices.ContainsFunc(names, func(other string) bool {
			q := at(other)
			return q != p && q.cost <= p.cost && q.visible >= p.visible && q.lines >= p.lines
		}) {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		switch pa, pb := at(a).cost, at(b).cost; {
		case pa < pb:
			return -1
		case pa > pb:
			return 1
		}
		return 0
	})
	return out
}
