package replay_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// TestRecordedSummaries: what is held against a summary lets those pass that models have
// written about the sessions of the corpus.
func TestRecordedSummaries(t *testing.T) {
	judged := 0
	for _, file := range corpusSessions(t) {
		s, err := formats.Open(file)
		if err != nil {
			continue // other tests say so
		}
		var said []llm.Message
		seen := map[string]bool{}
		for i, seg := range s.Segments {
			for _, e := range seg.Entries {
				text := bySummariser(e.Message.Text())
				if i == 0 || seg.Start != sessionfile.StartCompaction || !e.Message.Flags.Has(llm.FlagSummary) || text == "" || seen[text] {
					continue
				}
				seen[text] = true
				if whole(s.Segments[:i], said) {
					judged++
					if _, fault := summary.Judge(text, llm.StopEnd, summary.SourceOf(said)); fault != "" {
						t.Errorf("%s: %s", filepath.Base(file), fault)
					}
				}
			}
			for _, e := range seg.Entries {
				said = append(said, e.Message)
			}
		}
	}
	if judged < 4 {
		t.Errorf("%d summaries were judged, want 4 or more", judged)
	}
}

// bySummariser returns what the model wrote of a summary: its client adds where the whole transcript is.
func bySummariser(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "the full transcript at") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// whole reports whether a file has what the model was shown: some begin in the middle, or
// have lost outputs. What is no text is not counted as what it costs, and a
// system prompt is in no file.
func whole(segments []sessionfile.Segment, said []llm.Message) bool {
	prompt, bytes := 0, 0
	for _, seg := range segments {
		for _, e := range seg.Entries {
			if e.Step != nil && e.Step.Reported {
				prompt = e.Step.Usage.Prompt()
			}
		}
	}
	for _, m := range said {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Media:
				bytes += 4 * 3000
			case llm.ToolResult:
				bytes += len(p.Text())
				for _, c := range p.Content {
					if _, ok := c.(llm.Media); ok {
						bytes += 4 * 3000
					}
				}
			case llm.ToolCall:
				bytes += len(p.Args)
			case llm.Text:
				bytes += len(p.Text)
			}
		}
	}
	return bytes/4 > prompt/4
}
