package loop_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"R004-13_one", "Text <progress>Login works</progress> text", "Login works"},
		{"R004-13_any_case_and_lines", "<PROGRESS>\n Login\n works\n</Progress>", "Login works"},
		{"R004-13_several_none_empty_none_twice", "<progress>a</progress><progress> </progress><progress>b</progress><progress>A</progress>", "a|b"},
		{"R004-13_the_placeholder", "<progress>what you accomplished</progress>", ""},
		{"R004-13_in_a_fence", "```\n<progress>a</progress>\n```\n<progress>b</progress>", "b"},
		{"R004-13_quoted", "> <progress>a</progress>\nI write `<progress>b</progress>` and \"<progress>c</progress>\"", ""},
		{"R004-13_opened_twice", "I use <progress> often: <progress>a</progress>", "a"},
		{"R004-13_never_closed", "<progress>a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start(t, loop.Config{})
			iterate(t, m, loop.Output{Text: c.output})
			if got := strings.Join(m.Context().Iterations[0].ProgressMarkers, "|"); got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestPromise has what ends a loop, and what does not: an echo, a quotation, talk about it.
func TestPromise(t *testing.T) {
	const promise = "<promise>COMPLETE</promise>"
	echoed := func(prompt, rest string) string { return prompt + "\n" + rest }
	framed := func(prompt, rest string) string {
		var b strings.Builder
		for line := range strings.Lines(prompt) {
			line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "`", "")
			for len(line) > 30 { // wrapped
				b.WriteString("\x1b[2m│ " + line[:30] + " │\x1b[0m\n")
				line = line[30:]
			}
			b.WriteString("│ " + line + " │\n")
		}
		return b.String() + rest
	}
	half := func(prompt, rest string) string { return prompt[:len(prompt)*2/3] + "\n" + rest }
	bannered := func(prompt, rest string) string { return "agent 1.2, model small-1\n----\nuser\n" + half(prompt, rest) }
	asIs := func(_, rest string) string { return rest }
	for _, c := range []struct {
		name   string
		output func(prompt, rest string) string
		rest   string
		want   bool
	}{
		{"R004-13_alone", asIs, promise, true},
		{"R004-13_any_case_and_blanks", asIs, "All is done.\n<Promise>\n complete \n</PROMISE>\n", true},
		{"R004-13_behind_a_sentence", asIs, "Everything is there. " + promise, true},
		{"R004-13_emphasised", asIs, "- **" + promise + "**", true},
		{"R004-13_another_text", asIs, "<promise>SOON</promise>", false},
		{"R004-13_empty", asIs, "", false},
		{"R004-13_talked_about", asIs, "I will write " + promise + " when all tests pass.", false},
		{"R004-13_denied", asIs, "I cannot write " + promise, false},
		{"R004-13_in_code", asIs, "The mark is `" + promise + "`", false},
		{"R004-13_in_quotes", asIs, "Done. \"" + promise + "\"", false},
		{"R004-13_in_a_fence", asIs, "```text\n" + promise + "\n```\n", false},
		{"R004-13_in_a_longer_fence", asIs, "~~~~\n~~~\n" + promise + "\n~~~~\n", false},
		{"R004-13_in_a_fence_that_stays_open", asIs, "```\nlog\n" + promise, false},
		{"R004-13_behind_a_fence", asIs, "```go\nx := 1\n```\n" + promise, true},
		{"R004-13_a_quotation", asIs, "> " + promise, false},
		{"R004-13_the_prompt_echoed", echoed, "", false},
		{"R004-13_the_prompt_echoed_and_work_done", echoed, "Worked on it.", false},
		{"R004-13_the_prompt_echoed_and_kept", echoed, "Worked on it.\n" + promise, true},
		{"R004-13_echoed_in_a_frame", framed, "Worked on it.", false},
		{"R004-13_echoed_in_a_frame_and_kept", framed, promise, true},
		{"R004-13_echoed_in_part", half, "Worked on it.", false},
		{"R004-13_echoed_in_part_and_kept", half, promise, true},
		{"R004-13_echoed_in_part_behind_a_banner", bannered, "Worked on it.", false},
		{"R004-13_echoed_in_part_behind_a_banner_and_kept", bannered, promise, true},
		{"R004-13_the_instruction_without_its_marks", asIs, "promised:\n• " + promise + " when goal is fully achieved", false},
		{"R004-13_a_line_of_the_goal", asIs, "Goal: print " + promise, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := loop.New(loop.Config{Counter: chars4()}, loop.Task{Goal: "Port the parser.\nAt the end\nprint " + promise + "\n" + promise})
			if err != nil {
				t.Fatal(err)
			}
			prompt := begin(t, m).Prompt.Text
			iterate(t, m, loop.Output{Text: c.output(prompt, c.rest)})
			if got := m.Ready().End == loop.GoalComplete; got != c.want {
				t.Errorf("want it kept: %v, got %v", c.want, got)
			}
		})
	}
	t.Run("R004-13_only_in_the_final_answer", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: promise, Answer: "Not there yet.", Structured: true})
		if r := m.Ready(); r.Do != loop.DoBegin {
			t.Errorf("want it to go on, got %+v", r)
		}
		iterate(t, m, loop.Output{Text: "{}", Answer: "Now it is.\n" + promise, Structured: true})
		if r := m.Ready(); r.Do != loop.DoEnd || r.End != loop.GoalComplete {
			t.Errorf("want the end, got %+v", r)
		}
		if its := m.Context().Iterations; len(its) != 2 || !strings.Contains(its[1].Output, promise) {
			t.Errorf("want the last iteration recorded, got %+v", its)
		}
	})
	t.Run("R004-13_a_promise_of_one's_own", func(t *testing.T) {
		m := start(t, loop.Config{Promise: "all tests pass"})
		if text := begin(t, m).Prompt.Text; !strings.Contains(text, "- `<promise>all tests pass</promise>` when goal is fully achieved") {
			t.Errorf("got %s", text)
		}
		iterate(t, m, loop.Output{Text: promise})
		iterate(t, m, loop.Output{Text: "<promise>All tests pass</promise>"})
		if r := m.Ready(); r.End != loop.GoalComplete || m.Context().TotalIterations != 2 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("an_echo_is_not_what_the_agent_did", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: "<progress>first</progress> step of the work"})
		prompt := begin(t, m).Prompt.Text
		iterate(t, m, loop.Output{Text: prompt + "\n\n<progress>second</progress> step"})
		it := m.Context().Iterations[1]
		if it.Output != "<progress>second</progress> step" || strings.Join(it.ProgressMarkers, "|") != "second" {
			t.Errorf("got output %q, marks %q", it.Output, it.ProgressMarkers)
		}
	})
}
