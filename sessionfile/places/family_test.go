package places

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Lines that say whose a file is.
const (
	claudeMain = `{"type":"user","uuid":"u","sessionId":%q}`
	claudeSide = `{"type":"user","isSidechain":true,"agentId":%q,"sessionId":%q}`
	claudeFork = `{"type":"user","sessionId":%q,"forkedFrom":{"sessionId":%q}}`
	codexMain  = `{"type":"session_meta","payload":{"id":%q,"source":"cli"}}`
	codexSide  = `{"type":"session_meta","payload":{"id":%q,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q}}}}}`
	codexFork  = `{"type":"session_meta","payload":{"id":%q,"forked_from_id":%q,"source":"cli"}}`
	codexOwn   = `{"type":"session_meta","payload":{"id":%q,"source":{"subagent":"review"}}}`
)

// A tree is a folder of session files.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, root}
}

// file writes a file that begins with a line, and returns its path.
func (r tree) file(below, line string, args ...any) string {
	r.t.Helper()
	path := filepath.Join(r.root, filepath.FromSlash(below))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, line+"\n", args...), 0o600); err != nil {
		r.t.Fatal(err)
	}
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r tree) link(target, below string) {
	r.t.Helper()
	path := filepath.Join(r.root, filepath.FromSlash(below))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		r.t.Skipf("no links here: %v", err)
	}
}

// agents wants the sub-agents of a file, and what the error has in it.
func (r tree) agents(path string, wrong string, want ...string) {
	r.t.Helper()
	got, err := Agents(path)
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("sub-agents of %s (-want +got):\n%s", path, diff)
	}
	saysError(r.t, err, wrong)
}

// parent wants the parent of a file, and what the error has in it.
func (r tree) parent(path, wrong, want string) {
	r.t.Helper()
	got, err := Parent(path)
	if got != want {
		r.t.Errorf("parent of %s: want %q, got %q", path, want, got)
	}
	saysError(r.t, err, wrong)
}

func saysError(t *testing.T, err error, wrong string) {
	t.Helper()
	if (err != nil) != (wrong != "") || err != nil && !strings.Contains(err.Error(), wrong) {
		t.Errorf("want an error with %q, got %v", wrong, err)
	}
}

func TestAgentsOfClaudeCode(t *testing.T) {
	r := newTree(t)
	path := r.file("p/s-1.jsonl", claudeMain, "s-1")
	beside := r.file("p/agent-a.jsonl", claudeSide, "a", "s-1")
	within := r.file("p/s-1/subagents/agent-b.jsonl", claudeSide, "b", "s-1")
	deeper := r.file("p/s-1/subagents/flows/one/agent-c.jsonl", claudeSide, "c", "s-1")
	torn := r.file("p/s-1/subagents/agent-d.jsonl", "{")
	fork := r.file("p/s-2.jsonl", claudeFork, "s-2", "s-1")
	lost := r.file("p/s-3.jsonl", claudeFork, "s-3", "s-0")
	r.file("p/agent-x.jsonl", claudeSide, "x", "s-9")
	r.file("p/s-1/subagents/agent-b.meta.json", "{}")

	r.agents(path, "", beside, within, torn, deeper)
	r.agents(fork, "")
	r.agents(beside, "")
	r.parent(within, "", path)
	r.parent(beside, "", path)
	r.parent(deeper, "", path)
	r.parent(fork, "", path)
	r.parent(lost, `session "s-0"`, "")
	r.parent(path, "", "")
	renamed := r.file("p/saved.jsonl", claudeMain, "s-5")
	r.parent(r.file("p/s-6.jsonl", claudeFork, "s-6", "s-5"), "", renamed)
	r.file("p/saved too.jsonl", claudeMain, "s-5")
	r.parent(r.file("p/s-7.jsonl", claudeFork, "s-7", "s-5"), "want one file", filepath.Join(r.root, "p", "saved too.jsonl"))
	r.parent(r.file("p/s-4.jsonl", claudeFork, "s-4", "../p/s-1"), "want the file", "")
}

func TestAgentsOfCodex(t *testing.T) {
	r := newTree(t)
	path := r.file("sessions/2026/11/01/rollout-1-c-1.jsonl", codexMain, "c-1")
	child := r.file("sessions/2026/11/02/rollout-2-c-2.jsonl", codexSide, "c-2", "c-1")
	grandchild := r.file("sessions/2026/11/02/rollout-3-c-3.jsonl", codexSide, "c-3", "c-2")
	fork := r.file("sessions/2026/11/02/rollout-4-c-4.jsonl", codexFork, "c-4", "c-1")
	r.file("sessions/2026/11/02/rollout-5-c-5.jsonl", codexOwn, "c-5")
	r.file("sessions/2026/11/02/rollout-6-c-6.jsonl", codexSide, "c-6", "c-9")
	r.file("sessions/2026/11/09/rollout-7-c-7.jsonl", codexSide, "c-7", "c-1") // long after it was last written

	r.agents(path, "", child, grandchild)
	r.agents(child, "", grandchild)
	r.agents(fork, "")
	r.parent(grandchild, "", child)
	r.parent(fork, "", path)
	r.parent(path, "", "")
	r.parent(r.file("sessions/2026/11/02/rollout-8-c-8.jsonl", codexFork, "c-8", "c-0"), `session "c-0"`, "")

	// Elsewhere, a file's own folder is what there is.
	near := r.file("saved/rollout-1-d-1.jsonl", codexMain, "d-1")
	r.agents(near, "", r.file("saved/rollout-2-d-2.jsonl", codexSide, "d-2", "d-1"))
}

// TestAgentsTwice: a second file of one sub-agent, and of one parent, is told.
func TestAgentsTwice(t *testing.T) {
	r := newTree(t)
	path := r.file("p/s-1.jsonl", claudeMain, "s-1")
	within := r.file("p/s-1/subagents/agent-a.jsonl", claudeSide, "a", "s-1")
	r.file("p/agent-a.jsonl", claudeSide, "a", "s-1")
	r.agents(path, `one file of sub-agent "a"`, within)

	codex := r.file("sessions/2026/11/01/rollout-1-c-1.jsonl", codexMain, "c-1")
	child := r.file("sessions/2026/11/01/rollout-2-c-2.jsonl", codexSide, "c-2", "c-1")
	r.file("sessions/2026/11/01/rollout-3-c-2.jsonl", codexSide, "c-2", "c-1")
	r.agents(codex, `one file of sub-agent "c-2"`, child)
	r.file("archived_sessions/rollout-1-c-1.jsonl", codexMain, "c-1")
	r.parent(child, "got also", codex)
}

// TestAgentsStayInside: no link leads out of the folder, and one in the place of sub-agents is told.
func TestAgentsStayInside(t *testing.T) {
	r := newTree(t)
	path := r.file("p/s-1.jsonl", claudeMain, "s-1")
	out := r.file("out/agent-a.jsonl", claudeSide, "a", "s-1")
	r.link(filepath.Dir(out), "p/s-1/subagents")
	r.link(out, "p/agent-a.jsonl")
	r.agents(path, filepath.Join("s-1", "subagents")+", left out")
	r.link(path, "named.jsonl")
	inside := r.file("p/agent-b.jsonl", claudeSide, "b", "s-1")
	r.agents(filepath.Join(r.root, "named.jsonl"), filepath.Join("p", "agent-a.jsonl")+", left out", inside)
	second := r.file("p/s-2.jsonl", claudeMain, "s-2")
	r.link(out, "p/s-2/subagents/agent-c.jsonl")
	r.agents(second, "agent-c.jsonl, left out")
	third := r.file("p/s-3.jsonl", claudeMain, "s-3")
	r.link(filepath.Dir(out), "p/s-3")
	r.agents(third, "s-3, left out")

	codex := r.file("sessions/2026/11/01/rollout-1-c-1.jsonl", codexMain, "c-1")
	away := r.file("away/rollout-2-c-2.jsonl", codexSide, "c-2", "c-1")
	r.link(filepath.Dir(away), "sessions/2026/11/02")
	r.link(away, "sessions/2026/11/01/rollout-2-c-2.jsonl")
	r.agents(codex, filepath.Join("11", "02")+", left out")
	r.agents(codex, "rollout-2-c-2.jsonl, left out")
}

// TestParentOfPi: the parent is beside its fork or in another project's folder; else it is told.
func TestParentOfPi(t *testing.T) {
	r := newTree(t)
	const (
		root = `{"type":"session","version":3,"id":%q,"cwd":"/quay"}`
		fork = `{"type":"session","version":3,"id":%q,"cwd":"/quay","parentSession":%q}`
	)
	path := r.file("sessions/--quay--/2026-11-01_p-1.jsonl", root, "p-1")
	beside := r.file("sessions/--quay--/2026-11-02_p-2.jsonl", fork, "p-2", "/gone/2026-11-01_p-1.jsonl")
	away := r.file("sessions/--hull--/2026-11-03_p-3.jsonl", fork, "p-3", `C:\quay\2026-11-02_p-2.jsonl`)
	r.parent(path, "", "")
	r.parent(beside, "", path)
	r.parent(away, "", beside)
	r.parent(r.file("sessions/--quay--/2026-11-04_p-4.jsonl", fork, "p-4", "/gone/2026-11-01_p-0.jsonl"), `session "p-0"`, "")
	r.parent(r.file("saved/p-5.jsonl", fork, "p-5", path), "", path)
	r.parent(r.file("saved/p-6.jsonl", fork, "p-6", r.file("saved/notes.jsonl", "{}")), `session "notes"`, "")
}

// TestParentOfOpenCode: the parent of an export is one beside it; else it is told.
func TestParentOfOpenCode(t *testing.T) {
	r := newTree(t)
	const root, child = `{"info":{"id":%q,"directory":"/quay","time":{}},"messages":[]}`, `{
	 "info": {"id": %q, "parentID": %q, "directory": "/quay", "time": {}}, "messages": []}`
	path := r.file("out/one.json", root, "ses_1")
	r.parent(path, "", "")
	agent := r.file("out/two.json", child, "ses_2", "ses_1")
	r.parent(agent, "", path)
	r.parent(r.file("out/three.json", child, "ses_3", "ses_2"), "", agent)
	r.parent(r.file("out/four.json", child, "ses_4", "ses_0"), `session "ses_0"`, "")
	r.parent(r.file("out/other.json", `{"info":{"id":"x","parentID":"y"}}`), "", "")
}

func TestAgentsOfOthers(t *testing.T) {
	r := newTree(t)
	r.agents(r.file("a.md", "# aider chat started at noon"), "")
	r.agents(r.file("b.jsonl", strings.Repeat("x", 2<<20)), "")
	r.agents(filepath.Join(r.root, "missing.jsonl"), "no such file")
	r.parent(r.file("c.jsonl", `{"type":"session_meta","payload":[]}`), "", "")
}

// TestNewestLeavesAgentsOut: a sub-agent of Codex is no session of its own, whoever
// started it.
func TestNewestLeavesAgentsOut(t *testing.T) {
	r := newTree(t)
	r.file(".codex/sessions/2026/11/01/rollout-1-c-1.jsonl", codexMain, "c-1")
	r.file(".codex/sessions/2026/11/01/rollout-2-c-2.jsonl", codexSide, "c-2", "c-1")
	r.file(".codex/sessions/2026/11/01/rollout-3-c-3.jsonl", codexOwn, "c-3")
	r.file(".codex/sessions/2026/11/01/rollout-4-c-4.jsonl", codexFork, "c-4", "c-1")
	var got []string
	for _, f := range Newest(func(string) string { return "" }, "linux", r.root, 0) {
		got = append(got, filepath.Base(f.Path))
	}
	if diff := cmp.Diff([]string{"rollout-1-c-1.jsonl", "rollout-4-c-4.jsonl"}, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}
