package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// cutOff begins in the middle, so that its first segment cannot be run.
const cutOff = `{"type":"user","uuid":"m1","parentUuid":"gone","sessionId":"s","version":"2.0.1","message":{"role":"user","content":"And the barge?"}}
{"type":"assistant","uuid":"m2","parentUuid":"m1","sessionId":"s","version":"2.0.1","message":{"id":"msg_1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Moored."}],"usage":{"input_tokens":90000,"output_tokens":30}}}
{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"logicalParentUuid":"m2","sessionId":"s","version":"2.0.1","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":90000}}
{"type":"user","uuid":"u1","parentUuid":"b1","sessionId":"s","version":"2.0.1","isCompactSummary":true,"message":{"role":"user","content":"The barge is moored."}}
{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","version":"2.0.1","message":{"role":"user","content":"Where?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u2","sessionId":"s","version":"2.0.1","message":{"id":"msg_2","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"At the quay."}],"usage":{"input_tokens":7000,"output_tokens":40}}}
`

// TestWholeSessionHasOneFigure: what a session took is the same in a replay and an inspection, segments that cannot be run included,
// and so is the sum with its sub-agents.
func TestWholeSessionHasOneFigure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	if err := os.WriteFile(path, []byte(cutOff), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../examples/*.jsonl")
	if err != nil || len(files) < 4 {
		t.Fatalf("want the examples, got %v, %v", files, err)
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := formats.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, path) {
		s, err := formats.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		want, agents := inspected(t, s, cat), []inspect.Report{inspected(t, agent, cat)}
		r, err := replay.New(replay.Options{Policies: offPolicy(t)})
		if err != nil {
			t.Fatal(err)
		}
		var results []replay.Result
		if err := r.Session(t.Context(), s, func(res replay.Result) error { results = append(results, res); return nil }); err != nil {
			t.Fatal(err)
		}
		last := &results[len(results)-1]
		if w := last.Whole; w == nil || w.Steps != want.Totals.Steps || w.Tokens != want.Totals.Tokens || w.CostUSD != want.Totals.CostUSD || w.CostEstimated != want.Totals.CostEstimated {
			t.Errorf("%s: want %+v, got %+v", file, want.Totals, w)
			continue
		}
		if last.Whole.Tokens == 0 {
			t.Errorf("%s: want tokens, got none", file)
		}
		for _, res := range results[:len(results)-1] {
			if res.Whole != nil {
				t.Errorf("%s: segment %d has the sum of the whole session, want it with the last one", file, res.Segment)
			}
		}
		want.Attach(agents)
		last.Attach(agents)
		if *last.WithAgents != *want.WithAgents || len(last.Agents) != 1 {
			t.Errorf("%s with a sub-agent: want %+v, got %+v", file, want.WithAgents, last.WithAgents)
		}
	}
}
