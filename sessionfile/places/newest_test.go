package places

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A home is a folder with session files, each a minute newer than the one before.
type home struct {
	t     *testing.T
	root  string
	clock time.Time
}

func newHome(t *testing.T) *home {
	t.Helper()
	t.Chdir(t.TempDir())
	return &home{t: t, root: t.TempDir(), clock: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
}

// write makes a file below the home folder, or at an absolute path.
func (h *home) write(path string) string {
	h.t.Helper()
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.root, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.clock = h.clock.Add(time.Minute)
	if err := os.Chtimes(path, h.clock, h.clock); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// newest lists what is found below the home folder, as "client path".
func (h *home) newest(goos string, env map[string]string, limit int) []string {
	var all []string
	for _, f := range Newest(func(name string) string { return env[name] }, goos, h.root, limit) {
		path := f.Path
		if below, err := filepath.Rel(h.root, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
			path = filepath.ToSlash(below)
		}
		all = append(all, f.Client+" "+path)
	}
	return all
}

// everywhere are files in the places that are the same on all systems, oldest first.
var everywhere = []struct{ client, path string }{
	{"claude-code", ".claude/projects/-home-ada-harbour/6f1.jsonl"},
	{"codex", ".codex/sessions/2026/11/01/rollout-2026-11-01T09-00-00-0a.jsonl"},
	{"codex", ".codex/archived_sessions/rollout-2026-10-01T09-00-00-0b.jsonl"},
	{"gemini-cli", ".gemini/tmp/harbour/chats/session-2026-11-01T09-00-0c.json"},
	{"gemini-cli", ".gemini/tmp/harbour/chats/session-2026-11-01T09-30-0d.jsonl"},
	{"qwen-code", ".qwen/projects/-home-ada-harbour/chats/0e.jsonl"},
	{"pi", ".pi/agent/sessions/--home-ada-harbour--/2026_0f.jsonl"},
	{"copilot-cli", ".copilot/session-state/11f/events.jsonl"},
	{"copilot-cli", ".copilot/session-state/12f.jsonl"},
	{"copilot-cli", ".copilot/history-session-state/session_13f.json"},
	{"cline", ".cline/data/sessions/14f/14f.messages.json"},
	{"opencode", ".local/share/opencode/opencode.db"},
	{"continue", ".continue/sessions/15f.json"},
}

// editorFolders are where an extension's files are, by system.
var editorFolders = map[string]string{
	"linux":   ".config/Code/User/globalStorage",
	"darwin":  "Library/Application Support/Code - Insiders/User/globalStorage",
	"windows": "AppData/Roaming/VSCodium/User/globalStorage",
}

func TestNewestKnowsEachPlace(t *testing.T) {
	for goos, storage := range editorFolders {
		t.Run(goos, func(t *testing.T) {
			h := newHome(t)
			var want []string
			add := func(client, path, shown string) {
				h.write(path)
				want = append([]string{client + " " + shown}, want...)
			}
			for _, f := range everywhere {
				add(f.client, f.path, f.path)
			}
			task := storage + "/saoudrizwan.claude-dev/tasks/1761/api_conversation_history.json"
			add("cline", task, task)
			here, err := filepath.Abs(".aider.chat.history.md")
			if err != nil {
				t.Fatal(err)
			}
			add("aider", here, ".aider.chat.history.md")

			// These are no sessions, or no sessions of their own.
			h.write(".claude/projects/-home-ada-harbour/agent-6f1.jsonl")
			h.write(".claude/projects/-home-ada-harbour/6f1/subagents/agent-6f2.jsonl")
			h.write(".claude/history.jsonl")
			h.write(".codex/history.jsonl")
			h.write(".gemini/tmp/harbour/logs.json")
			h.write(".copilot/config.json")
			h.write(".continue/sessions/sessions.json")
			h.write(".cline/data/sessions/14f/14f.json")
			if err := os.MkdirAll(filepath.Join(h.root, ".claude/projects/-home-ada-harbour/folder.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(want, h.newest(goos, nil, 0)); diff != "" {
				t.Errorf("files, newest first (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want[:3], h.newest(goos, nil, 3)); diff != "" {
				t.Errorf("the newest three (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewestFollowsVariables(t *testing.T) {
	h := newHome(t)
	moved := t.TempDir()
	env := map[string]string{}
	var want []string
	for _, m := range []struct{ client, variable, value, path string }{
		{"claude-code", "CLAUDE_CONFIG_DIR", "claude", "claude/projects/p/a.jsonl"},
		{"codex", "CODEX_HOME", "codex", "codex/sessions/2026/11/01/rollout-b.jsonl"},
		{"gemini-cli", "GEMINI_CLI_HOME", "google", "google/.gemini/tmp/p/chats/session-c.json"},
		{"qwen-code", "QWEN_HOME", "qwen", "qwen/projects/p/chats/d.jsonl"},
		{"pi", "PI_CODING_AGENT_DIR", "pi", "pi/sessions/p/e.jsonl"},
		{"copilot-cli", "COPILOT_HOME", "copilot", "copilot/session-state/f/events.jsonl"},
		{"cline", "CLINE_DIR", "cline", "cline/data/sessions/g/g.messages.json"},
		{"opencode", "XDG_DATA_HOME", "data", "data/opencode/opencode.db"},
		{"continue", "CONTINUE_GLOBAL_DIR", "continue", "continue/sessions/h.json"},
	} {
		env[m.variable] = filepath.Join(moved, m.value)
		want = append([]string{m.client + " " + h.write(filepath.Join(moved, m.path))}, want...)
	}
	for _, f := range everywhere {
		h.write(f.path) // the usual places are not looked at now
	}
	if diff := cmp.Diff(want, h.newest("linux", env, 0)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	for variable, path := range map[string]string{
		"CLINE_DATA_DIR":         "x/sessions/i/i.messages.json",
		"CLINE_SESSION_DATA_DIR": "x/j/j.messages.json",
		"QWEN_RUNTIME_DIR":       "x/projects/p/chats/k.jsonl",
	} {
		file := h.write(filepath.Join(moved, path))
		env[variable] = filepath.Join(moved, "x")
		if got := h.newest("linux", env, 1); len(got) != 1 || filepath.Base(got[0]) != filepath.Base(file) {
			t.Errorf("%s: want %s, got %v", variable, file, got)
		}
		delete(env, variable)
	}
}

func TestNewestSaysWhatIsADatabase(t *testing.T) {
	h := newHome(t)
	h.write(".local/share/opencode/opencode.db")
	h.write(".continue/sessions/15f.json")
	h.write(".claude/projects/p/a.jsonl")
	databases := map[string]bool{}
	for _, f := range Newest(func(string) string { return "" }, "linux", h.root, 0) {
		databases[f.Client] = f.Database
		if f.Size != 3 || f.Time.IsZero() || f.Hint != "" {
			t.Errorf("%s: want 3 bytes, a time and no hint, got %d, %v and %q", f.Path, f.Size, f.Time, f.Hint)
		}
	}
	want := map[string]bool{"opencode": true, "continue": false, "claude-code": false}
	if diff := cmp.Diff(want, databases); diff != "" {
		t.Errorf("databases (-want +got):\n%s", diff)
	}
}

func TestNewestAndLinks(t *testing.T) {
	h := newHome(t)
	elsewhere := t.TempDir()
	h.write(filepath.Join(elsewhere, "dot/projects/p/a.jsonl"))
	secret := h.write(filepath.Join(elsewhere, "secret/s.jsonl"))
	link := func(target, path string) {
		t.Helper()
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	link(filepath.Join(elsewhere, "dot"), filepath.Join(h.root, ".claude"))
	link(secret, filepath.Join(elsewhere, "dot/projects/p/s.jsonl"))
	link(filepath.Dir(secret), filepath.Join(elsewhere, "dot/projects/linked"))
	want := []string{"claude-code .claude/projects/p/a.jsonl"}
	if diff := cmp.Diff(want, h.newest("linux", nil, 0)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestNewestOfNothing(t *testing.T) {
	h := newHome(t)
	if got := h.newest("linux", nil, 5); len(got) != 0 {
		t.Errorf("want nothing in an empty home, got %v", got)
	}
	h.root = filepath.Join(h.root, "missing")
	if got := h.newest("windows", nil, 5); len(got) != 0 {
		t.Errorf("want nothing in a home that is not there, got %v", got)
	}
}
