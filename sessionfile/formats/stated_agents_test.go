package formats

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// sumOf returns our own sum of what a figure counts.
func sumOf(name sessionfile.FigureName, segments []sessionfile.Segment) int64 {
	var sum int64
	for _, segment := range segments {
		for _, e := range segment.Entries {
			if e.Step == nil || e.Step.Copied != "" {
				continue
			}
			u := e.Step.Usage
			sum += map[sessionfile.FigureName]int64{
				sessionfile.FigureCalls:      1,
				sessionfile.FigurePrompt:     int64(u.Prompt()),
				sessionfile.FigureInput:      int64(u.Input),
				sessionfile.FigureCacheRead:  int64(u.CacheRead),
				sessionfile.FigureCacheWrite: int64(u.CacheWrite5m + u.CacheWrite1h),
				sessionfile.FigureOutput:     int64(u.Output),
				sessionfile.FigureReasoning:  int64(u.Reasoning),
				sessionfile.FigureCost:       e.Step.Cost,
			}[name]
		}
	}
	return sum
}

// differing returns the lines at which a file states a sum that ours is not.
func differing(t *testing.T, s *sessionfile.Session) []int {
	t.Helper()
	var lines []int
	for _, stated := range s.Stated {
		for _, f := range stated.Figures {
			ours := sumOf(f.Name, s.Segments[stated.From:stated.To])
			if off := max(ours-f.Value, f.Value-ours); off > f.Round/2 {
				t.Logf("line %d, %s: %s %d within %d, ours %d", stated.Line, stated.What, f.Name, f.Value, f.Round/2, ours)
				lines = append(lines, stated.Line)
			}
		}
	}
	return lines
}

// TestStatedByAgents: the sums that a client wrote into its file are those of the calls read.
func TestStatedByAgents(t *testing.T) {
	for _, file := range []string{"opencode-1.18.33.json", "opencode-1.18.33-compacted.json"} {
		t.Run(file, func(t *testing.T) {
			s, err := Open(filepath.Join("testdata", "recorded", file))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Stated) == 0 {
				t.Fatal("want sums that the file states, got none")
			}
			if lines := differing(t, s); len(lines) > 0 {
				t.Errorf("want equal sums, got others at the lines %v", lines)
			}
		})
	}
}

// TestCorpusStatedByAgents: the same of the corpus. In the chats of the lines named aider adds
// twice what was paid before a question.
func TestCorpusStatedByAgents(t *testing.T) {
	root := corpus(t)
	want := map[string][]int{"chat-history.part1.md": {12624, 16003}}
	stated := 0
	for _, path := range files(t, root, "aider", "cline", "pi") {
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		stated += len(s.Stated)
		if got := differing(t, s); !slices.Equal(got, want[filepath.Base(path)]) {
			t.Errorf("%s: want other sums at the lines %v, got %v", path, want[filepath.Base(path)], got)
		}
	}
	if stated < 50 {
		t.Errorf("want the costs of some fifty runs of aider, got %d sums", stated)
	}
}
