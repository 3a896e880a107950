//go:build unix

package loop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// An agent that works is run until it promises, on prompts that have the window and the
// summary. What it said, who it was and how far it got is on record.
func TestRunsUntilThePromise(t *testing.T) {
	o := options(t, agent(t, "works", "12"), agent(t, "works", "12"))
	o.Agents[0].Name, o.Agents[1].Name, o.Agents[1].Model = "first", "second", "m-2"
	h := end(t, o, core.GoalComplete)
	if len(h.Iterations) != 12 || h.Folded != 7 || h.Goal != "Do all steps." || h.Running != 0 {
		t.Fatalf("want 12 iterations, 7 of them in the summary, got %+v", h)
	}
	for i, it := range h.Iterations {
		name, model := "first", ""
		if i%2 == 1 {
			name, model = "second", "m-2"
		}
		step := strconv.Itoa(i + 1)
		if it.Number != i+1 || it.CLI != name || it.Model != model || len(it.ProgressMarkers) != 1 || it.ProgressMarkers[0] != "finished step "+step {
			t.Errorf("iteration %d, want %s %s and its mark, got %+v", i+1, name, model, it)
		}
		if got := strings.Join(it.FileChanges, " "); got != "n step"+step+".txt" {
			t.Errorf("iteration %d, want the files that it wrote, got %s", i+1, got)
		}
		if it.PromptSize == 0 || len(it.Sections) < 3 {
			t.Errorf("iteration %d, want the sections of its prompt, got %d tokens, %v", i+1, it.PromptSize, it.Sections)
		}
	}
	if !strings.Contains(h.Summary, "tool1") || !strings.Contains(h.Summary, "tool7") {
		t.Errorf("summary, want the decisions of iterations 1 to 7, got %s", h.Summary)
	}
}

// Whatever an agent does, the loop goes on, and says what it was.
func TestAgentsThatGoWrong(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		args       []string
		fault      string // has to be in the fault
		output     string // has to be in the output
		child      bool   // it leaves a process
	}{
		{name: "floods", kind: "floods", args: []string{"64"}, output: "xxxx"},
		{name: "binary", kind: "binary", output: "red"},
		{name: "exits with a code", kind: "fails", fault: "exit status 3: no such model"},
		{name: "dies by a signal", kind: "dies", fault: "signal: killed"},
		{name: "forks", kind: "forks", child: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, agent(t, c.kind, c.args...))
			o.Settings.MaxIterations = 1
			h := end(t, o, core.IterationLimit)
			it := h.Iterations[0]
			if !strings.Contains(it.Fault, c.fault) || (it.Fault == "") != (c.fault == "") || !strings.Contains(it.Output, c.output) || it.Interrupted {
				t.Errorf("want the fault %q and the output %q, got %q, %.200q", c.fault, c.output, it.Fault, it.Output)
			}
			if !utf8.ValidString(it.Output) || strings.ContainsAny(it.Output, "\x00\x1b") {
				t.Errorf("want a text, got %.200q", it.Output)
			}
			if c.child {
				gone(t, o.Workspace)
			}
		})
	}
}

// Of an output of any size both ends are kept: memory does not grow with it, and marks at
// its end count.
func TestFloodOfAnAgentIsBounded(t *testing.T) {
	megabytes := 256
	if os.Getenv("PLIMSOLL_GB") == "1" {
		megabytes = 1024
	}
	o := options(t, agent(t, "floods", strconv.Itoa(megabytes)))
	o.Settings.MaxIterations = 1
	r := begin(t, o)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	it := history(t, o, r.ID()).Iterations[0]
	if it.Bytes < int64(megabytes)<<20 || strings.Join(it.ProgressMarkers, "") != "the end is kept" {
		t.Errorf("want %d MiB counted and the mark at the end, got %d bytes, %q", megabytes, it.Bytes, it.ProgressMarkers)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 128<<20 { // looking at the 4 MiB that are kept takes some
		t.Errorf("memory, want it to grow by 128 MiB at most, got %d", grown>>20)
	}
}

// When its time is over an agent is ended with what it has started, also one that will not
// end when it is asked to. That it hangs is no progress, and what it said before counts.
func TestTimeOfAnIteration(t *testing.T) {
	for _, kind := range []string{"hangs", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := options(t, agent(t, kind))
			o.Settings.MaxIterations, o.Timeout = 1, 3*time.Second
			h := end(t, o, core.IterationLimit)
			if it := h.Iterations[0]; it.Fault != "ended: its time was over" || it.Interrupted || len(it.ProgressMarkers) != 1 {
				t.Errorf("want it ended and its mark kept, got %+v", it)
			}
			gone(t, o.Workspace)
		})
	}
}

// Ctrl-C ends the agent and what it has started. The iteration is kept as interrupted, and
// the loop goes on from there.
func TestInterrupted(t *testing.T) {
	o := options(t, agent(t, "hangs"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Output = writerFunc(func(string) { cancel() }) // at its first words
	r := begin(t, o)
	if _, err := r.Run(ctx); !errors.Is(err, loop.ErrInterrupted) {
		t.Fatalf("want %v, got %v", loop.ErrInterrupted, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if h := history(t, o, r.ID()); len(h.Iterations) != 1 || !h.Iterations[0].Interrupted || h.End != "" {
		t.Errorf("want one iteration, interrupted, and no end, got %+v", h)
	}
	o.Agents, o.Output = []loop.Agent{agent(t, "works", "2")}, nil
	next, err := loop.Resume(t.Context(), o, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got, err := next.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
		t.Fatalf("want it to go on to its goal, got %+v %v", got, err)
	}
	if h := history(t, o, r.ID()); len(h.Iterations) < 2 || h.Iterations[1].Number != 2 || h.Resumed != 1 {
		t.Errorf("want iteration 2 after one, got %+v", h.Iterations)
	}
}

type writerFunc func(string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// An agent that repeats its prompt makes no promise; one whose output is JSON makes it in
// its final answer alone.
func TestR004_13(t *testing.T) {
	t.Run("R004-13_an_echo_is_no_promise", func(t *testing.T) {
		o := options(t, agent(t, "echoes"))
		o.Settings.MaxIterations = 4
		end(t, o, core.IterationLimit)
	})
	t.Run("R004-13_the_final_answer_of_json", func(t *testing.T) {
		o := options(t, agent(t, "json"))
		o.Agents[0].Answer = loop.Answer{Lines: true, Where: "item.type=agent_message", Text: "item.text"}
		h := end(t, o, core.GoalComplete)
		if len(h.Iterations) != 3 || h.Iterations[0].Output != "looked around in run 1" {
			t.Errorf("want the end at the third, and final answers alone, got %+v", h.Iterations)
		}
	})
}

// A prompt is an argument where the command says so.
func TestPromptAsArgument(t *testing.T) {
	o := options(t, agent(t, "argument", "{prompt}"))
	h := end(t, o, core.GoalComplete)
	if got := h.Iterations[0].ProgressMarkers[0]; strings.HasPrefix(got, "got 0") || !strings.HasSuffix(got, " 0 on input") {
		t.Errorf("want the prompt in the argument and nothing on input, got %s", got)
	}
}

// A program that is not there is an error before anything is begun; one that goes away ends
// the loop, which can go on when it is back.
func TestMissingAgent(t *testing.T) {
	o := options(t, loop.Agent{Name: "none", Command: []string{"no-such-agent"}})
	_, err := loop.Start(t.Context(), o, "x")
	if m, ok := errors.AsType[*loop.MissingError](err); !ok || m.Program != "no-such-agent" {
		t.Fatalf("want a *MissingError, got %v", err)
	}
	path := filepath.Join(o.Workspace, "tool")
	script := "#!/bin/sh\nrm tool\necho '<progress>removed myself</progress>'\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	o.Agents = []loop.Agent{{Name: "tool", Command: []string{"./tool"}}}
	h := end(t, o, core.FatalError)
	if len(h.Iterations) != 2 || !h.Iterations[1].Interrupted || !strings.Contains(h.Why, "no such file") {
		t.Errorf("want one iteration, and one that could not begin, got %+v", h)
	}
}

// A clock that jumps takes no time from the loop and adds none.
func TestClockThatJumps(t *testing.T) {
	o := options(t, agent(t, "works", "9"))
	times := []int64{5_000_000, 1_000, 9_000_000_000, 0, -7, 1 << 62}
	n := 0
	o.Now = func() int64 { n++; return times[n%len(times)] }
	h := end(t, o, core.GoalComplete)
	for _, it := range h.Iterations {
		if it.Duration < 0 {
			t.Errorf("want no negative time, got %+v", it)
		}
	}
}

// A goal of a megabyte is taken whole; a prompt shows its beginning. None is refused.
func TestGoals(t *testing.T) {
	o := options(t, agent(t, "works", "2"))
	goal := strings.Repeat("Do all of the steps. ", 50_000)
	r, err := loop.Start(t.Context(), o, goal)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
		t.Fatalf("want the goal, got %+v %v", got, err)
	}
	h := history(t, o, r.ID())
	if h.Goal != goal || h.Iterations[1].PromptSize > 2000 {
		t.Errorf("want it whole on record and its beginning shown, got %d bytes, %d tokens", len(h.Goal), h.Iterations[1].PromptSize)
	}
	other := options(t, agent(t, "works", "2"))
	if _, err := loop.Start(t.Context(), other, " \n"); err == nil || !strings.Contains(err.Error(), "goal") {
		t.Errorf("want no goal refused, got %v", err)
	}
}
