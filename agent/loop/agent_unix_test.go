//go:build unix

package loop_test

import (
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// An agent is a preset, one with a model, or a command line. What it is written as is read
// as the same.
func TestParseAgent(t *testing.T) {
	for _, c := range []struct{ text, name, model, command string }{
		{"codex", "codex", "", "codex|exec|--json|--skip-git-repo-check|--sandbox|workspace-write"},
		{"codex:gpt-5", "codex", "gpt-5", "codex|exec|--json|--skip-git-repo-check|--sandbox|workspace-write|--model|gpt-5"},
		{"pi:a:b", "pi", "a:b", "pi|-p|--model|a:b"},
		{"aider", "aider", "", "aider"},
		{`./my agent --say "a b" 'c "d"' e\ f '' {prompt}`, `./my agent --say "a b" 'c "d"' e\ f '' {prompt}`, "", `./my|agent|--say|a b|c "d"|e f||{prompt}`},
		{"", "", "", "!want one of claude, codex, gemini, opencode, pi"},
		{"  ", "", "", "!want one of"},
		{`a "b`, "", "", "!want each quote closed"},
	} {
		a, err := loop.ParseAgent(c.text)
		if fault, ok := strings.CutPrefix(c.command, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: want the error %q, got %v", c.text, fault, err)
			}
			continue
		}
		if err != nil || a.Name != c.name || a.Model != c.model || strings.Join(a.Command, "|") != c.command || a.String() != c.text {
			t.Errorf("%q: got %+v %v", c.text, a, err)
		}
	}
}

// The environment is recorded without anything that may be a secret.
func TestNoSecretIsRecorded(t *testing.T) {
	t.Setenv("SOME_API_KEY", "sk-secret-1")
	t.Setenv("LANG", "C.UTF-8")
	o := options(t, agent(t, "works", "1"))
	r := begin(t, o)
	if got, err := r.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
		t.Fatalf("want the goal, got %+v %v", got, err)
	}
	recorded := false
	for data, err := range o.Store.Records(t.Context(), "loop/"+r.ID(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		recorded = recorded || strings.Contains(string(data), "C.UTF-8")
		if strings.Contains(string(data), "sk-secret") || strings.Contains(string(data), "SOME_API_KEY") || strings.Contains(string(data), os.Getenv("PATH")) {
			t.Errorf("want no secret, got %.300s", data)
		}
	}
	if !recorded {
		t.Error("want LANG on record")
	}
}
