package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

// longOutput has what is missed most between and behind what is long.
func longOutput() string {
	var b strings.Builder
	b.WriteString("I ran the whole suite first, to see where it stands.\n\n```\n")
	for i := range 400 {
		fmt.Fprintf(&b, "ok  package%d  0.%03ds\n", i, i)
	}
	b.WriteString("```\n\nDecision: the parser stays recursive, since the tables were slower.\n\n")
	for i := range 300 {
		fmt.Fprintf(&b, "2026-01-01T10:00:%02d DEBUG worker=%d state=idle\n", i%60, i)
	}
	b.WriteString("\nThe cache with a global lock failed under load, so I reverted it.\n\nNext steps:\n- write the migration for the index\n\n")
	b.WriteString(strings.Repeat("Then I read some more of the code to get a feeling for it.\n\n", 40))
	b.WriteString("<progress>parser finished</progress>")
	return b.String()
}

// A long output that is cut by its structure keeps what was decided, what failed and what is
// next, wherever it stands; a blind cut keeps the log that it begins with. The switch turns it
// off.
func TestCutBySense(t *testing.T) {
	t.Run("R004-12_semantic_chunks", func(t *testing.T) {
		for _, on := range []bool{false, true} {
			m := start(t, loop.Config{BySense: on})
			iterate(t, m, loop.Output{Text: longOutput()})
			kept := m.Context().Iterations[0].Output
			if n := utf8.RuneCountInString(kept); n > 5000 {
				t.Errorf("want 5,000 characters at most, got %d", n)
			}
			prompt := begin(t, m).Prompt.Text
			for _, want := range []string{"the parser stays recursive", "global lock failed", "Next steps:\n- write the migration", "parser finished"} {
				if strings.Contains(kept, want) != on || strings.Contains(prompt, want) != on {
					t.Errorf("by sense %t: want %q so, got %.200q", on, want, kept)
				}
			}
			if on && (!strings.HasPrefix(kept, "I ran the whole suite first") || strings.Contains(kept, "DEBUG worker=150") || !strings.Contains(kept, "[…]")) {
				t.Errorf("want the beginning, a mark, and no log, got %q", kept)
			}
		}
	})
	t.Run("R004-12_chunks_within_an_iteration's_share", func(t *testing.T) {
		m := start(t, loop.Config{BySense: true, Window: 100, IgnoreAlerts: true, RecoveryBudget: 1000})
		long := strings.Repeat("I looked around in the code for a while.\n\n", 100) + "We decided to keep the old format.\n\n" + strings.Repeat("And I looked on for another while.\n\n", 20)
		for range 60 {
			iterate(t, m, loop.Output{Text: long})
		}
		if n := strings.Count(begin(t, m).Prompt.Text, "We decided to keep the old format."); n != 60 {
			t.Errorf("want it of each iteration, got %d", n)
		}
	})
	t.Run("one_line_that_is_too_long", func(t *testing.T) {
		m := start(t, loop.Config{BySense: true})
		iterate(t, m, loop.Output{Text: strings.Repeat("x", 100_000)})
		if n := len(m.Context().Iterations[0].Output); n == 0 || n > 5000 {
			t.Errorf("want its beginning, got %d bytes", n)
		}
	})
}

// Whatever is cut fits, and says nothing that the output did not.
func FuzzBySense(f *testing.F) {
	f.Add(longOutput())
	f.Add("```\nnever closed\n" + strings.Repeat("line\n", 2000))
	f.Add("# A\n\n# B\n\n- x\n  y\n\n" + strings.Repeat("é", 6000))
	f.Fuzz(func(t *testing.T, text string) {
		m := start(t, loop.Config{BySense: true, IgnoreAlerts: true, RecoveryBudget: 1000})
		iterate(t, m, loop.Output{Text: "## " + strings.Repeat(text, 1+3000/(len(text)+1))})
		it := m.Context().Iterations[0]
		if utf8.RuneCountInString(it.Output) > 5000 {
			t.Fatalf("%d characters", utf8.RuneCountInString(it.Output))
		}
		if m.Ready().Do == loop.DoBegin && m.Ready().Prompt.Tokens >= 50_000 {
			t.Fatalf("%d tokens", m.Ready().Prompt.Tokens)
		}
	})
}
