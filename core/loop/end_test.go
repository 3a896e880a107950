package loop_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

const minute = 60_000

// kinds returns the kinds of events but for those of each iteration.
func kinds(events []loop.Event) string {
	var out []string
	for _, e := range events {
		if e.Kind != loop.EventIteration && e.Kind != loop.EventFolded {
			out = append(out, string(e.Kind))
		}
	}
	return strings.Join(out, " ")
}

func ended(t *testing.T, m *loop.Machine, want loop.Reason) {
	t.Helper()
	if r := m.Ready(); r.Do != loop.DoEnd || r.End != want || r.Why == "" {
		t.Errorf("want the end by %s, got %+v", want, r)
	}
}

// again saves and restores a machine, with other settings if there are some.
func again(t *testing.T, m *loop.Machine, c loop.Config) *loop.Machine {
	t.Helper()
	c.Counter = chars4()
	r, err := loop.Restore(c, m.Save())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Save(), m.Save()) {
		t.Fatalf("want the same state, got\n%s\nfor\n%s", r.Save(), m.Save())
	}
	return r
}

func TestEnd(t *testing.T) {
	t.Run("iteration_limit_and_more_of_them", func(t *testing.T) {
		m := start(t, loop.Config{MaxIterations: 2})
		iterate(t, m, loop.Output{Text: "one thing"})
		iterate(t, m, loop.Output{Text: "another one"})
		ended(t, m, loop.IterationLimit)
		m = again(t, m, loop.Config{MaxIterations: 2})
		feed(t, m, loop.Resumed{At: 1})
		ended(t, m, loop.IterationLimit)
		m = again(t, m, loop.Config{MaxIterations: 3})
		feed(t, m, loop.Resumed{At: 1})
		if r := begin(t, m); r.Number != 3 {
			t.Errorf("want the third, got %d", r.Number)
		}
	})
	t.Run("time_limit_of_the_time_that_it_ran", func(t *testing.T) {
		m := start(t, loop.Config{MaxTime: 10 * minute})
		feed(t, m, loop.Began{At: 100 * minute})
		feed(t, m, loop.Output{At: 104 * minute, Text: "a"})
		m = again(t, m, loop.Config{MaxTime: 10 * minute})
		feed(t, m, loop.Resumed{At: 9000 * minute}) // a week later
		feed(t, m, loop.Began{At: 9000 * minute})
		feed(t, m, loop.Tick{At: 8000 * minute}) // the clock is put back
		feed(t, m, loop.Tick{At: -5})
		feed(t, m, loop.Tick{At: 0})
		feed(t, m, loop.Output{At: 0, Text: "b"})
		begin(t, m)
		feed(t, m, loop.Tick{At: 100})
		feed(t, m, loop.Tick{At: 99 + 6*minute})
		begin(t, m)
		feed(t, m, loop.Tick{At: 100 + 6*minute})
		ended(t, m, loop.TimeLimit)
	})
	t.Run("a_clock_at_its_end", func(t *testing.T) {
		m := start(t, loop.Config{})
		for _, at := range []int64{-1 << 63, 1<<63 - 1, 0, 1<<63 - 1} {
			feed(t, m, loop.Began{At: at})
			feed(t, m, loop.Output{At: -at, Text: "c"})
			if it := m.Context().Iterations; it[len(it)-1].Duration < 0 {
				t.Errorf("want no negative time, got %+v", it[len(it)-1])
			}
		}
	})
	t.Run("a_running_iteration_ends_before_a_stop", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Began{At: 1})
		feed(t, m, loop.Stop{})
		if r := m.Ready(); r.Do != loop.DoAwait {
			t.Errorf("want it awaited, got %+v", r)
		}
		feed(t, m, loop.Output{At: 2, Text: "done with this step"})
		ended(t, m, loop.ManualStop)
		if n := m.Context().TotalIterations; n != 1 {
			t.Errorf("want it recorded, got %d", n)
		}
		m = again(t, m, loop.Config{})
		feed(t, m, loop.Resumed{At: 3})
		begin(t, m)
		feed(t, m, loop.Stop{})
		ended(t, m, loop.ManualStop)
	})
	t.Run("a_promise_goes_before_a_stop_and_stays", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Began{At: 1})
		feed(t, m, loop.Stop{})
		feed(t, m, loop.Output{At: 2, Text: "<promise>COMPLETE</promise>"})
		ended(t, m, loop.GoalComplete)
		m = again(t, m, loop.Config{})
		feed(t, m, loop.Fatal{Why: "no disk"})
		feed(t, m, loop.Resumed{At: 3})
		ended(t, m, loop.GoalComplete)
	})
	t.Run("an_interrupted_promise_is_none", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: "<promise>COMPLETE</promise>", Interrupted: true})
		begin(t, m)
	})
	t.Run("a_pause_holds_the_next_one", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Began{At: 1})
		feed(t, m, loop.Pause{})
		feed(t, m, loop.Output{At: 2, Text: "x y z"})
		if r := m.Ready(); r.Do != loop.DoWait || r.Number != 2 {
			t.Errorf("want it to wait, got %+v", r)
		}
		if _, err := m.Feed(loop.Began{At: 3}); err == nil {
			t.Error("want no iteration in a pause")
		}
		m = again(t, m, loop.Config{})
		feed(t, m, loop.Continue{})
		begin(t, m)
	})
	t.Run("fatal_error_keeps_what_ran", func(t *testing.T) {
		m := start(t, loop.Config{})
		feed(t, m, loop.Began{At: 1})
		feed(t, m, loop.Fatal{At: 5, Why: "agent-a: not found"})
		ended(t, m, loop.FatalError)
		its := m.Context().Iterations
		if len(its) != 1 || !its[0].Interrupted || its[0].Fault != "agent-a: not found" {
			t.Errorf("got %+v", its)
		}
	})
}

func TestStuck(t *testing.T) {
	t.Run("advice_until_there_is_progress", func(t *testing.T) {
		m := start(t, loop.Config{RunawayAfter: 100})
		iterate(t, m, loop.Output{Text: "tried it"})
		var seen []string
		for n := 1; n <= 9; n++ {
			prompt, events := iterate(t, m, loop.Output{Text: "tried it"})
			if want := map[bool]string{true: "stuck"}[n == 3]; kinds(events) != want {
				t.Errorf("iteration %d: want %q, got %q", n, want, kinds(events))
			}
			_, advice, stuck := strings.Cut(prompt.Text, "\n\n# Recovery\n")
			if stuck != (n > 3) {
				t.Errorf("iteration %d: advice %v", n, stuck)
			}
			if stuck {
				advice, _, _ = strings.Cut(advice, "\n\n# Instructions")
				seen = append(seen, advice)
			}
		}
		for i, a := range seen[:5] {
			for _, b := range seen[i+1 : 5] {
				if a == b {
					t.Errorf("want other advice each time, got twice %s", a)
				}
			}
		}
		if seen[5] != seen[0] {
			t.Errorf("want the first again, got %s", seen[5])
		}
		iterate(t, m, loop.Output{Text: "found something else to go on with"})
		if strings.Contains(begin(t, m).Prompt.Text, "# Recovery") {
			t.Error("want no advice after progress")
		}
	})
	t.Run("recovery_failed_after_its_budget_and_anew_by_hand", func(t *testing.T) {
		m := start(t, loop.Config{RunawayAfter: 100, RecoveryBudget: 4, StuckAfter: 2})
		for range 7 { // the first is progress, two more are stuck, four have advice
			iterate(t, m, loop.Output{Text: "tried it"})
		}
		ended(t, m, loop.RecoveryFailed)
		m = again(t, m, loop.Config{RunawayAfter: 100, RecoveryBudget: 4, StuckAfter: 2})
		feed(t, m, loop.Resumed{At: 1})
		if strings.Contains(begin(t, m).Prompt.Text, "# Recovery") {
			t.Error("want another chance")
		}
	})
	t.Run("each_time_it_is_stuck_has_the_whole_budget", func(t *testing.T) {
		m := start(t, loop.Config{RunawayAfter: 100, RecoveryBudget: 4, StuckAfter: 2})
		for n := range 5 {
			for range 5 { // progress, two without, two with advice
				iterate(t, m, loop.Output{Text: fmt.Sprintf("tried%d it%d", n, n)})
			}
		}
		begin(t, m)
	})
	t.Run("threshold_is_progress", func(t *testing.T) {
		for threshold, want := range map[int]bool{150: false, 151: true} {
			m := start(t, loop.Config{Threshold: threshold, StuckAfter: 1})
			iterate(t, m, loop.Output{Text: "one two three four"})
			iterate(t, m, loop.Output{Text: "one two five six"}) // 150
			if got := strings.Contains(begin(t, m).Prompt.Text, "# Recovery"); got != want {
				t.Errorf("threshold %d: want stuck %v, got %v", threshold, want, got)
			}
		}
	})
	t.Run("an_interrupted_iteration_is_not_held_against_the_agent", func(t *testing.T) {
		m := start(t, loop.Config{RunawayAfter: 3})
		for range 9 {
			iterate(t, m, loop.Output{Interrupted: true})
		}
		if strings.Contains(begin(t, m).Prompt.Text, "# Recovery") {
			t.Error("want no advice")
		}
	})
}

func TestAlerts(t *testing.T) {
	t.Run("five_identical_outputs_pause_the_loop", func(t *testing.T) {
		m := start(t, loop.Config{})
		for n := 1; n <= 5; n++ {
			_, events := iterate(t, m, loop.Output{Text: "The SAME  again\n", Files: []loop.FileEvent{{Path: fmt.Sprint(n), Lines: 100}}})
			if want := map[bool]string{true: "runaway"}[n == 5]; kinds(events) != want {
				t.Errorf("iteration %d: want %q, got %q", n, want, kinds(events))
			}
		}
		ended(t, m, loop.AlertPause)
		m = again(t, m, loop.Config{})
		feed(t, m, loop.Resumed{At: 1})
		begin(t, m)
	})
	t.Run("a_different_one_begins_anew", func(t *testing.T) {
		m := start(t, loop.Config{})
		for n := 1; n <= 12; n++ {
			iterate(t, m, loop.Output{Text: fmt.Sprint("output ", n/4), Files: []loop.FileEvent{{Path: "a", Lines: 100}}})
		}
		begin(t, m)
	})
	t.Run("alerts_may_be_ignored", func(t *testing.T) {
		m := start(t, loop.Config{IgnoreAlerts: true})
		for range 8 {
			iterate(t, m, loop.Output{Text: "same", Files: []loop.FileEvent{{Path: "a", Lines: 100}}})
		}
		begin(t, m)
	})
	t.Run("ten_fast_iterations_and_five_hundred_are_warnings", func(t *testing.T) {
		m := start(t, loop.Config{})
		got := map[int]string{}
		for n := 1; n <= 501; n++ {
			feed(t, m, loop.Began{At: int64(n) * minute})
			got[n] = kinds(feed(t, m, loop.Output{At: int64(n)*minute + 499, Text: fmt.Sprint("output ", n), Files: []loop.FileEvent{{Path: "a", Lines: 100}}}))
		}
		for n, kind := range got {
			if want := map[int]string{10: "fast", 500: "many"}[n]; kind != want {
				t.Errorf("iteration %d: want %q, got %q", n, want, kind)
			}
		}
		begin(t, m)
	})
}

func TestRestart(t *testing.T) {
	t.Run("R004-11_goes_on_with_window_summary_and_counters", func(t *testing.T) {
		for _, ask := range []bool{false, true} {
			cfg := loop.Config{AskModel: ask, RunawayAfter: 100}
			m := start(t, cfg)
			for n := 1; n <= 17; n++ {
				iterate(t, m, loop.Output{Text: said(n)})
				if m.Ready().Do == loop.DoAsk {
					answer(t, m, fmt.Sprintf("the state of things after iteration %d", n))
				}
			}
			feed(t, m, loop.Message{Text: "mind the tests", Priority: 2})
			r := again(t, m, cfg)
			feed(t, r, loop.Resumed{At: 17*minute + 50_000})
			if a, b := begin(t, m).Prompt.Text, begin(t, r).Prompt.Text; a != b {
				t.Errorf("want the same prompt\n%s\ngot\n%s", a, b)
			}
			for n := 18; n <= 23; n++ { // and so on
				for _, x := range []*loop.Machine{m, r} {
					iterate(t, x, loop.Output{Text: said(n)})
					if x.Ready().Do == loop.DoAsk {
						answer(t, x, fmt.Sprintf("the state of things after iteration %d", n))
					}
				}
			}
			if a, b := m.Save(), r.Save(); !bytes.Equal(a, b) {
				t.Errorf("want\n%s\ngot\n%s", a, b)
			}
		}
	})
	t.Run("the_interrupted_iteration_is_marked", func(t *testing.T) {
		m := start(t, loop.Config{})
		iterate(t, m, loop.Output{Text: "the first one"})
		feed(t, m, loop.Began{At: 5 * minute})
		feed(t, m, loop.Tick{At: 7 * minute})
		m = again(t, m, loop.Config{})
		if r := m.Ready(); r.Do != loop.DoAwait || r.Number != 2 {
			t.Errorf("want the second running, got %+v", r)
		}
		feed(t, m, loop.Resumed{At: 500 * minute})
		its := m.Context().Iterations
		if len(its) != 2 || !its[1].Interrupted || its[1].Number != 2 || its[1].Duration != 2*minute || its[1].Output != "" {
			t.Errorf("got %+v", its)
		}
		if r := begin(t, m); r.Number != 3 || !strings.Contains(r.Prompt.Text, "## Iteration 2\n(interrupted)\n(no output)") {
			t.Errorf("got %d, %s", r.Number, r.Prompt.Text)
		}
	})
	t.Run("a_question_that_was_open_is_asked_again", func(t *testing.T) {
		cfg := loop.Config{AskModel: true, Window: 1}
		m := start(t, cfg)
		iterate(t, m, loop.Output{Text: said(1)})
		iterate(t, m, loop.Output{Text: said(2)})
		before := m.Ready()
		m = again(t, m, cfg)
		feed(t, m, loop.Resumed{At: 1})
		if r := m.Ready(); r.Do != loop.DoAsk || *r.Ask != *before.Ask {
			t.Errorf("want\n%+v\ngot\n%+v", before.Ask, r.Ask)
		}
	})
	t.Run("what_no_machine_wrote_is_refused", func(t *testing.T) {
		m := start(t, loop.Config{})
		for n := 1; n <= 7; n++ {
			iterate(t, m, loop.Output{Text: said(n)})
		}
		feed(t, m, loop.Began{At: 9 * minute})
		good := string(m.Save())
		for _, c := range [][2]string{
			{`"version":1`, `"version":2`},
			{`"iteration_number":4`, `"iteration_number":5`},
			{`"total_iterations":7`, `"total_iterations":3`},
			{`"number":8`, `"number":7`},
			{`"stuck":0`, `"stuck":-1`},
			{`"goal":"`, `"other":"`},
			{`{`, `[`},
			{good, ``},
			{good, `{}`},
			{good, `null`},
			{good, good[:len(good)/2]},
			{good, good + `{}`},
			{`"kind":"state"`, `"kind":"nonsense"`},
			{`"want":""`, `"want":"more"`},
			{`"end":""`, `"end":"bored"`},
		} {
			bad := strings.Replace(good, c[0], c[1], 1)
			if bad == good {
				t.Errorf("%s: not in the state, %s", c[0], good)
			}
			if _, err := loop.Restore(loop.Config{Counter: chars4()}, []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "loop: restore: ") {
				t.Errorf("%s for %s: want an error, got %v", c[1], c[0], err)
			}
		}
	})
}
