package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// corpusWindows are the windows that every preset has to keep a session within.
var corpusWindows = []string{"100%", "50%", "25%", "80000"}

// mostIrreducible is the share of Steps, in permille, that may be irreducible.
var mostIrreducible = map[string]int{"50%": 20, "25%": 100}

// TestCorpus runs every Claude Code and Codex session that the corpus lists under
// every preset on every window, and judges each request from its exported bytes.
func TestCorpus(t *testing.T) {
	files := corpusSessions(t)
	var policies []policy.Policy
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	var windows []replay.WindowSpec
	for _, s := range corpusWindows {
		w, err := replay.ParseWindow(s)
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, w)
	}
	sum := newSums()
	t.Run("sessions", func(t *testing.T) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				r, err := replay.New(replay.Options{Policies: policies, Windows: windows, Judge: true, Every: true})
				if err != nil {
					t.Fatal(err)
				}
				s, err := formats.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				err = r.Session(context.Background(), s, func(res replay.Result) error {
					checkResult(t, res)
					sum.add(res)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
	sum.check(t)
}

// corpusSessions returns the session files of the two formats that INDEX.md lists.
func corpusSessions(t *testing.T) []string {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded sessions to replay")
	}
	f, err := os.Open(filepath.Join(root, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, ok := strings.CutPrefix(sc.Text(), "| ")
		name, _, _ = strings.Cut(name, " ")
		if ok && (strings.HasPrefix(name, "claude-code/") || strings.HasPrefix(name, "codex/")) {
			files = append(files, filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	if len(files) == 0 {
		t.Fatal("INDEX.md lists no session of Claude Code or Codex")
	}
	return files
}

// checkResult holds one segment against the laws.
func checkResult(t *testing.T, res replay.Result) {
	if res.NotRun != "" {
		t.Logf("segment %d not run: %s", res.Segment, res.NotRun)
		return
	}
	for _, r := range res.Runs {
		where := fmt.Sprintf("segment %d, %s at %s", res.Segment, r.Policy, r.Window)
		if r.Orphans+r.UnresolvedRefs+r.Uncovered > 0 {
			t.Errorf("%s: want no orphan, unresolved ref or lost part, got %d, %d and %d", where, r.Orphans, r.UnresolvedRefs, r.Uncovered)
		}
		for _, b := range r.RuleBreaks {
			t.Errorf("%s, step %d: the provider would refuse it: %s at %s: %s", where, b.Step, b.Rule, b.Path, b.Message)
		}
		for _, i := range r.Irreducible {
			// The judge counts text alone; the engine adds what a message costs and the
			// margin of its estimate (15 % of what is new, 600 tokens).
			if i.Floor <= i.Limit || i.Recomputed*115/100+1500 < i.Limit {
				t.Errorf("%s, step %d: want a floor above the limit of %d, got %d by the engine and %d by the judge", where, i.Step, i.Limit, i.Floor, i.Recomputed)
			}
		}
		if r.Policy == "off" {
			if len(r.Edits) > 0 {
				t.Errorf("%s: want no edit, got %v", where, r.Edits)
			}
			continue
		}
		if r.StepsOver > 0 {
			t.Errorf("%s: want every step within %d tokens, got %d over", where, r.Limit, r.StepsOver)
		}
		if r.Steps == 0 || r.TokensSent == 0 && len(r.Irreducible) < r.Steps {
			t.Errorf("%s: %d steps and %d tokens sent, want some", where, r.Steps, r.TokensSent)
		}
		if r.EndedAtStep == 0 && r.Steps != max(res.Steps, 1) {
			t.Errorf("%s: want all %d steps, got %d", where, res.Steps, r.Steps)
		}
	}
}

type sums struct {
	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	steps, over, irreducible, backstop, ended, breaks int
	sent, raw                                         int
}

func newSums() *sums { return &sums{rows: map[string]*row{}} }

func (s *sums) add(res replay.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range res.Runs {
		key := r.Policy + " " + r.Window
		if s.rows[key] == nil {
			s.rows[key] = &row{}
		}
		x := s.rows[key]
		x.steps += r.Steps
		x.over += r.StepsOver
		x.irreducible += len(r.Irreducible)
		x.backstop += r.BackstopEdits
		x.breaks += r.PrefixBreaks
		x.sent += r.TokensSent
		x.raw += r.TokensToEnd
		if r.EndedAtStep > 0 {
			x.ended++
		}
	}
}

// check prints the table and holds the shares against their bounds.
func (s *sums) check(t *testing.T) {
	t.Logf("%-14s %7s %6s %6s %12s %9s %6s %7s %8s", "policy", "window", "steps", "over", "irreducible", "backstop", "ended", "breaks", "sent/raw")
	overflowed := 0
	for _, name := range policy.Presets() {
		for _, w := range corpusWindows {
			x := s.rows[name+" "+w]
			if x == nil {
				t.Errorf("%s at %s: no run", name, w)
				continue
			}
			permille := x.irreducible * 1000 / max(x.steps, 1)
			t.Logf("%-14s %7s %6d %6d %5d %4d.%d%% %9d %6d %7d %7d%%", name, w, x.steps, x.over, x.irreducible, permille/10, permille%10,
				x.backstop, x.ended, x.breaks, x.sent*100/max(x.raw, 1))
			if most, ok := mostIrreducible[w]; ok && permille > most {
				t.Errorf("%s at %s: want at most %d permille of the steps irreducible, got %d", name, w, most, permille)
			}
			if name == "off" {
				overflowed += x.over
			}
		}
	}
	if overflowed == 0 {
		t.Error("off overflowed nowhere: the windows test nothing")
	}
}
