package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// TestGuardOnCorpus says of every recorded session when the guard would have ended it, beside what
// its client did, and holds that against what the guard promises. docs/benchmarks.md has the table.
func TestGuardOnCorpus(t *testing.T) {
	files := corpusSessions(t)
	t.Run("R000-16_window_model", func(t *testing.T) {
		run, left := guardSegments(t, files, "model")
		for _, g := range run {
			g.check(t)
		}
		t.Log(guardTable(run))
		t.Logf("%+v", countGuarded(run))
		t.Logf("not replayed:\n%s", strings.Join(left, "\n"))
	})
	t.Run("R000-16_window_80000", func(t *testing.T) {
		run, _ := guardSegments(t, files, "80000")
		for _, g := range run {
			g.check(t)
		}
		sum := countGuarded(run)
		t.Logf("%+v", sum)
		if sum.overflowed == 0 || sum.stopped == 0 {
			t.Error("no session overflowed: the window tests nothing")
		}
	})
}

// guardTable lists the segments in which the client compacted, was above the limit, or the guard
// acted.
func guardTable(run []guarded) string {
	var b strings.Builder
	b.WriteString("\n| segment | model | window | limit | the client's end | prompt | of window | above limit from | stop alone | prompt | of window | guard | prompt | of window | its own last request | handles |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, g := range run {
		above := firstAbove(g.client, g.stop.Limit)
		if !g.compacted && above == 0 && g.stop.EndedAtStep+g.guard.EndedAtStep == 0 {
			continue
		}
		end := fmt.Sprintf("end, step %d", g.res.Steps)
		if g.compacted {
			end = fmt.Sprintf("compacted after step %d", g.res.Steps)
		}
		last := g.client.Series[len(g.client.Series)-1]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %s | %s | %s |", g.name, g.res.Model, g.client.Capacity, g.stop.Limit, end,
			ofWindow(last.Raw, g.client), stepOf(above), endCells(g.stop), endCells(g.guard))
		fmt.Fprintf(&b, " %d | %d |\n", g.guard.Series[len(g.guard.Series)-1].Tokens, g.guard.Edits["offload"])
	}
	return b.String()
}

// endCells are three cells of the table: where a run ended, and what the client sent there.
func endCells(run replay.Run) string {
	if run.EndedAtStep == 0 {
		return "never | – | –"
	}
	return stepOf(run.EndedAtStep) + " | " + ofWindow(run.Series[run.EndedAtStep-1].Raw, run)
}

// ofWindow returns two cells, a number of tokens and its share of a window.
func ofWindow(tokens int, run replay.Run) string {
	return fmt.Sprintf("%d | %d %%", tokens, (tokens*100+run.Capacity/2)/run.Capacity)
}

func stepOf(n int) string {
	if n == 0 {
		return "never"
	}
	return fmt.Sprintf("step %d", n)
}

// guardSum counts segments.
type guardSum struct {
	segments, steps   int
	overflowed, above int // the client sent more than the window, more than the limit
	stopped, ended    int // by the guard's stop alone, by the guard
	spared            int // stopped by the stop alone, and run to the end by the guard
	stepsEnded        int // before the end of the guard, that Step included
	early             int // stopped though the client was never above the limit
	lead              int // Steps between the stop and the first prompt above the limit, the most
}

func countGuarded(run []guarded) guardSum {
	var s guardSum
	for _, g := range run {
		s.segments++
		s.steps += g.client.Steps
		s.stepsEnded += g.guard.Steps
		above := firstAbove(g.client, g.stop.Limit)
		add := func(n *int, yes bool) {
			if yes {
				*n++
			}
		}
		add(&s.overflowed, firstAbove(g.client, g.client.Capacity) > 0)
		add(&s.above, above > 0)
		add(&s.stopped, g.stop.EndedAtStep > 0)
		add(&s.ended, g.guard.EndedAtStep > 0)
		add(&s.spared, g.stop.EndedAtStep > 0 && g.guard.EndedAtStep == 0)
		add(&s.early, g.stop.EndedAtStep > 0 && above == 0)
		if above > 0 {
			s.lead = max(s.lead, above-g.stop.EndedAtStep)
		}
	}
	return s
}
