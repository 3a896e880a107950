package reports

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// Of a sub-agent's file the end is shown, which says which one it is.
func TestAgentFiles(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var r inspect.Report
	for _, name := range []string{"a1b2c3", "d4e5f6"} {
		r.Agents = append(r.Agents, inspect.Agent{Session: "/home/ada/.claude/projects/-home-ada-ship/0c0c0c0c-0000-4000-8000-000000000001/subagents/agent-" + name + ".jsonl", Steps: 1})
	}
	w := newReportWriter(60)
	w.agents(r)
	for _, want := range []string{"agent-a1b2c3.jsonl", "agent-d4e5f6.jsonl"} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("want %s in\n%s", want, w.String())
		}
	}
}

// In a narrow terminal the figures of thinking stand within its width, and none is lost.
func TestThinkingInANarrowTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	r := inspect.Report{Segments: make([]inspect.Segment, 2), Thinking: []inspect.Thinking{
		{Segment: 1, Blocks: 13, Signed: 12, Hidden: 1, Tokens: 7_801, Carried: "dropped", Turns: 5, Dropped: 6_543},
		{Segment: 2, Blocks: 1, Tokens: 78, Carried: "unknown"},
	}}
	w := newReportWriter(60)
	w.thinking(r)
	for line := range strings.Lines(w.String()) {
		if lipgloss.Width(strings.TrimSuffix(line, "\n")) > 60 {
			t.Errorf("want 60 columns, got %d in\n%s", lipgloss.Width(line), w.String())
		}
	}
	for _, want := range []string{"7,801", "6,543", "cannot be told"} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("want %s in\n%s", want, w.String())
		}
	}
}

// Figures of six digits and the longest tool name leave something of the arguments at 60 columns.
func TestOutputsInANarrowTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	o := inspect.Output{Tool: "run_shell_command", Arguments: `{"command":"git status --short"}`, Line: 123_390, Tokens: 123_263, Steps: 179, Carried: 22_000_000}
	repeat := inspect.Repeat{Output: o, Lines: 12, Earlier: inspect.Source{Tool: "run_shell_command", Line: 123_115}}
	r := inspect.Report{
		Segments: make([]inspect.Segment, 1), Largest: []inspect.Output{o}, Repeated: []inspect.Repeat{repeat},
		Stated: []inspect.Stated{{Line: 1_368, What: "token_count total", Figures: []inspect.StatedFigure{{Name: "prompt", Stated: 18_983_025, Ours: 19_113_016}}}},
	}
	for _, table := range []rows.Table{rows.Outputs(r), rows.Repeats(r), rows.Stated(r)} {
		text := tableText(table, 60, "  ")
		for line := range strings.Lines(text) {
			if n := lipgloss.Width(strings.TrimSuffix(line, "\n")); n > 60 {
				t.Errorf("want 60 columns, got %d in\n%s", n, text)
			}
		}
		if !strings.Contains(text, "git") && !strings.Contains(text, "19,113,016") {
			t.Errorf("nothing is left of what it is about:\n%s", text)
		}
	}
}
