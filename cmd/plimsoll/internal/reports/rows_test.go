package reports

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/inspect"
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
