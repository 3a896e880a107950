package places

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"
)

// Bounds on what is looked at of a file's front.
const (
	headLines     = 32
	headLineBytes = 1 << 20
)

// A head is what the front of a file says about whose it is.
type head struct {
	id     string // of the session, of a sub-agent of Claude Code the agent's
	parent string // of the session that it began from
	agent  bool   // it is a sub-agent's
	named  string // the parent's file, if that is how it is named
}

// claudeLine is what is looked at of a line of Claude Code.
type claudeLine struct {
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	IsSidechain bool   `json:"isSidechain"`
	ForkedFrom  struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`
}

// claudeHead reads the head of a file of Claude Code. The first line with a session's id
// counts.
func claudeHead(path string) (h head) {
	eachLine(path, func(line []byte) bool {
		var l claudeLine
		if json.Unmarshal(line, &l) != nil || l.SessionID == "" {
			return true
		}
		h = head{id: l.SessionID, parent: l.ForkedFrom.SessionID}
		if l.IsSidechain && l.AgentID != "" {
			h = head{id: l.AgentID, parent: l.SessionID, agent: true}
		}
		return false
	})
	return h
}

// codexLine is what is looked at of the first line of a rollout.
type codexLine struct {
	Type    string `json:"type"`
	Payload struct {
		ID       string          `json:"id"`
		Forked   string          `json:"forked_from_id"`
		ParentID string          `json:"parent_thread_id"`
		Source   json.RawMessage `json:"source"`
	} `json:"payload"`
}

// codexHead reads the head of a rollout, which is its first line.
func codexHead(path string) (h head) {
	eachLine(path, func(line []byte) bool {
		var l codexLine
		if json.Unmarshal(line, &l) != nil || l.Type != "session_meta" {
			return false
		}
		var source struct {
			SubAgent json.RawMessage `json:"subagent"`
		}
		h.id, h.parent = l.Payload.ID, l.Payload.ParentID
		if json.Unmarshal(l.Payload.Source, &source) == nil && source.SubAgent != nil {
			h.agent = true
			var spawn struct {
				Spawn struct {
					Parent string `json:"parent_thread_id"`
				} `json:"thread_spawn"`
			}
			if json.Unmarshal(source.SubAgent, &spawn) == nil && spawn.Spawn.Parent != "" {
				h.parent = spawn.Spawn.Parent
			}
		}
		if h.parent == "" {
			h.parent = l.Payload.Forked
		}
		return false
	})
	return h
}

// piLine is what is looked at of the first line of a session of pi.
type piLine struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	CWD    string `json:"cwd"`
	Parent string `json:"parentSession"` // the path of its file
	Early  string `json:"branchedFrom"`  // as early versions call it
}

// piHead reads the head of a session of pi, which is its first line.
func piHead(path string) (h head) {
	eachLine(path, func(line []byte) bool {
		var l piLine
		if json.Unmarshal(line, &l) == nil && l.Type == "session" && l.CWD != "" {
			named := cmp.Or(l.Parent, l.Early)
			h = head{id: l.ID, parent: piID(named), named: named}
		}
		return false
	})
	return h
}

// piID returns the id of a session by the name of its file, which has its time before it.
func piID(file string) string {
	if file == "" {
		return ""
	}
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".jsonl")
	if _, id, ok := strings.Cut(base, "_"); ok {
		return id
	}
	return base
}

// openCodeHead reads the head of an export of opencode, which is one document.
func openCodeHead(path string) (h head) {
	f, err := os.Open(path)
	if err != nil {
		return head{}
	}
	defer func() { _ = f.Close() }() // it was only read
	d := json.NewDecoder(io.LimitReader(f, headLineBytes))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return head{}
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return head{}
		}
		var info struct {
			ID        string          `json:"id"`
			ParentID  string          `json:"parentID"`
			Directory string          `json:"directory"`
			Project   string          `json:"projectID"`
			Time      json.RawMessage `json:"time"`
		}
		if key == "info" && json.Unmarshal(value, &info) == nil && info.Time != nil && info.Directory+info.Project != "" {
			return head{id: info.ID, parent: info.ParentID}
		}
	}
	return head{}
}

// eachLine calls look for each of the first lines of a file until it has seen enough.
// What cannot be read has no lines, and a line that is too long is the last.
func eachLine(path string, look func(line []byte) (more bool)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewReader(io.LimitReader(f, headLines*headLineBytes))
	for range headLines {
		line, err := readLine(lines)
		if err != nil || len(line) > 0 && !look(line) {
			return
		}
	}
}

// readLine returns the next line. The error is that of the source, or that it is too long.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= headLineBytes:
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			err = nil
		}
		return bytes.TrimSpace(line), err
	}
}
