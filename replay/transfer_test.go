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

// kinds are conversations unlike those by which the presets' parameters were chosen, and those
// in windows that are far smaller than they need: each with the folders of the corpus that have
// them.
var kinds = []struct {
	name    string
	folders []string
	windows []replay.WindowSpec
}{
	{"plain chats", []string{"aider"}, smallWindows},
	{"tau-bench", []string{"tau-bench"}, smallWindows},
	{"SWE-agent", []string{"swe-agent", "mini-swe-agent"}, smallWindows},
	{"huge reads, made", nil, append([]replay.WindowSpec{{Percent: 50}}, absoluteWindows...)},
	{"coding agents", agents, absoluteWindows},
}

// smallWindows are those of conversations that fit 8,000 tokens nearly all; absoluteWindows are
// the room for messages.
var (
	smallWindows    = []replay.WindowSpec{{Percent: 50}, {Percent: 25}, {Tokens: 8_000}}
	absoluteWindows = []replay.WindowSpec{{Tokens: 16_000}, {Tokens: 8_000}}
)

// transferOthers are the policies of other programs beside our own.
var transferOthers = []string{"trim-outputs", "clear-tool-uses"}

// A transferSum is what the runs of one kind, window and policy came to.
type transferSum struct {
	steps, over, irreducible int
	kept                     replay.Grounding
}

// TestCorpusTransfer: docs/benchmarks.md has what the presets keep and cost in plain chats, in
// conversations of tau-bench and of SWE-agent, in such with outputs larger than the window, and
// in windows of 8,000 and 16,000 tokens. No call of theirs is over the window but where the judge
// finds, too, that nothing could make it fit.
func TestCorpusTransfer(t *testing.T) {
	t.Parallel()
	files := corpusSessions(t)
	var policies []policy.Policy
	for _, name := range own {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	for _, name := range transferOthers {
		policies = append(policies, exampleOf(t, name))
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			sums := map[string]*transferSum{}
			each := func(res replay.Result) error {
				for _, run := range res.Runs {
					checkTransfer(t, res, run)
					x := sums[run.Policy+run.Window]
					if x == nil {
						x = &transferSum{}
						sums[run.Policy+run.Window] = x
					}
					x.add(run)
				}
				return nil
			}
			for _, s := range sessionsOf(t, k.folders, files) {
				transfer(t, s, replay.Options{Policies: policies[:len(own)], Windows: k.windows, Judge: isShort(s)}, each)
				transfer(t, s, replay.Options{Policies: policies[len(own):], Windows: k.windows}, each)
			}
			var rows []string
			for _, w := range k.windows {
				for _, p := range policies {
					rows = append(rows, sums[p.Name+w.String()].row(k.name, w.String(), p.Name))
				}
			}
			hasRows(t, rows)
		})
	}
}

// isShort reports whether the requests of a session are judged here: of one with very many Steps,
// of which most are changed in a small window, that takes minutes.
func isShort(s *sessionfile.Session) bool {
	for _, seg := range s.Segments {
		if seg.Steps() > 100 {
			return false
		}
	}
	return true
}

// transfer replays a session's messages.
func transfer(t *testing.T, s *sessionfile.Session, o replay.Options, each func(replay.Result) error) {
	t.Helper()
	o.Base, o.Ground = replay.BaseMessages, true
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Session(context.Background(), s, each); err != nil {
		t.Fatal(err)
	}
}

// sessionsOf reads the sessions of some folders of the corpus; of none, those that are made.
func sessionsOf(t *testing.T, folders, files []string) (out []*sessionfile.Session) {
	t.Helper()
	if len(folders) == 0 {
		for seed := range uint64(8) {
			out = append(out, hugeReads(seed+1))
		}
		return out
	}
	for _, file := range files {
		if !slices.ContainsFunc(folders, func(f string) bool {
			return strings.Contains(file, string(filepath.Separator)+f+string(filepath.Separator))
		}) {
			continue
		}
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func (x *transferSum) add(run replay.Run) {
	x.steps += run.Steps
	x.over += run.StepsOver
	x.irreducible += len(run.Irreducible)
	if run.Grounding != nil {
		x.kept.Add(*run.Grounding)
	}
}

// row is a row of the table.
func (x *transferSum) row(kind, window, name string) string {
	if x == nil {
		return fmt.Sprintf("| %s | %s | `%s` | – |", kind, window, name)
	}
	share := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", 100*float64(a)/float64(b))
	}
	g, lines := x.kept, x.kept.Kind("line")
	return fmt.Sprintf("| %s | %s | `%s` | %d | %d | %d | %s | %s | %s | %.2f |", kind, window, name, x.steps, x.over, x.irreducible,
		share(g.Visible, g.Spans), share(g.Complete, g.Steps), share(lines.Visible, lines.Spans), float64(g.Cost.Sent)/float64(max(g.Cost.Raw, 1)))
}

// checkTransfer holds a run against what no preset may do.
func checkTransfer(t *testing.T, res replay.Result, run replay.Run) {
	t.Helper()
	where := fmt.Sprintf("%s, segment %d, %s at %s", filepath.Base(res.Session), res.Segment, run.Policy, run.Window)
	if run.Orphans+run.UnresolvedRefs+run.Uncovered > 0 {
		t.Errorf("%s: want no orphan, unresolved ref or lost part, got %d, %d and %d", where, run.Orphans, run.UnresolvedRefs, run.Uncovered)
	}
	if run.StepsOver > 0 {
		t.Errorf("%s: want no call over %d tokens, got %d", where, run.Limit, run.StepsOver)
	}
	if !slices.Contains(own, run.Policy) || res.Steps > 100 { // nobody judges
		return
	}
	for _, i := range run.Irreducible {
		if i.Floor <= i.Limit || i.Recomputed+floorLines < i.Limit {
			t.Errorf("%s, step %d: want a floor above %d, got %d, and %d by the judge", where, i.Step, i.Limit, i.Floor, i.Recomputed)
		}
	}
}

// floorLines is what the lines that stand for archives, which the judge does not know of, may add
// to a floor, in tokens.
const floorLines = 200
