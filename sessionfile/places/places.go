package places

import (
	"path/filepath"
	"strings"
)

// A place is where one program keeps session files.
type place struct {
	client  string
	root    string // folder; relative only for the working folder
	pattern string // below root, with slashes; each element a pattern of path.Match
	not     string // pattern of names that are no sessions, or ""

	database bool // of many sessions
	agents   bool // of sub-agents
}

// where is what the places depend on.
type where struct {
	env  func(string) string
	goos string
	home string
}

// folder returns the first variable that is set, else a folder below home.
func (w where) folder(below string, variables ...string) string {
	for _, name := range variables {
		if v := strings.TrimSpace(w.env(name)); v != "" {
			return v
		}
	}
	return filepath.Join(w.home, filepath.FromSlash(below))
}

// places returns all places.
func (w where) places() []place {
	claude := w.folder(".claude", "CLAUDE_CONFIG_DIR")
	codex := w.folder(".codex", "CODEX_HOME")
	gemini := filepath.Join(w.folder("", "GEMINI_CLI_HOME"), ".gemini")
	copilot := w.folder(".copilot", "COPILOT_HOME")
	all := []place{
		{client: "claude-code", root: claude, pattern: "projects/*/*.jsonl", not: "agent-*"}, // sub-agents belong to a session
		{client: "claude-code", root: claude, pattern: "projects/*/agent-*.jsonl", agents: true},
		{client: "claude-code", root: claude, pattern: "projects/*/*/subagents/agent-*.jsonl", agents: true},
		{client: "codex", root: codex, pattern: "sessions/*/*/*/rollout-*.jsonl"},
		{client: "codex", root: codex, pattern: "archived_sessions/rollout-*.jsonl"},
		{client: "gemini-cli", root: gemini, pattern: "tmp/*/chats/session-*.json"},
		{client: "gemini-cli", root: gemini, pattern: "tmp/*/chats/session-*.jsonl"},
		{client: "qwen-code", root: w.folder(".qwen", "QWEN_RUNTIME_DIR", "QWEN_HOME"), pattern: "projects/*/chats/*.jsonl"},
		{client: "pi", root: w.folder(".pi/agent", "PI_CODING_AGENT_DIR"), pattern: "sessions/*/*.jsonl"},
		{client: "copilot-cli", root: copilot, pattern: "session-state/*/events.jsonl"},
		{client: "copilot-cli", root: copilot, pattern: "session-state/*.jsonl"},
		{client: "copilot-cli", root: copilot, pattern: "history-session-state/*.json"}, // before 0.0.342
		{client: "cline", root: w.cline(), pattern: "*/*.messages.json"},
		{client: "opencode", root: filepath.Join(w.folder(".local/share", "XDG_DATA_HOME"), "opencode"), pattern: "opencode*.db", database: true},
		{client: "continue", root: w.folder(".continue", "CONTINUE_GLOBAL_DIR"), pattern: "sessions/*.json", not: "sessions.json"},
		{client: "aider", root: ".", pattern: ".aider.chat.history.md"},
	}
	for _, storage := range w.editors() {
		all = append(all, place{client: "cline", root: storage, pattern: "saoudrizwan.claude-dev/tasks/*/api_conversation_history.json"})
	}
	return all
}

// cline returns the folder of the sessions of Cline's command line, of which each
// level can be moved.
func (w where) cline() string {
	if v := w.env("CLINE_SESSION_DATA_DIR"); v != "" {
		return v
	}
	if v := w.env("CLINE_DATA_DIR"); v != "" {
		return filepath.Join(v, "sessions")
	}
	return filepath.Join(w.folder(".cline", "CLINE_DIR"), "data", "sessions")
}

// editors returns the folders in which the builds of Visual Studio Code let
// extensions keep files.
func (w where) editors() []string {
	var base string
	switch w.goos {
	case "windows":
		base = w.folder("AppData/Roaming", "APPDATA")
	case "darwin":
		base = w.folder("Library/Application Support")
	default:
		base = w.folder(".config", "XDG_CONFIG_HOME")
	}
	var all []string
	for _, build := range []string{"Code", "Code - Insiders", "VSCodium"} {
		all = append(all, filepath.Join(base, build, "User", "globalStorage"))
	}
	return all
}
