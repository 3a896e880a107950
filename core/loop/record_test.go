package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

func TestRecord(t *testing.T) {
	t.Run("R004-1_R004-9_what_is_kept_of_an_iteration", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Select{CLI: "agent-a", Model: "small-1"})
		feed(t, m, loop.Message{Text: strings.Repeat("read this ", 200)})
		r := begin(t, m)
		feed(t, m, loop.Began{At: 1000})
		long := "<progress>Wrote the parser</progress>\n" + strings.Repeat("ö", 6000)
		feed(t, m, loop.Output{At: 4500, Text: long, Fault: "exit status 2", Files: []loop.FileEvent{
			{At: 2000, Path: "a.go", Op: "modified", Lines: 30}, {At: 3000, Path: "a.go", Op: "modified", Lines: 20}, {At: 3000, Path: "b.go", Op: "created"},
		}})
		its := m.Context().Iterations
		if len(its) != 1 {
			t.Fatalf("want 1 iteration, got %d", len(its))
		}
		it := its[0]
		if it.Number != 1 || it.Began != 1000 || it.Duration != 3500 || it.CLI != "agent-a" || it.Model != "small-1" || it.Fault != "exit status 2" || it.Interrupted {
			t.Errorf("got %+v", it)
		}
		if n := utf8.RuneCountInString(it.Prompt); n != 500 || !strings.HasPrefix(r.Prompt.Text, it.Prompt) || it.PromptSize != r.Prompt.Tokens {
			t.Errorf("want the first 500 characters of the prompt, got %d", n)
		}
		if n := utf8.RuneCountInString(it.Output); n != 5000 || !strings.HasPrefix(long, it.Output) {
			t.Errorf("want the first 5,000 characters of the output, got %d", n)
		}
		if strings.Join(it.ProgressMarkers, "|") != "Wrote the parser" || strings.Join(it.FileChanges, "|") != "a.go|b.go" {
			t.Errorf("got marks %q, files %q", it.ProgressMarkers, it.FileChanges)
		}
		// 300 for a first output, 51 changed lines, one mark.
		if want := 300 + 153 + 125; it.ProgressScore != want {
			t.Errorf("score: want %d, got %d", want, it.ProgressScore)
		}
	})
	t.Run("R004-2_what_the_loop_keeps", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Select{CLI: "agent-a", Model: "small-1"})
		feed(t, m, loop.Began{At: 77, Env: map[string]string{"branch": "main"}})
		feed(t, m, loop.Output{At: 99, Text: "Looked around in the workspace.", Files: []loop.FileEvent{{At: 80, Path: "x", Op: "deleted", Lines: 3}}})
		c := m.Context()
		if c.Task != (loop.Task{ID: "t1", Goal: goal}) || c.TotalIterations != 1 || len(c.Iterations) != 1 || c.Summary != "" || c.StartTime != 77 ||
			c.CurrentCLI != "agent-a" || c.CurrentModel != "small-1" || c.EnvSnapshot["branch"] != "main" {
			t.Errorf("got %+v", c)
		}
		if len(c.FileEvents) != 1 || c.FileEvents[0] != (loop.FileEvent{At: 80, Path: "x", Op: "deleted", Lines: 3}) {
			t.Errorf("file events: got %+v", c.FileEvents)
		}
	})
	t.Run("file_events_are_the_newest_hundred", func(t *testing.T) {
		m := start(t, loop.Config{})
		events := make([]loop.FileEvent, 130)
		for i := range events {
			events[i] = loop.FileEvent{At: int64(i), Path: strings.Repeat("p", i+1), Op: "created", Lines: 1}
		}
		iterate(t, m, loop.Output{Text: "Generated many files today.", Files: events})
		c := m.Context()
		if len(c.FileEvents) != 100 || c.FileEvents[0].At != 30 || len(c.Iterations[0].FileChanges) != 50 {
			t.Errorf("want events 30 to 129 and 50 paths, got %d from %d, and %d", len(c.FileEvents), c.FileEvents[0].At, len(c.Iterations[0].FileChanges))
		}
	})
	t.Run("what_a_terminal_writes", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: "\x1b[1mBuilt\x1b[0m the\x00 parser\xff.\r\n\x1b]0;title\x07Done\x1b"})
		if got := m.Context().Iterations[0].Output; got != "Built the parser\uFFFD.\nDone" {
			t.Errorf("got %q", got)
		}
	})
}

// TestFloods has outputs of a megabyte of which every part is something to look at: work
// that grows with its square would not end.
func TestFloods(t *testing.T) {
	for _, text := range []string{
		"It is so. We decided upon it. ", "- [x] item done\n", "a b c failed.\n\n", "<progress>x", "</progress>", "\"<progress>x</progress>\"", "x.go ",
		"```\n", "> ", "<promise>COMPLETE</promise> no\n", "\x1b[", "Error: x\n", "it ", "decided %. ", "<progress>%</progress>",
	} {
		t.Run(text, func(t *testing.T) {
			m := start(t, loop.Config{Window: 1})
			var b strings.Builder
			for i := 0; b.Len() < 1<<20; i++ {
				b.WriteString(strings.ReplaceAll(text, "%", strings.Repeat("n", i%60+1)))
			}
			iterate(t, m, loop.Output{Text: b.String()})
			if it := m.Context().Iterations[0]; utf8.RuneCountInString(it.Output) > 5000 || len(it.ProgressMarkers) > 20 {
				t.Errorf("got %d characters, %d marks", utf8.RuneCountInString(it.Output), len(it.ProgressMarkers))
			}
			iterate(t, m, loop.Output{Text: "the end of it"})
			if p := begin(t, m).Prompt; p.Tokens >= 50_000 || len(strings.Fields(m.Context().Summary)) > 500 {
				t.Errorf("got %d tokens, %s", p.Tokens, m.Context().Summary)
			}
		})
	}
}

func TestScore(t *testing.T) {
	const before = "Wrote the parser and ran all of its tests"
	for _, c := range []struct {
		name, before string
		now          loop.Output
		want         int
	}{
		{"R004-14_a_first_output", "", loop.Output{Text: "anything at all"}, 300},
		{"R004-14_the_same_again", before, loop.Output{Text: before}, 0},
		{"R004-14_only_the_time_differs", "At 2026-01-01 10:00:00 " + before, loop.Output{Text: "At 2026-01-01T11:30:00 1767225600 " + before}, 0},
		{"R004-14_half_of_the_words_are_new", "one two three four", loop.Output{Text: "one two five six"}, 150},
		{"R004-14_nothing_in_common", before, loop.Output{Text: "something else"}, 300},
		{"R004-14_empty", before, loop.Output{}, 0},
		{"R004-14_40_lines", before, loop.Output{Text: before, Files: []loop.FileEvent{{Path: "a", Lines: 15}, {Path: "b", Lines: 25}}}, 120},
		{"R004-14_lines_beyond_100", before, loop.Output{Text: before, Files: []loop.FileEvent{{Path: "a", Lines: 1 << 40}, {Path: "b", Lines: 1 << 62}}}, 300},
		{"R004-14_a_change_has_a_line", before, loop.Output{Text: before, Files: []loop.FileEvent{{Path: "a", Lines: -5}}}, 3},
		{"R004-14_one_mark", "x <progress>y</progress>", loop.Output{Text: "x <progress>y</progress>"}, 125},
		{"R004-14_three_marks", "<progress>a</progress> <progress>b</progress> <progress>c</progress>", loop.Output{Text: "<progress>a</progress> <progress>b</progress> <progress>c</progress>"}, 250},
		{"R004-14_a_list", "- [ ] a\n- [ ] b", loop.Output{Text: "- [x] a\n- [ ] b"}, 60 + 75},
		{"R004-14_a_list_that_stands_still", "- [x] a\n- [ ] b", loop.Output{Text: "- [x] a\n- [ ] b"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start(t, loop.Config{})
			if c.before != "" {
				iterate(t, m, loop.Output{Text: c.before})
			}
			iterate(t, m, c.now)
			its := m.Context().Iterations
			if got := its[len(its)-1].ProgressScore; got != c.want {
				t.Errorf("want %d, got %d", c.want, got)
			}
		})
	}
}

// Facts do not grow with the loop, and a summary is what it would be if all of them had been
// kept.
func TestFactsAreBounded(t *testing.T) {
	m := start(t, loop.Config{MaxIterations: 5000})
	var before, after map[string]any // states
	for n := 1; n <= 2500 && after == nil; n++ {
		iterate(t, m, loop.Output{Text: said(n)})
		if n%50 != 0 {
			continue
		}
		s := decoded(t, m.Save())
		if before != nil && len(s["facts"].([]any)) < len(before["facts"].([]any)) {
			after = s
		} else {
			before = s
		}
	}
	if after == nil || len(after["facts"].([]any)) > 5000 {
		t.Fatal("want facts left out, and at most 5,000 kept")
	}
	short := restored(t, after)
	known := map[string]bool{}
	var all []any
	for _, x := range slices.Concat(before["facts"].([]any), after["facts"].([]any)) {
		if text := fmt.Sprint(x); !known[text] {
			known[text] = true
			all = append(all, x)
		}
	}
	if len(all) <= len(after["facts"].([]any)) {
		t.Fatalf("want more facts than were kept, got %d", len(all))
	}
	slices.SortStableFunc(all, func(a, b any) int { return iterationOf(a) - iterationOf(b) })
	after["facts"] = all
	long := restored(t, after)
	for _, m := range []*loop.Machine{short, long} {
		iterate(t, m, loop.Output{Text: said(3000)})
	}
	if a, b := short.Context().Summary, long.Context().Summary; a != b || a == "" {
		t.Errorf("want the same summary, got\n%s\nand of all facts\n%s", a, b)
	}
}

func iterationOf(fact any) int { return int(fact.(map[string]any)["iteration"].(float64)) }

func decoded(t *testing.T, state []byte) (s map[string]any) {
	t.Helper()
	if err := json.Unmarshal(state, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func restored(t *testing.T, state map[string]any) *loop.Machine {
	t.Helper()
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	m, err := loop.Restore(loop.Config{Counter: chars4(), MaxIterations: 5000}, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
