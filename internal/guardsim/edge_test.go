package guardsim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// alone begins a session under guard with models whose tokenizer is known, whose server is
// as exact as their limits: there is no reserve, and a buffer of one token.
func alone(t *testing.T, windows []int, models ...model) *run {
	t.Helper()
	p := &plan{rng: rand.New(rand.NewPCG(1, 1)), policy: "guard", models: models, lies: make([]bool, len(models))}
	p.script = &scriptmodel.Script{Count: "approximate", Bytes: 32 << 20, Replies: []scriptmodel.Block{
		{Reply: scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: "Aye."}}}},
	}}
	for i, m := range models {
		w := budget.Window{Capacity: windows[i], Buffer: 1, OutputReserve: budget.None}
		p.targets = append(p.targets, budget.Target{Provider: m.provider, Model: m.name, Window: w})
		p.script.Models = append(p.script.Models, scriptmodel.Rule{Model: m.name, Window: windows[i] - 1})
	}
	r := newRun(p)
	if err := r.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// say is a Turn in which a person says that many words, one token each, and the model
// answers.
func (r *run) say(t *testing.T, words int) {
	t.Helper()
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat(" to", words)}}}
	if err := r.append(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r.over = false
	if _, err := r.step(t.Context()); err != nil {
		t.Fatalf("a message of %d words: %v", words, err)
	}
}

// whole fails if the run has found anything wrong.
func (r *run) whole(t *testing.T) {
	t.Helper()
	for _, err := range append(r.faults, r.truth.faults...) {
		t.Error(err)
	}
}

// brief is what of the last request a failure shows.
func (r *run) brief() string {
	s := r.sent
	return fmt.Sprintf("request %d to %s: %s, a count of %d (%s) for a limit of %d, final %q, still over %t, %d tokens by the server",
		s.Seq, s.Target.Name(), r.decision(s), s.Count.Bound, s.Count.Kind, s.Limit, s.Final, s.StillOver, r.last.Prompt)
}

// ordinary reports whether the last request was an ordinary one that had room.
func (r *run) ordinary() bool {
	return r.decision(r.sent) == budget.OK && r.sent.Final == engine.ReasonNone && !r.sent.StillOver
}

func exactModels() (out []model) {
	for _, m := range models() {
		if m.kind == exact {
			out = append(out, m)
		}
	}
	return out
}

// TestEdge comes as near to the limit as is wanted, by the server's count. What is over is
// never an ordinary request; what leaves the room that an estimate takes, 600 tokens and
// 15 % of what is new, always is: the guard neither comes too late nor too early.
func TestEdge(t *testing.T) {
	const window, limit = 16_384, 16_383
	for _, m := range exactModels() {
		for _, left := range []int{900, 750, 0, -1, -300} {
			t.Run(fmt.Sprintf("R000-4/%s/%d tokens left", m.name, left), func(t *testing.T) {
				t.Parallel()
				r := alone(t, []int{window}, m)
				r.say(t, 1)
				room, beside := limit-r.last.Prompt, 0
				for words := 0; room > 1800; room = limit - r.last.Prompt {
					words = (room - 1500) * 4 / 5
					r.say(t, words)
					if !r.ordinary() {
						t.Fatalf("%d words where there is room for %d tokens, want an ordinary request, got %s", words, room, r.brief())
					}
					beside = room - (limit - r.last.Prompt) - words // the reply before, and framing
				}
				r.say(t, room-left-beside)
				switch got := limit - r.last.Prompt; {
				case left > 0 && (!r.ordinary() || got != left):
					t.Errorf("want an ordinary request with %d tokens left, got %d left and %s", left, got, r.brief())
				case left <= 0 && r.ordinary():
					t.Errorf("want no ordinary request where %d tokens are left, got %s", left, r.brief())
				}
				r.whole(t)
			})
		}
	}
}

// bulky are tools that are some so many tokens together.
func bulky(tokens int) []llm.Tool {
	out := []llm.Tool{{Name: "agent__final_report", Description: "Ends the work.", Schema: `{"type":"object"}`}}
	for i := range 4 {
		out = append(out, llm.Tool{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat(" of", tokens/4), Schema: `{"type":"object"}`})
	}
	return out
}

// TestToolsAreCounted has tools for most of a window, from the beginning or all at once,
// beside words that have room without them. The server never sees both.
func TestToolsAreCounted(t *testing.T) {
	const window = 16_384
	for _, m := range exactModels() {
		t.Run("R000-12/"+m.name, func(t *testing.T) {
			first := alone(t, []int{window}, m)
			if err := first.setTools(t.Context(), bulky(window*70/100)); err != nil {
				t.Fatal(err)
			}
			first.say(t, window*35/100)
			later := alone(t, []int{window}, m)
			later.say(t, window*25/100)
			later.say(t, window*25/100)
			if !later.ordinary() {
				t.Fatalf("a window half full, want an ordinary request, got %s", later.brief())
			}
			if err := later.setTools(t.Context(), bulky(window*55/100)); err != nil {
				t.Fatal(err)
			}
			later.say(t, 1)
			for _, r := range []*run{first, later} {
				if r.ordinary() {
					t.Errorf("words and tools of more than the window, want no ordinary request, got %s", r.brief())
				}
				r.whole(t)
			}
		})
	}
}

// TestFallback fills the preferred target. The next one is asked as long as it has room,
// with all tools, and then the final Step is forced.
func TestFallback(t *testing.T) {
	all := exactModels()
	for i, m := range all {
		next := all[(i+1)%len(all)]
		t.Run("R000-11/"+m.name, func(t *testing.T) {
			r := alone(t, []int{12_000, 24_000}, m, next)
			for n, want := range []int{0, 1, 1, -1} {
				r.say(t, 6000)
				if want >= 0 && (!r.ordinary() || r.place(r.sent.Target) != want) {
					t.Errorf("message %d, want an ordinary request to %s, got %s", n, r.models[want].name, r.brief())
				}
				if want < 0 && (r.ordinary() || r.sent.Final != engine.ReasonContext) {
					t.Errorf("message %d, want a final Step, got %s", n, r.brief())
				}
			}
			r.whole(t)
		})
	}
}
