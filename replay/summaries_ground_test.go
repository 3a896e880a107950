package replay_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/store"
)

// What stands in for messages that left, each of the size of the model's summary at most.
const (
	byModel      = "the model's summary"
	byCode       = "a summary by code"
	byReferences = "references"
	byBoth       = "references and facts"
)

var standIns = []string{byModel, byCode, byReferences, byBoth}

// factsPermille is the share of the facts beside references.
const factsPermille = 150

// A summarySum is how many spans of a kind the calls behind compactions refer to, and how many of
// them each of standIns says.
type summarySum struct {
	spans int
	said  map[string]int
}

// leastReferences is the share of all spans, in permille, that references and facts say at least.
const leastReferences = 550

// TestGroundingOfSummaries sets beside the summaries that models wrote in the sessions of the
// corpus what code writes of the same messages, at the same size: a summary, the note of names of
// a batch, and that note with facts. Of what the calls after a compaction refer to and the
// messages before it say, how much does each say: of all of it, and of what nothing has said again
// since. docs/benchmarks.md has the figures.
func TestGroundingOfSummaries(t *testing.T) {
	all, unsaid := map[string]*summarySum{}, map[string]*summarySum{}
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
				groundSummary(t, filepath.Base(file), said, seg, text, all, unsaid)
			}
			for _, e := range seg.Entries {
				said = append(said, e.Message)
			}
		}
	}
	if compactions < 4 {
		t.Errorf("%d compactions were looked at, want 4 or more", compactions)
	}
	hasRows(t, append(summaryRows("| used afterwards |", standIns, all), summaryRows("| not said again |", standIns, unsaid)...))
	if sum := all["all"]; sum == nil || sum.said[byBoth]*1000 < sum.spans*leastReferences {
		t.Errorf("want references and facts to say %d permille of what is used afterwards, got %+v", leastReferences, sum)
	}
}

// summaryRows are the rows of a table, a kind of spans each, that begin so.
func summaryRows(begin string, standIns []string, sums map[string]*summarySum) (rows []string) {
	names := []string{}
	for _, k := range ground.Kinds() {
		names = append(names, k.String())
	}
	for _, name := range append(names, "all") {
		n := sums[name]
		if n == nil {
			continue
		}
		row := fmt.Sprintf("%s %s | %d |", begin, name, n.spans)
		for _, by := range standIns {
			row += fmt.Sprintf(" %d (%.0f %%) |", n.said[by], 100*float64(n.said[by])/float64(n.spans))
		}
		rows = append(rows, row)
	}
	return rows
}

// standInsOf returns what code writes in place of messages, and what the model wrote.
func standInsOf(t *testing.T, said []llm.Message, real string) map[string]string {
	t.Helper()
	size := len(real) / 4
	facts := summary.WriteFacts(said, summary.Options{MaxTokens: size * factsPermille / 1000})
	return map[string]string{
		byModel: real, byCode: summary.Write(said, summary.Options{MaxTokens: size}),
		byReferences: referencesOf(t, said, size), byBoth: facts + "\n" + referencesOf(t, said, size-(len(facts)+4)/4),
	}
}

// referencesOf returns the note of at most size tokens that a batch puts in the place of all
// messages.
func referencesOf(t *testing.T, said []llm.Message, size int) string {
	t.Helper()
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	p.Rules = []policy.Rule{{
		Name: "all", At: policy.AtPrepare, When: policy.Condition{Measure: policy.MeasureView, Op: ">", Value: 1}, Do: policy.DoDemote, Forced: true,
	}}
	p.LowWater, p.FirstBatch, p.Pins, p.Economy, p.MinimumGain = 1, 0, nil, policy.Economy{}, policy.Gain{}
	p.References = policy.References{Permille: 1000, Most: size}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := drive.Open(t.Context(), drive.Config{
		ID: "s", Store: &store.Memory{}, Ephemeral: true,
		Engine: engine.Config{
			Policy: p, Targets: []budget.Target{{Model: "mystery", Window: budget.Window{Capacity: 1_000_000, Buffer: budget.None, OutputReserve: budget.None}}},
			Catalog: known, Encodings: bpe.Load, Offline: true, Exactly: "chars/4",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	end := []llm.Message{ // what stays, so that all of said leaves
		{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "end", Name: "wait", Args: "{}"}}},
		{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "end", Content: []llm.Part{llm.Text{Text: "ok"}}}}},
	}
	for _, m := range append(said[:len(said):len(said)], end...) {
		m.ID = 0
		if _, err := d.Feed(t.Context(), engine.Append{Message: m}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Feed(t.Context(), engine.Prepare{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Machine().Journal() {
		if e.Kind == edit.KindReferences {
			return e.Notes[0].Text()
		}
	}
	t.Fatal("the batch made no note")
	return ""
}

func groundSummary(t *testing.T, name string, said []llm.Message, seg sessionfile.Segment, real string, all, unsaid map[string]*summarySum) {
	t.Helper()
	texts := standInsOf(t, said, real)
	line := name + ":"
	for _, by := range standIns {
		line += fmt.Sprintf(" %s %d,", by, len(texts[by])/4)
		if len(texts[by]) > len(real)+8 {
			t.Errorf("%s: %s has %d bytes, want the model's %d at most", name, by, len(texts[by]), len(real))
		}
	}
	t.Log(line)
	bookSummary(said, seg, texts, all, unsaid)
}

// bookSummary adds what texts say of all that the calls of a segment refer to and the messages before
// it say, and of what of that nothing has said again since.
func bookSummary(said []llm.Message, seg sessionfile.Segment, texts map[string]string, all, unsaid map[string]*summarySum) {
	var past, since ground.Texts
	for _, m := range said {
		for _, p := range m.Parts {
			past.Add(ground.TextOf(p))
		}
	}
	says := map[string]*ground.Texts{}
	for by, text := range texts {
		says[by] = &ground.Texts{}
		says[by].Add(ground.TextOfString(text))
	}
	known := map[string]bool{}
	for _, e := range seg.Entries {
		if e.Message.Flags.Has(llm.FlagSummary) {
			continue
		}
		for _, c := range e.Message.Calls() {
			for _, s := range ground.Spans(c) {
				if known[s.Text] || !past.Says(s) {
					continue
				}
				known[s.Text] = true
				bookSpan(all, s, says)
				if !since.Says(s) {
					bookSpan(unsaid, s, says)
				}
			}
		}
		for _, p := range e.Message.Parts {
			since.Add(ground.TextOf(p))
		}
	}
}

// bookSpan adds a span to the sums of its kind and of all.
func bookSpan(sums map[string]*summarySum, s ground.Span, says map[string]*ground.Texts) {
	for _, name := range []string{s.Kind.String(), "all"} {
		n := sums[name]
		if n == nil {
			n = &summarySum{said: map[string]int{}}
			sums[name] = n
		}
		n.spans++
		for by, text := range says {
			if text.Says(s) {
				n.said[by]++
			}
		}
	}
}
