package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestPrompt(t *testing.T) {
	const instructions = "# Instructions\nContinue working toward the goal. Output:\n- `<progress>what you accomplished</progress>` for progress\n" +
		"- `<promise>COMPLETE</promise>` when goal is fully achieved"
	t.Run("R004-7_R004-11_first_iteration", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Select{CLI: "agent-a"})
		want := "# Goal\n" + goal + "\n\n# Current State\n- Total iterations: 0\n- Current CLI: agent-a\n\n" + instructions
		if got := begin(t, m).Prompt.Text; got != want {
			t.Errorf("want\n%s\ngot\n%s", want, got)
		}
	})
	t.Run("R004-7_sections_in_their_order_all_of_the_window", func(t *testing.T) {
		m := start(t, loop.Config{Window: 2})
		feed(t, m, loop.Select{CLI: "agent-b", Model: "small-1"})
		for _, out := range []string{"Chose JWT over sessions.", "Using bcrypt for passwords.", "", "Fourth output."} {
			iterate(t, m, loop.Output{Text: out})
		}
		want := "# Goal\n" + goal + "\n\n# Progress Summary (iterations 1-2)\nKey decisions:\nChose JWT over sessions.\nWorking approaches:\nUsing bcrypt for passwords.\n\n" +
			"# Recent Iterations\n## Iteration 3\n(no output)\n\n## Iteration 4\nFourth output.\n\n" +
			"# Current State\n- Total iterations: 4\n- Current CLI: agent-b\n\n" + instructions
		r := begin(t, m)
		if r.Prompt.Text != want {
			t.Errorf("want\n%s\ngot\n%s", want, r.Prompt.Text)
		}
		var names []string
		for _, s := range r.Prompt.Sections {
			names = append(names, s.Name)
			if s.Tokens != chars4().Text(s.Text) || !strings.Contains(r.Prompt.Text, s.Text) {
				t.Errorf("section %s: %d tokens, %s", s.Name, s.Tokens, s.Text)
			}
		}
		if got := strings.Join(names, " "); got != "goal summary recent state instructions" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("what_went_wrong_is_shown", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: "half of an answer", Interrupted: true, Fault: "timed out"})
		iterate(t, m, loop.Output{Fault: "exit status 1"})
		got := begin(t, m).Prompt.Text
		for _, want := range []string{"## Iteration 1\n(interrupted)\n(timed out)\nhalf of an answer\n", "## Iteration 2\n(exit status 1)\n(no output)\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("want %q, got %s", want, got)
			}
		}
	})
	t.Run("messages_once_urgent_ones_first_and_again_after_an_interruption", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Message{Text: "use tabs", Priority: 1})
		feed(t, m, loop.Message{Text: "stop the release", Priority: 0})
		feed(t, m, loop.Message{Text: " ", Priority: 0})
		const want = "\n\n# Messages\nstop the release\n\nuse tabs\n\n# Instructions"
		prompt, _ := iterate(t, m, loop.Output{Interrupted: true})
		again, _ := iterate(t, m, loop.Output{Text: "ok"})
		if !strings.Contains(prompt.Text, want) || !strings.Contains(again.Text, want) {
			t.Errorf("want %q, got %s and %s", want, prompt.Text, again.Text)
		}
		if got := begin(t, m).Prompt.Text; strings.Contains(got, "# Messages") {
			t.Errorf("want them shown once, got %s", got)
		}
		// What has no room waits for the next prompt.
		feed(t, m, loop.Message{Text: strings.Repeat("a ", 6000)})
		feed(t, m, loop.Message{Text: strings.Repeat("b ", 6000)})
		prompt, _ = iterate(t, m, loop.Output{Text: "ok then"})
		again, _ = iterate(t, m, loop.Output{Text: "fine"})
		if strings.Contains(prompt.Text, "b b b") || !strings.Contains(again.Text, "b b b") || strings.Contains(again.Text, "a a a") {
			t.Error("want the first in one prompt, the second in the next")
		}
	})
}

func TestAllocation(t *testing.T) { t.Run("R004-8_R004-16_the_allocation", allocation) }

// allocation has everything as large as it gets, under several counters.
func allocation(t *testing.T) {
	for _, id := range []string{"chars/4", "runes*2/5", "max(pieces,bytes/4+10)"} {
		counter, err := token.NewCounter(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []int{1, 5, 6, 30} {
			for _, text := range []string{"words of the usual kind ", "漢字", "x", "\U0001F600"} {
				t.Run(fmt.Sprintf("%s_%d_%q", id, window, text), func(t *testing.T) {
					m, err := loop.New(loop.Config{Counter: counter, Window: window, StuckAfter: 1, RunawayAfter: 1000, RecoveryBudget: 1000, AskModel: true, Promise: strings.Repeat("p", 100)},
						loop.Task{Goal: "goal " + strings.Repeat(text, 1<<20/len(text))})
					if err != nil {
						t.Fatal(err)
					}
					feed(t, m, loop.Select{CLI: strings.Repeat("c", 1000)})
					for range window + 1 {
						iterate(t, m, loop.Output{Text: "o" + strings.Repeat(text, 6000)})
					}
					answer(t, m, "a b c d e "+strings.Repeat("long"+text, 5000))
					feed(t, m, loop.Message{Text: "m" + strings.Repeat(text, 50_000)})
					p := begin(t, m).Prompt
					if p.Tokens >= 50_000 || counter.Text(p.Text) != p.Tokens {
						t.Errorf("want less than 50,000 tokens, got %d", p.Tokens)
					}
					most := map[string]int{"goal": 1000, "summary": 2000, "recent": 30_000, "state": 500, "messages": 4000, "recovery": 500, "instructions": 500}
					for _, s := range p.Sections {
						if s.Tokens > most[s.Name] || s.Tokens < 5 {
							t.Errorf("%s: want at most %d tokens, got %d", s.Name, most[s.Name], s.Tokens)
						}
						delete(most, s.Name)
						if s.Name == "recent" {
							shares(t, s.Text, window, counter)
						}
					}
					if len(most) > 0 {
						t.Errorf("want a section each, without: %v", most)
					}
					if !strings.HasSuffix(p.Text, "when goal is fully achieved") {
						t.Errorf("want the instructions whole at the end")
					}
				})
			}
		}
	}
}

func TestTheWidestWindow(t *testing.T) {
	m := start(t, loop.Config{Window: 100, RunawayAfter: 1000})
	for n := range 130 {
		iterate(t, m, loop.Output{Text: fmt.Sprintf("%d ", n) + strings.Repeat("漢字", 3000), Files: []loop.FileEvent{{Path: "a", Lines: 100}}})
	}
	p := begin(t, m).Prompt
	if p.Tokens >= 50_000 || p.Tokens < 25_000 {
		t.Errorf("want less than 50,000 tokens and the room used, got %d", p.Tokens)
	}
	for _, s := range p.Sections {
		if s.Name == "recent" {
			shares(t, s.Text, 100, chars4())
		}
	}
}

func TestShares(t *testing.T) {
	t.Run("R004-16_one_large_output_among_small_ones", func(t *testing.T) {
		m := start(t, loop.Config{Window: 60})
		for n := range 60 {
			iterate(t, m, loop.Output{Text: fmt.Sprint("output ", n, strings.Repeat(" more", n/59*1000)), Files: []loop.FileEvent{{Path: "a", Lines: 100}}})
		}
		for _, s := range begin(t, m).Prompt.Sections {
			if s.Name == "recent" {
				shares(t, s.Text, 60, chars4())
			}
		}
	})
}

// shares checks that all n iterations of the window are shown, each within its share.
func shares(t *testing.T, recent string, n int, counter token.Counter) {
	t.Helper()
	pieces := strings.Split(recent, "## Iteration ")[1:]
	if len(pieces) != n {
		t.Errorf("want %d iterations shown, got %d", n, len(pieces))
	}
	for _, p := range pieces {
		if got := counter.Text("## Iteration " + p); got > min(6000, 30_000/n) {
			t.Errorf("want at most %d tokens, got %d", min(6000, 30_000/n), got)
		}
	}
	// What there is room for is shown: with few of them, all of the 5,000 characters.
	if n == 1 && counter.Text(recent) < 800 {
		t.Errorf("want the room used, got %d tokens", counter.Text(recent))
	}
}
