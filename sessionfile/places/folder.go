package places

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// A placed is what is looked at of a line for the folder that its session works in.
type placed struct {
	CWD       string `json:"cwd"`
	Directory string `json:"directory"`
	Workspace string `json:"workspaceDirectory"`
	Payload   struct {
		CWD string `json:"cwd"`
	} `json:"payload"`
	Data struct {
		CWD     string `json:"cwd"`
		Context struct {
			CWD string `json:"cwd"`
		} `json:"context"`
	} `json:"data"`
	Info struct {
		Directory string `json:"directory"`
	} `json:"info"`
}

// Folder returns the folder that the session in a file works in, as the front of the file says
// it; of a chat history of aider that of the file; empty if nothing says it.
func Folder(path string) string {
	file, id := formats.Split(path)
	if id != "" {
		return "" // of a database
	}
	if filepath.Base(file) == ".aider.chat.history.md" {
		if full, err := filepath.Abs(filepath.Dir(file)); err == nil {
			return full
		}
	}
	found := ""
	eachLine(file, func(line []byte) bool {
		var p placed
		if json.Unmarshal(line, &p) != nil {
			return true
		}
		found = cmp.Or(p.CWD, p.Payload.CWD, p.Data.CWD, p.Data.Context.CWD, p.Directory, p.Workspace, p.Info.Directory)
		return found == ""
	})
	return found
}

// Names returns the names by which a person may call the session in a file, without reading
// it: the name of the file, and its parts that are ids.
func Names(path string) []string {
	file, id := formats.Split(path)
	if id != "" {
		return []string{id}
	}
	base := filepath.Base(file)
	switch base {
	case "events.jsonl", "api_conversation_history.json", "ui_messages.json": // named after their folder
		return []string{filepath.Base(filepath.Dir(file))}
	}
	for _, ending := range []string{".messages.json", ".jsonl", ".json"} {
		if short, ok := strings.CutSuffix(base, ending); ok {
			base = short
			break
		}
	}
	names := []string{base}
	if _, after, ok := strings.Cut(base, "_"); ok { // pi: time_id
		names = append(names, after)
	}
	if rest, ok := strings.CutPrefix(base, "rollout-"); ok && len(rest) > len(rolloutTime) { // codex: rollout-time-id
		names = append(names, rest[len(rolloutTime):])
	}
	if rest, ok := strings.CutPrefix(base, "session-"); ok { // gemini-cli: session-time-id8
		names = append(names, rest[strings.LastIndexByte(rest, '-')+1:])
	}
	return names
}

// rolloutTime is the form of the time in the name of a rollout.
const rolloutTime = "2006-01-02T15-04-05-"
