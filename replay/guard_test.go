package replay_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// A guarded is one segment as its client sent it and under the guard.
type guarded struct {
	name      string // "claude-code b6, segment 2"
	res       replay.Result
	compacted bool // the client compacted behind the last Step

	client replay.Run // policy off
	stop   replay.Run // the guard's final Step alone: no output becomes a handle
	guard  replay.Run // the preset
}

// stopAlone is the name of the policy that has only the rule for the final Step. It sees what the
// client saw, so that it tells when the guard acts on a conversation that nothing made smaller.
const stopAlone = "guard-stop-alone"

// guardPolicies returns the policies of a guarded, in the order of its runs.
func guardPolicies(t *testing.T) []policy.Policy {
	off, err := policy.Preset("off")
	if err != nil {
		t.Fatal(err)
	}
	guard, err := policy.Preset("guard")
	if err != nil {
		t.Fatal(err)
	}
	stop := guard
	stop.Name = stopAlone
	stop.Rules = slices.DeleteFunc(slices.Clone(guard.Rules), func(r policy.Rule) bool { return r.Do == policy.DoOffload || r.Do == policy.DoFail })
	if len(stop.Rules) != 1 || stop.Rules[0].Do != policy.DoFinal {
		t.Fatalf("want one rule of the guard that is not about one output, the final Step, got %v", stop.Rules)
	}
	return []policy.Policy{off, stop, guard}
}

// guardSegments replays the files and returns the segments that could be run, and the reasons why
// others could not.
func guardSegments(t *testing.T, files []string, window string) (run []guarded, left []string) {
	w, err := replay.ParseWindow(window)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: guardPolicies(t), Windows: []replay.WindowSpec{w}, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []guarded
		err = r.Session(context.Background(), s, func(res replay.Result) error {
			if n := len(all); n > 0 {
				all[n-1].compacted = isCompaction(res.Start)
			}
			g := guarded{name: fmt.Sprintf("%s %s, %d", res.Format, short(file), res.Segment), res: res}
			if res.NotRun == "" {
				g.client, g.stop, g.guard = res.Runs[0], res.Runs[1], res.Runs[2]
			}
			all = append(all, g)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range all {
			switch {
			case g.res.NotRun == "":
				run = append(run, g)
			case g.res.Steps > 0:
				left = append(left, fmt.Sprintf("%s (%d steps): %s", g.name, g.res.Steps, g.res.NotRun))
			}
		}
	}
	return run, left
}

// isCompaction reports whether the client made its conversation smaller where a segment starts.
func isCompaction(start string) bool {
	return start == string(sessionfile.StartCompaction) || start == string(sessionfile.StartMicrocompaction)
}

// short returns the beginning of a file's name.
func short(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	name, _, _ = strings.Cut(name, "-")
	return name
}

// firstAbove returns the first Step whose prompt, as the client sent it, is above n tokens, and 0
// if none is.
func firstAbove(run replay.Run, n int) int {
	i := slices.IndexFunc(run.Series, func(p replay.Point) bool { return p.Raw > n })
	return i + 1
}

// peakRaw returns the largest prompt that the client sent, and the largest upper bound of the
// count of one.
func peakRaw(run replay.Run) (raw, bound int) {
	for _, p := range run.Series {
		raw, bound = max(raw, p.Raw), max(bound, p.Bound)
	}
	return raw, bound
}

// check holds a segment against what the guard promises (R000-4, R000-11, R000-16): it acts before
// the client's prompt is too large for the window, by the Step at which it is above the limit (a
// client that compacted above it did so later), and never where all prompts fit. With handles its
// own requests are smaller than the client's, so that it may act later than the stop alone.
func (g guarded) check(t *testing.T) {
	g.checkRun(t, g.stop)
	g.checkRun(t, g.guard)
	overflow, above := firstAbove(g.client, g.client.Capacity), firstAbove(g.client, g.stop.Limit)
	if at := g.stop.EndedAtStep; overflow > 0 && (at == 0 || at > overflow) {
		t.Errorf("%s: the client overflowed at step %d: want the guard to act before, it acted at %d", g.name, overflow, at)
	}
	if at := g.stop.EndedAtStep; above > 0 && (at == 0 || at > above) {
		t.Errorf("%s: the client was above the limit of %d at step %d: want the guard to act by then, it acted at %d", g.name, g.stop.Limit, above, at)
	}
	if at := g.guard.EndedAtStep; above > 0 && (at == 0 || at > above) && g.guard.Edits["offload"] == 0 {
		t.Errorf("%s: the client was above the limit of %d at step %d: want the guard to act by then or to have made handles, it acted at %d", g.name, g.guard.Limit, above, at)
	}
	if _, bound := peakRaw(g.client); bound > g.stop.Limit {
		return
	}
	for _, r := range []replay.Run{g.stop, g.guard} {
		if r.EndedAtStep > 0 {
			t.Errorf("%s: every prompt fits %d by the count: want %s to leave it alone, it acted at step %d", g.name, r.Limit, r.Policy, r.EndedAtStep)
		}
	}
}

// checkRun holds one run against it: what goes out before the final Step fits by the count, and
// nothing but the policy's own rules made it so; the end is the guard's.
func (g guarded) checkRun(t *testing.T, run replay.Run) {
	where := g.name + ", " + run.Policy
	if len(run.Series) == 0 {
		t.Fatalf("%s: no step", where)
	}
	for _, p := range run.Series {
		if final := p.Step == run.EndedAtStep; final != (p.Final != "") {
			t.Errorf("%s, step %d: ended at step %d, and the step says %q", where, p.Step, run.EndedAtStep, p.Final)
		} else if final {
			continue
		}
		if p.Refused || p.Bound > run.Limit {
			t.Errorf("%s, step %d: %d tokens of %d went out and the guard did not act", where, p.Step, p.Bound, run.Limit)
		}
		for _, e := range p.Edits {
			if e.Rule == "backstop" {
				t.Errorf("%s, step %d: the backstop acted before the guard: %+v", where, p.Step, e)
			}
		}
	}
	if run.EndedAtStep > 0 && (!strings.Contains(run.EndReason, "context") || run.EndedAtStep != run.Steps) {
		t.Errorf("%s: want the context as the reason and the last step, got %q at step %d of %d", where, run.EndReason, run.EndedAtStep, run.Steps)
	}
}

// TestGuardOnExample holds the guard against the example session, whose largest prompt is 110,567
// tokens, in windows that it overflows and in one that it does not.
func TestGuardOnExample(t *testing.T) {
	for window, acts := range map[string]bool{"60000": true, "80000": true, "140000": true, "model": false} {
		t.Run("R000-16_window_"+window, func(t *testing.T) {
			run, _ := guardSegments(t, []string{filepath.Join("..", "examples", "session.jsonl")}, window)
			if len(run) != 1 {
				t.Fatalf("want one segment, got %d", len(run))
			}
			run[0].check(t)
			if at := run[0].stop.EndedAtStep; acts != (at > 0) {
				t.Errorf("limit %d: want acts %v, acted at step %d", run[0].stop.Limit, acts, at)
			}
		})
	}
}
