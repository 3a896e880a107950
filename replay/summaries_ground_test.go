package replay_test

import (
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// A summarySum is what summaries say of what calls after them refer to.
type summarySum struct {
	spans, real, code int
}

// TestGroundingOfSummaries compares the summaries that models wrote in the sessions of the corpus
// with those that code writes of the same messages, at the same size: of what the calls after a
// compaction refer to, which the messages before it say and nothing since, how much each says.
// The figures are in docs/benchmarks.md.
func TestGroundingOfSummaries(t *testing.T) {
	sums := map[ground.Kind]*summarySum{}
	compactions := 0
	for _, file := range corpusSessions(t) {
		s, err := formats.Open(file)
		if err != nil {
			continue // other tests say so
		}
		var said []llm.Message
		seen := map[string]bool{}
		for i, seg := range s.Segments {
			text := ""
			for _, e := range seg.Entries {
				if by := bySummariser(e.Message.Text()); i > 0 && seg.Start == sessionfile.StartCompaction && e.Message.Flags.Has(llm.FlagSummary) && by != "" && !seen[by] {
					text, seen[by] = by, true
				}
			}
			if text != "" && whole(s.Segments[:i], said) {
				compactions++
				groundSummary(t, filepath.Base(file), said, seg, text, sums)
			}
			for _, e := range seg.Entries {
				said = append(said, e.Message)
			}
		}
	}
	for _, kind := range ground.Kinds() {
		n := sums[kind]
		if n == nil {
			continue
		}
		t.Logf("%v: of %d spans the model's summary says %d, that of code %d", kind, n.spans, n.real, n.code)
	}
	if t.Logf("%d compactions", compactions); compactions < 4 {
		t.Errorf("%d compactions were looked at, want 4 or more", compactions)
	}
}

func groundSummary(t *testing.T, name string, said []llm.Message, seg sessionfile.Segment, real string, sums map[ground.Kind]*summarySum) {
	size := len(real) / 4
	code := summary.Write(said, summary.Options{MaxTokens: size})
	var past, since, byModel, byCode ground.Texts
	for _, m := range said {
		for _, p := range m.Parts {
			past.Add(ground.TextOf(p))
		}
	}
	byModel.Add(ground.TextOf(llm.Text{Text: real}))
	byCode.Add(ground.TextOf(llm.Text{Text: code}))
	t.Logf("%s: a summary of %d tokens, by code %d", name, size, len(code)/4)
	known := map[string]bool{}
	for _, e := range seg.Entries {
		if e.Message.Flags.Has(llm.FlagSummary) {
			continue
		}
		for _, c := range e.Message.Calls() {
			for _, s := range ground.Spans(c) {
				if known[s.Kind.String()+s.Text] || since.Says(s) || !past.Says(s) {
					continue
				}
				known[s.Kind.String()+s.Text] = true
				n := sums[s.Kind]
				if n == nil {
					n = &summarySum{}
					sums[s.Kind] = n
				}
				n.spans++
				if byModel.Says(s) {
					n.real++
				}
				if byCode.Says(s) {
					n.code++
				}
			}
		}
		for _, p := range e.Message.Parts {
			since.Add(ground.TextOf(p))
		}
	}
}
