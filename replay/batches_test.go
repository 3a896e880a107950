package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// looking is a session of equal Steps, so many seconds apart, each with an output of some
// 500 tokens.
func looking(steps int, pause int64) *sessionfile.Session {
	at := int64(1_700_000_000_000)
	entries := []sessionfile.Entry{{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Look at it all."}}}, Time: at}}
	for i := range steps {
		at += pause * 1000
		id := fmt.Sprint("c", i)
		entries = append(entries,
			sessionfile.Entry{
				Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "look", Args: `{"at":"` + id + `"}`}}},
				Step:    &sessionfile.Step{Model: "harbour-1", Time: at}, Time: at,
			},
			sessionfile.Entry{
				Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{
					llm.Text{Text: strings.Repeat(fmt.Sprintf("mark %d of buoy %s\n", i*7, id), 100)},
				}}}}, Time: at,
			})
	}
	return &sessionfile.Session{Path: "made-up.jsonl", Segments: []sessionfile.Segment{{Start: sessionfile.StartRoot, Entries: entries}}}
}

// runBatches replays a session under summary-ahead, with an economy if horizon is above 0.
func runBatches(t *testing.T, s *sessionfile.Session, horizon int) replay.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "policies", "summary-ahead.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if horizon > 0 {
		p.Economy = policy.Economy{Horizon: horizon, Write: 1250, Read: 100}
	}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Windows: []replay.WindowSpec{{Percent: 50}}, Catalog: priced(t), Batches: true})
	if err != nil {
		t.Fatal(err)
	}
	var runs []replay.Run
	err = r.Session(context.Background(), s, func(res replay.Result) error { runs = append(runs, res.Runs...); return nil })
	if err != nil || len(runs) != 1 {
		t.Fatalf("want one run, got %d: %v", len(runs), err)
	}
	return runs[0]
}

// TestBatchesOfARun: what a batch cost and saved is what the calls around it were charged.
func TestBatchesOfARun(t *testing.T) {
	run := runBatches(t, looking(24, 10), 0)
	if run.PeakSent > 10_000 { // prompts of more cost twice as much
		t.Fatalf("the largest prompt has %d tokens", run.PeakSent)
	}
	if len(run.Batches) < 2 || len(run.Batches) != run.CacheBreaks {
		t.Fatalf("want a batch for each of the %d cache breaks, got %+v", run.CacheBreaks, run.Batches)
	}
	calls := run.Batches[0].Step - 1
	for _, b := range run.Batches {
		calls += b.Calls
		cost, saved := int64(b.Rewritten)*1_150_000, int64(b.Removed)*100_000*int64(b.Calls)
		if b.CostUSD.Pico != cost || b.SavedUSD.Pico != saved || b.Removed <= 0 || b.Rewritten <= 0 || b.Expected != nil {
			t.Errorf("want a cost of %d and %d saved, got %+v", cost, saved, b)
		}
		if even := (1150*b.Rewritten + 100*b.Removed - 1) / (100 * b.Removed); b.BreakEven != even {
			t.Errorf("want it to pay after %d calls, got %+v", even, b)
		}
	}
	if calls != run.Steps {
		t.Errorf("the batches serve all calls from the first one on: want %d, got %d", run.Steps, calls)
	}
}

// TestWhatTheProviderLetGoIsNoBreakOfOurs: where every prompt has lapsed before the next one,
// a batch rewrites nothing, and a policy that reckons has nothing to wait for.
func TestWhatTheProviderLetGoIsNoBreakOfOurs(t *testing.T) {
	warm, cold := runBatches(t, looking(60, 10), 1), runBatches(t, looking(60, 400), 1)
	if len(cold.Batches) == 0 || cold.CacheBreaks != 0 {
		t.Fatalf("got %d breaks, %+v", cold.CacheBreaks, cold.Batches)
	}
	for _, b := range cold.Batches {
		if b.Rewritten != 0 || b.CostUSD.Pico != 0 || b.Expected == nil || b.Expected.Gain <= 0 {
			t.Errorf("want nothing rewritten and a gain, got %+v", b)
		}
	}
	if len(warm.Batches) == 0 || warm.Batches[0].Step <= cold.Batches[0].Step {
		t.Errorf("want the first batch to wait longer where the prompt is kept, got Step %+v and Step %d", warm.Batches, cold.Batches[0].Step)
	}
}
