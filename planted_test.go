package plimsoll_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A plantedFact is a fact that somebody says in a conversation, and the words by which it is found
// again.
type plantedFact struct{ by, key, text string }

var plantedBy = []string{"person", "model", "output"}

func plantedFacts(t *testing.T) map[string][]plantedFact {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "planted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]plantedFact{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " | ", 3)
		if len(f) != 3 || !strings.Contains(f[2], f[1]) {
			t.Fatalf("no fact: %q", line)
		}
		out[f[0]] = append(out[f[0]], plantedFact{f[0], f[1], f[2]})
	}
	return out
}

// A prose writes sentences of no consequence.
type prose struct{ rnd *rand.Rand }

var proseWords = strings.Fields("table order settle row total amount shop queue worker batch export import sum line entry check value field name date list page report user account transfer state cause step result note part branch test run log file")

func (p prose) words(n int) string {
	var b strings.Builder
	for i := range n {
		w := proseWords[p.rnd.IntN(len(proseWords))]
		switch i % 11 {
		case 0:
			w = strings.ToUpper(w[:1]) + w[1:]
		case 10:
			w += "."
		}
		b.WriteString(w + " ")
	}
	return b.String()
}

func (p prose) lines(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%04d %s\n", p.rnd.IntN(10_000), p.words(6))
	}
	return b.String()
}

// A planting is a conversation with facts in it.
type planting struct {
	*plimsoll.Session
	t     *testing.T
	prose prose
	n     int
}

// turn is a Turn of two Rounds. What is planted stands in the middle of what its speaker says.
func (p *planting) turn(facts map[string]string) {
	p.n++
	p.say(llm.UserText(p.prose.words(60) + facts["person"] + " " + p.prose.words(60)))
	for round := range 2 {
		id := fmt.Sprintf("c%d_%d", p.n, round)
		said, out := "", ""
		if round == 0 {
			said, out = facts["model"], facts["output"]
		}
		p.say(llm.AssistantText(p.prose.words(30)+said+" "+p.prose.words(30), llm.ToolCall{
			CallID: id, Name: "read", Args: fmt.Sprintf(`{"path":"settle/part%d_%d.py"}`, p.n, round),
		}))
		p.say(llm.ToolText(id, p.prose.lines(60)+out+"\n"+p.prose.lines(60)))
	}
	p.say(llm.AssistantText(p.prose.words(40)))
	if err := p.TurnEnd(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *planting) say(m llm.Message) {
	if err := p.Append(p.t.Context(), m); err != nil {
		p.t.Fatal(err)
	}
}

// shown is the text of the view.
func (p *planting) shown() string {
	var b strings.Builder
	v := p.View()
	for _, s := range v.Sections {
		b.WriteString(s.Text + "\n")
	}
	for _, it := range v.Items {
		b.WriteString(it.Message.Text() + "\n")
		for _, r := range it.Message.Results() {
			b.WriteString(r.Text() + "\n")
		}
	}
	return b.String()
}

// plantedShares has a conversation compacted ten times, and returns how many facts of each
// speaker are shown after some of them, and the tokens of the view then.
func plantedShares(t *testing.T, name string, facts map[string][]plantedFact) map[int][4]int {
	t.Helper()
	s := open(t, plimsoll.Options{Policy: preset(t, name), Targets: []budget.Target{{Model: "claude-opus-4-5", Window: budget.Window{Capacity: 200_000, OutputReserve: 8000}}}})
	p := &planting{Session: s, t: t, prose: prose{rand.New(rand.NewPCG(7, 16))}}
	p.turn(nil) // what is first may be pinned
	for i := range facts["person"] {
		p.turn(map[string]string{"person": facts["person"][i].text, "model": facts["model"][i].text, "output": facts["output"][i].text})
	}
	out := map[int][4]int{}
	for n := 1; n <= 10; n++ {
		for range 4 {
			p.turn(nil)
		}
		if _, err := s.ForceCompact(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := p.shown()
		var got [4]int
		for i, by := range plantedBy {
			for _, f := range facts[by] {
				if strings.Contains(text, f.key) {
					got[i]++
				}
			}
		}
		got[3] = s.Usage().Count.Point
		out[n] = got
	}
	return out
}

// TestPlantedFacts measures how many of the facts that stand in a conversation are shown after
// one, three and ten compactions by code, under each preset. The figures are in
// docs/benchmarks.md. It fails where all that a person said is gone at once, and where the
// same conversation is shown otherwise a second time.
func TestPlantedFacts(t *testing.T) {
	facts := plantedFacts(t)
	for _, by := range plantedBy {
		if len(facts[by]) != 10 {
			t.Fatalf("%d facts of %s, want 10", len(facts[by]), by)
		}
	}
	at := []int{1, 3, 10}
	var table strings.Builder
	for _, name := range policy.Presets() {
		got := plantedShares(t, name, facts)
		fmt.Fprintf(&table, "| `%s` |", name)
		for _, n := range at {
			fmt.Fprintf(&table, " %d, %d, %d | %d |", got[n][0], got[n][1], got[n][2], got[n][3])
		}
		table.WriteString("\n")
		if again := plantedShares(t, name, facts); !slices.Equal([]([4]int){got[1], got[10]}, []([4]int){again[1], again[10]}) {
			t.Errorf("law 4: %s shows %v, and %v the next time", name, got, again)
		}
		if got[1][0] == 0 {
			t.Errorf("%s: of ten facts that a person said none is shown after one compaction", name)
		}
	}
	t.Logf("shown of 10 facts by a person, the model, an output; tokens of the view\n| policy | 1 | | 3 | | 10 | |\n| --- | --- | --- | --- | --- | --- | --- |\n%s", table.String())
}

// TestOneSummaryStands: however often a conversation is compacted, also between messages that
// stay, one summary stands, with what the ones before it kept, and the view does not grow.
func TestOneSummaryStands(t *testing.T) {
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, name), Targets: []budget.Target{roomy()}})
			p := &planting{Session: s, t: t, prose: prose{rand.New(rand.NewPCG(7, 16))}}
			var sizes []int
			for range 8 {
				for range 4 {
					p.turn(nil)
				}
				if _, err := s.ForceCompact(t.Context()); err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, it := range s.View().Items {
					if it.Message.Flags.Has(llm.FlagSummary) {
						n++
					}
				}
				for _, sec := range s.View().Sections {
					if sec.Kind == llm.SectionSummary {
						n++
					}
				}
				if n != 1 {
					t.Errorf("%d summaries stand, want one", n)
				}
				sizes = append(sizes, s.Usage().Count.Point)
			}
			if last := sizes[len(sizes)-1]; last > sizes[2]*5/4 {
				t.Errorf("the view grows: %v tokens", sizes)
			}
		})
	}
}
