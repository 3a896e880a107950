package places

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
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
