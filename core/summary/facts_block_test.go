package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// worked is a span of a session that changes a file, runs a command that fails, and reads an
// output that was stored.
func worked(n int) []llm.Message {
	id := func(i int) string { return fmt.Sprintf("c%d-%d", n, i) }
	call := func(i int, name, args string) llm.Message {
		return llm.AssistantText("", llm.ToolCall{CallID: id(i), Name: name, Args: args})
	}
	stored := llm.ToolText(id(3), "")
	ref := llm.RefOf([]byte(fmt.Sprint("output ", n)))
	stored.Parts = []llm.Part{llm.ToolResult{CallID: id(3), Content: []llm.Part{llm.Stub{Ref: ref, Text: "[stored]", Size: 9000}}}}
	return []llm.Message{
		call(1, "Write", fmt.Sprintf(`{"file_path":"pkg/part%d.go","content":"x"}`, n)), llm.ToolText(id(1), "ok"),
		call(2, "Bash", fmt.Sprintf(`{"command":"go test ./part%d"}`, n)), llm.ToolError(id(2), fmt.Sprintf("Exit code 1\nFAIL part%d", n)),
		call(3, "Bash", fmt.Sprintf(`{"command":"cat log%d"}`, n)), stored,
	}
}

// TestFactsOutliveSummaries: what code knows stands behind whatever models write, over any
// number of summaries, and takes no more room than it has.
func TestFactsOutliveSummaries(t *testing.T) {
	const room = 500
	previous := ""
	for n := range 300 {
		facts := summary.WriteFacts(worked(n), summary.Options{MaxTokens: room, Previous: previous})
		if got := (len(facts) + 3) / 4; got > room {
			t.Fatalf("after %d: %d tokens, want at most %d", n+1, got, room)
		}
		ref := string(llm.RefOf([]byte(fmt.Sprint("output ", n))))
		for _, want := range []string{fmt.Sprintf("pkg/part%d.go (written 1)", n), fmt.Sprintf("[go test ./part%d]", n), "ref=" + ref} {
			if !strings.Contains(facts, want) {
				t.Fatalf("after %d: %q is missing in\n%s", n+1, want, facts)
			}
		}
		if n == 2 && (!strings.Contains(facts, "pkg/part0.go") || strings.Count(facts, "pkg/part0.go (") != 1) {
			t.Fatalf("the first file is not there once:\n%s", facts)
		}
		previous = fmt.Sprintf("[Summary of %d earlier messages]\nThey worked on part %d.\n\n%s", n, n, facts)
		if got := summary.WithoutFacts(previous); strings.Contains(got, "pkg/") || !strings.HasSuffix(got, fmt.Sprintf("part %d.", n)) {
			t.Fatalf("without facts: %q", got)
		}
	}
	ours := summary.Write(worked(300), summary.Options{MaxTokens: 2000, Previous: previous})
	if strings.Count(ours, "pkg/part299.go") != 1 || !strings.Contains(ours, "They worked on part 299.") {
		t.Errorf("code goes on from it with\n%s", ours)
	}
}
