package ollamatest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// plantedFile has facts in free prose; who says it, what is looked for, the words.
const plantedFile = "../../testdata/planted.txt"

// planted returns the facts of a speaker: what is looked for afterwards, and the words.
func planted(t *testing.T, by string) (facts [][2]string) {
	t.Helper()
	data, err := os.ReadFile(plantedFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.SplitN(strings.TrimSpace(line), " | ", 3); len(f) == 3 && f[0] == by {
			facts = append(facts, [2]string{f[1], f[2]})
		}
	}
	if len(facts) != 10 {
		t.Fatalf("%s: want 10 facts of a %s, got %d", plantedFile, by, len(facts))
	}
	return facts
}

// TestPlantedFacts: of ten facts that a person says and ten that the model says, how many are
// shown after one, three and ten compactions by the small model. With -v it prints the rows of
// docs/benchmarks.md. It fails where the model is not asked, or the window not kept.
func TestPlantedFacts(t *testing.T) {
	s := serverOf(t)
	for _, preset := range []string{"cache-compact", "layered", "turn-budget", "balanced"} {
		t.Run(preset, func(t *testing.T) { plantedBySmall(t, s, preset) })
	}
}

func plantedBySmall(t *testing.T, s server, preset string) {
	p, err := policy.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	o := s.known(t)
	target := budget.Target{Provider: "ollama", Model: s.model, Window: budget.Window{Capacity: narrow, Buffer: budget.None, OutputReserve: 128}}
	o.Policy, o.Targets, o.SummaryTimeout, o.WithoutTools = p, []budget.Target{target}, 5*time.Minute, true
	o.Summariser = plimsoll.ModelSummariser{Model: narrowed{t, s.open(t, "ollama"), s.model}, Target: target, Catalog: o.Catalog, Encodings: o.Encodings}
	session, err := plimsoll.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	dice, n := rand.New(rand.NewPCG(5, 6)), 0
	turn := func(person, model string) {
		n++
		if err := session.Append(t.Context(), llm.UserText(person+" "+news(dice, n))); err != nil {
			t.Fatal(err)
		}
		send, err := session.Prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if send.Count.Bound > narrow {
			t.Errorf("window: want at most %d tokens, got %+v", narrow, send.Count)
		}
		if err := session.Append(t.Context(), llm.AssistantText("Noted. "+model)); err != nil {
			t.Fatal(err)
		}
		if err := session.TurnEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := session.AwaitSummary(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	persons, models := planted(t, "person"), planted(t, "model")
	for i := range persons {
		turn(persons[i][1], models[i][1])
	}
	row := fmt.Sprintf("| `%s` |", preset)
	for round := 1; round <= 10; round++ {
		for range 3 {
			turn("", "")
		}
		if _, err := session.ForceCompact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if round == 1 || round == 3 || round == 10 {
			text := shownText(session)
			row += fmt.Sprintf(" %d, %d | %d |", shownOf(text, persons), shownOf(text, models), session.Usage().Count.Point)
		}
	}
	bill := session.Bill()
	t.Logf("%s %d calls\n%s", row, callsOf(bill.Summaries), shownText(session))
	if callsOf(bill.Summaries) == 0 {
		t.Error("the model was not asked")
	}
}

func shownOf(text string, facts [][2]string) (n int) {
	for _, f := range facts {
		if strings.Contains(text, f[0]) {
			n++
		}
	}
	return n
}

// shownText is the text of the view.
func shownText(s *plimsoll.Session) string {
	var b strings.Builder
	v := s.View()
	for _, sec := range v.Sections {
		b.WriteString(sec.Text + "\n")
	}
	for _, it := range v.Items {
		b.WriteString(it.Message.Text() + "\n")
	}
	return b.String()
}
