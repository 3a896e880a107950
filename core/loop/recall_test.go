package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

// Passages of older iterations that the host finds are shown, within a budget, where the loop
// asks for them; those that the prompt has raw, and what is there twice, are left out.
func TestRecall(t *testing.T) {
	t.Run("R004-12_retrieval", func(t *testing.T) {
		m := start(t, loop.Config{Recall: true})
		for n := 1; n <= 6; n++ {
			if n == 6 {
				feed(t, m, loop.Message{Text: "Mind the turbine!"})
			}
			iterate(t, m, loop.Output{Text: said(n)})
		}
		feed(t, m, loop.Message{Text: "What about the compressor?"})
		r := m.Ready()
		if r.Do != loop.DoRecall || r.Number != 7 {
			t.Fatalf("want a query once something was folded, got %+v", r)
		}
		words := strings.Fields(r.Query)
		if words[0] != "compressor" || !strings.Contains(r.Query, "tests6") || !strings.Contains(r.Query, "tracker") || strings.Contains(r.Query, "turbine") || strings.Contains(" "+r.Query+" ", " the ") {
			t.Errorf("want the message, what is next and the goal, without fillers and what was said before, got %s", r.Query)
		}
		feed(t, m, loop.Recalled{Passages: []loop.Passage{
			{1, "the compressor needs oil"}, {1, "The  compressor needs OIL"}, {2, "raw"}, {0, "none"}, {7, "to come"}, {1, " "}, {1, strings.Repeat("x", 5000)},
		}})
		r = begin(t, m)
		want := "\n\n# Passages of Earlier Iterations\n## From iteration 1\nthe compressor needs oil\n\n## From iteration 1\n" + strings.Repeat("x", 1000) + "\n\n# Recent Iterations\n"
		if !strings.Contains(r.Prompt.Text, want) {
			t.Errorf("want %q in the prompt, got %s", want, r.Prompt.Text)
		}
		if s := r.Prompt.Sections[2]; s.Name != "earlier" || s.Tokens > 4000 {
			t.Errorf("want it behind the summary, got %+v", s)
		}
		if again := again(t, m, loop.Config{Recall: true}); again.Ready().Do != loop.DoBegin || again.Ready().Prompt.Text != r.Prompt.Text {
			t.Error("want the same prompt after a restart, without another query")
		}
		if off := again(t, m, loop.Config{}); strings.Contains(begin(t, off).Prompt.Text, "compressor needs") {
			t.Error("want nothing of it once it is off")
		}
		iterate(t, m, loop.Output{Text: said(7)})
		if m.Ready().Do != loop.DoRecall {
			t.Error("want a query for each prompt")
		}
		feed(t, m, loop.Recalled{})
		if strings.Contains(begin(t, m).Prompt.Text, "# Passages") {
			t.Error("want no section where nothing was found")
		}
		if _, err := m.Feed(loop.Recalled{}); err == nil {
			t.Error("want an answer without a query refused")
		}
	})
	t.Run("R004-12_many_passages_within_their_budget", func(t *testing.T) {
		m := start(t, loop.Config{Recall: true, Window: 1})
		for n := range 3 {
			if m.Ready().Do == loop.DoRecall {
				feed(t, m, loop.Recalled{})
			}
			iterate(t, m, loop.Output{Text: said(n)})
		}
		var many []loop.Passage
		for i := range 50 {
			many = append(many, loop.Passage{1, fmt.Sprint(i, " ", strings.Repeat("漢字", 600))})
		}
		feed(t, m, loop.Recalled{Passages: many})
		r := begin(t, m)
		for _, s := range r.Prompt.Sections {
			if s.Name == "earlier" && (s.Tokens > 4000 || !strings.Contains(s.Text, "\n0 漢")) {
				t.Errorf("want the best within 4,000 tokens, got %d", s.Tokens)
			}
		}
	})
}

// What is known of a workspace is shown where memory is on, the agent is told how to add to
// it, and what it wants to be known is told to the host.
func TestMemory(t *testing.T) {
	t.Run("R004-12_cross-task_memory", func(t *testing.T) {
		for _, on := range []bool{true, false} {
			m := start(t, loop.Config{Memory: on})
			feed(t, m, loop.Known{Facts: []loop.Memo{{"The tests need\nthe port 8080.", "loop a-1, iteration 3"}, {"the TESTS need the port 8080.", ""}, {" ", "nobody"}, {"Never edit gen.go", ""}}})
			prompt := begin(t, m).Prompt.Text
			want := "\n\n# Memory of This Workspace\n- The tests need the port 8080. (loop a-1, iteration 3)\n- Never edit gen.go\n\n# Current State\n"
			if strings.Contains(prompt, want) != on || strings.Contains(prompt, "<remember>") != on {
				t.Errorf("memory %t: want %q so, got %s", on, want, prompt)
			}
			_, events := iterate(t, m, loop.Output{Text: "I write `<remember>quoted</remember>`.\n<remember>a fact</remember>\n<remember>The linter  is\nslow</remember> <progress>x</progress>"})
			var told []string
			for _, e := range events {
				if e.Kind == loop.EventRemember {
					told = append(told, e.Text)
				}
			}
			if got := strings.Join(told, "|"); (got == "The linter is slow") != on {
				t.Errorf("memory %t: want the one fact told so, got %q", on, got)
			}
			if got := begin(t, again(t, m, loop.Config{Memory: on})).Prompt.Text; strings.Contains(got, "Never edit gen.go") != on {
				t.Errorf("memory %t: want it the same after a restart, got %s", on, got)
			}
		}
	})
	t.Run("R004-12_lessons_of_a_loop", func(t *testing.T) {
		m := start(t, loop.Config{})
		for n := 1; n <= 4; n++ {
			iterate(t, m, loop.Output{Text: said(n)})
		}
		if got := strings.Join(m.Lessons(3), "|"); strings.Count(got, "|") != 2 || !strings.Contains(got, "Cache4 failed") || strings.Contains(got, "write tests") {
			t.Errorf("want the newest three decisions and failures, got %s", got)
		}
	})
	t.Run("much_is_known", func(t *testing.T) {
		m := start(t, loop.Config{Memory: true})
		var many []loop.Memo
		for i := range 1000 {
			many = append(many, loop.Memo{strings.Repeat(fmt.Sprint("fact", i, " "), 200), strings.Repeat("s", 999)})
		}
		feed(t, m, loop.Known{Facts: many})
		for _, s := range begin(t, m).Prompt.Sections {
			if s.Name == "memory" && (s.Tokens > 1000 || !strings.Contains(s.Text, "- fact0 ")) {
				t.Errorf("want the first within 1,000 tokens, got %d", s.Tokens)
			}
		}
	})
}

// A window that adapts itself shows more of short iterations and less of long ones, and more
// while there is no progress.
func TestAdaptiveWindow(t *testing.T) {
	words := func(n, size int) string { return strings.Repeat(fmt.Sprintf("word%d ", n), size) }
	run := func(adaptive bool, size, iterations int, same bool) int {
		m := start(t, loop.Config{Adaptive: adaptive, IgnoreAlerts: true, RecoveryBudget: 1000, MaxIterations: 500})
		for n := 1; n <= iterations; n++ {
			text := words(n, size)
			if same {
				text = words(1, size)
			}
			iterate(t, m, loop.Output{Text: text})
		}
		return len(m.Context().Iterations)
	}
	t.Run("R004-12_adaptive_window", func(t *testing.T) {
		// chars/4: a kept output of 5,000 characters is 1,250 tokens.
		for _, c := range []struct {
			name               string
			adaptive           bool
			size, want, stucks int
		}{
			{"off", false, 10, 5, 0},
			{"short", true, 10, 20, 0},  // four times the window
			{"long", true, 5000, 12, 0}, // of 15,000 tokens
			{"off_long", false, 5000, 5, 0},
		} {
			if got := run(c.adaptive, c.size, 40, false); got != c.want {
				t.Errorf("%s: want %d raw, got %d", c.name, c.want, got)
			}
		}
		if got := run(true, 5000, 40, true); got != 20 { // 24 have room in 30,000 tokens
			t.Errorf("want more raw without progress, got %d", got)
		}
	})
	t.Run("never_one_alone", func(t *testing.T) {
		m := start(t, loop.Config{Adaptive: true, Window: 1})
		for n := 1; n <= 9; n++ {
			iterate(t, m, loop.Output{Text: words(n, 10)})
		}
		if got := len(m.Context().Iterations); got != 4 {
			t.Errorf("want four times one, got %d", got)
		}
	})
}
