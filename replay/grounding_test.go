package replay_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// edited is the line that the last call of remembering replaces.
const edited = "func parseEverything(text string) error {"

// remembering returns a session whose last call replaces a line that was read in its first
// Step, of nine with 4 kB of output each.
func remembering() *sessionfile.Session {
	s := &sessionfile.Session{Path: "made", Format: "claude-code"}
	seg := sessionfile.Segment{Start: sessionfile.StartRoot}
	add := func(m llm.Message, step *sessionfile.Step) {
		seg.Entries = append(seg.Entries, sessionfile.Entry{Message: m, Step: step})
	}
	add(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "mend the parser"}}}, nil)
	round := func(n int, tool, args, output string) {
		id := fmt.Sprintf("call%d", n)
		add(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: tool, Args: args}}}, &sessionfile.Step{Model: "claude-sonnet-4-5"})
		add(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: output}}}}}, nil)
	}
	round(0, "Read", `{"file_path":"lib/parser.go"}`, filler("head", 40)+"  40→"+edited+"\n"+filler("tail", 40))
	for n := 1; n < 8; n++ {
		round(n, "Bash", fmt.Sprintf(`{"command":"make step-%c"}`, 'a'+n), filler(fmt.Sprint("step ", n), 80))
	}
	round(8, "Edit", fmt.Sprintf(`{"file_path":"lib/parser.go","old_string":%q,"new_string":"changed"}`, edited), "done")
	s.Segments = []sessionfile.Segment{seg}
	return s
}

// filler returns lines of 50 characters that say nothing twice.
func filler(name string, lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "%-49s\n", fmt.Sprintf("%s: row %d of what was put out", name, n))
	}
	return b.String()
}

// grounded replays a session with its grounding.
func grounded(t *testing.T, s *sessionfile.Session, base replay.Base, window string, policies ...policy.Policy) []replay.Run {
	t.Helper()
	w, err := replay.ParseWindow(window)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: policies, Windows: []replay.WindowSpec{w}, Base: base, Ground: true})
	if err != nil {
		t.Fatal(err)
	}
	var runs []replay.Run
	if err := r.Session(context.Background(), s, func(res replay.Result) error {
		runs = append(runs, res.Runs...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return runs
}

func preset(t *testing.T, name string) policy.Policy {
	t.Helper()
	p, err := policy.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGroundingOfALine: the line that an edit replaces is visible where nothing was taken
// out, behind a Ref where its output became a stub, in an archive where its messages left,
// and lost where a policy drops messages and names no Ref.
func TestGroundingOfALine(t *testing.T) {
	stubs := preset(t, "cache-compact")
	archive := preset(t, "layered")
	archive.Rules = []policy.Rule{{
		Name: "drop", At: policy.AtPrepare, Do: policy.DoTruncate, Args: policy.Args{Template: "drop"},
		When: policy.Condition{Measure: policy.MeasureView, Op: ">", Permille: 500, Of: policy.OfLimit},
	}}
	silent := preset(t, "turn-budget")
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		line   replay.Share
	}{
		{"as it came", preset(t, "off"), replay.Share{Spans: 1, Visible: 1}},
		{"stub", stubs, replay.Share{Spans: 1, Reachable: 1}},
		{"archive", archive, replay.Share{Spans: 1, Archived: 1}},
		{"dropped without a Ref", silent, replay.Share{Spans: 1, Lost: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := grounded(t, remembering(), replay.BaseMessages, "50%", tt.policy)[0]
			g := run.Grounding
			if got := g.Kind("line"); got != tt.line {
				t.Errorf("want %+v, got %+v; edits %v", tt.line, got, run.Edits)
			}
			if whole := tt.line.Visible == 1; whole != (g.Complete == g.Steps) || whole != (g.LookUps == 0) {
				t.Errorf("%d of %d Steps complete, %d look-ups", g.Complete, g.Steps, g.LookUps)
			}
			if g.Hard.Spans == 0 {
				t.Error("want the line to be old, got nothing that is")
			}
		})
	}
}

// TestGroundingOfAnExample: what the client sent keeps everything, at its own price, on both
// bases; under any policy the shares add up.
func TestGroundingOfAnExample(t *testing.T) {
	for _, base := range replay.Bases() {
		s, err := formats.Open(filepath.Join("..", "examples", "session.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range grounded(t, s, base, "50%", preset(t, "off"), preset(t, "balanced")) {
			g := run.Grounding
			if g.Spans < 100 || g.Visible+g.Reachable+g.Archived+g.Lost != g.Spans {
				t.Errorf("%s, %s: shares do not add up: %+v", base, run.Policy, g.Share)
			}
			for _, sums := range [][]replay.NamedSum{g.ByKind, g.BySource} {
				var sum replay.Grounding
				for _, part := range sums {
					sum.Add(replay.Grounding{Share: part.Share})
				}
				if sum.Share != g.Share {
					t.Errorf("%s, %s: want parts of %+v, got %+v", base, run.Policy, g.Share, sum.Share)
				}
			}
			if off := run.Policy == "off"; off != (g.Visible == g.Spans) || off != (g.Cost.Sent == g.Cost.Raw) {
				t.Errorf("%s, %s: %d of %d visible at %d of %d", base, run.Policy, g.Visible, g.Spans, g.Cost.Sent, g.Cost.Raw)
			}
			if run.CostUSD.Known != (base == replay.BaseFull) {
				t.Errorf("%s: cost %s", base, run.CostUSD)
			}
		}
	}
}

// TestGroundingAdds: several segments have the mean of theirs, and the sums of all.
func TestGroundingAdds(t *testing.T) {
	var all replay.Grounding
	all.Add(replay.Grounding{Segments: 1, Steps: 1, MacroPPM: 500_000, Share: replay.Share{Spans: 2, Visible: 1, Lost: 1}, Cost: replay.Units{Raw: 100, Sent: 50, SharePPM: 500_000}})
	all.Add(replay.Grounding{})
	all.Add(replay.Grounding{
		Segments: 1, Steps: 9, Complete: 9, MacroPPM: 1_000_000, Share: replay.Share{Spans: 8, Visible: 8},
		Hard: replay.Sample{Share: replay.Share{Spans: 10, Visible: 8, Lost: 2}}, Cost: replay.Units{Raw: 900, Sent: 900, SharePPM: 1_000_000},
	})
	if all.Segments != 2 || all.MacroPPM != 750_000 || all.Cost.SharePPM != 750_000 || all.Visible != 9 || all.Cost.Sent != 950 {
		t.Errorf("got %+v", all)
	}
	if all.Hard.LowPPM != 490_157 || all.Hard.HighPPM != 943_319 { // Wilson, 8 of 10 at 95 %
		t.Errorf("want an interval from 490157 to 943319, got %d to %d", all.Hard.LowPPM, all.Hard.HighPPM)
	}
}
