package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A message is one line of a Claude Code session file.
type message struct {
	Type      string  `json:"type"`
	ID        string  `json:"uuid"`
	Parent    *string `json:"parentUuid"`
	Session   string  `json:"sessionId"`
	Time      string  `json:"timestamp"`
	Folder    string  `json:"cwd"`
	Version   string  `json:"version"`
	Sidechain bool    `json:"isSidechain"`
	Message   content `json:"message"`
}

type content struct {
	Role    string `json:"role"`
	ID      string `json:"id,omitempty"`
	Type    string `json:"type,omitempty"`
	Model   string `json:"model,omitempty"`
	Content any    `json:"content"`
	Stop    string `json:"stop_reason,omitempty"`
	Usage   *usage `json:"usage,omitempty"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Write  int `json:"cache_creation_input_tokens"`
	Output int `json:"output_tokens"`
}

type block struct {
	Type  string         `json:"type"`
	Text  string         `json:"text,omitempty"`
	ID    string         `json:"id,omitempty"`
	Name  string         `json:"name,omitempty"`
	Input map[string]any `json:"input,omitempty"`
	Call  string         `json:"tool_use_id,omitempty"`
	Out   string         `json:"content,omitempty"`
}

// A writer writes a session as a client would that never cuts anything.
type writer struct {
	lines  []string
	last   *string
	tokens int // of the next prompt
	cached int
	clock  time.Time
}

func (w *writer) add(t *testing.T, kind string, c content) {
	t.Helper()
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(w.lines)+1)
	w.clock = w.clock.Add(9 * time.Second)
	b, err := json.Marshal(message{
		Type: kind, ID: id, Parent: w.last, Session: "5f3a9c1e-0000-4000-8000-000000000000", Time: w.clock.Format(time.RFC3339), Folder: "/srv/tide",
		Version: "2.1.0", Message: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.lines, w.last = append(w.lines, string(b)), &id
	w.tokens += len(b) / 4
}

// harbour is what the outputs of the session are made of.
const harbour = "%04d  tide gauge %d: level %d mm, wind %d kn, draught of the vessel at berth %d is %d cm, load line clear\n"

// sessionFile writes a session of n Steps and returns its path: a person asks three times, the model reads logs, some of them twice.
func sessionFile(t *testing.T, n int) string {
	t.Helper()
	w := &writer{tokens: 17_000, clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	for i := range n {
		if i%(n/3+1) == 0 {
			w.add(t, "user", content{Role: "user", Content: fmt.Sprintf("Part %d: find out which berths were too shallow last week, and write it down.", i)})
		}
		call := fmt.Sprintf("toolu_%04d", i)
		prompt := w.tokens
		w.add(t, "assistant", content{
			Role: "assistant", ID: fmt.Sprintf("msg_%04d", i), Type: "message", Model: "claude-sonnet-4-5-20250929", Stop: "tool_use",
			Usage: &usage{Input: 4, Read: w.cached, Write: max(prompt-w.cached-4, 0), Output: 120},
			Content: []block{
				{Type: "text", Text: fmt.Sprintf("I look at log %d next.", i%9)},
				{Type: "tool_use", ID: call, Name: "Read", Input: map[string]any{"file_path": fmt.Sprintf("/srv/tide/logs/day%d.log", i%9)}},
			},
		})
		w.cached = max(prompt, w.cached)
		var out strings.Builder
		for k := range 20 + 30*(i%4) {
			fmt.Fprintf(&out, harbour, k, i%9, 300+37*k%900, k%31, k%12, 400+k%90)
		}
		w.add(t, "user", content{Role: "user", Content: []block{{Type: "tool_result", Call: call, Out: out.String()}}})
	}
	prompt := w.tokens
	w.add(t, "assistant", content{
		Role: "assistant", ID: "msg_end", Type: "message", Model: "claude-sonnet-4-5-20250929", Stop: "end_turn",
		Usage:   &usage{Input: 4, Read: w.cached, Write: max(prompt-w.cached-4, 0), Output: 40},
		Content: []block{{Type: "text", Text: "Berths 3 and 7 were too shallow on two days."}},
	})
	path := filepath.Join(t.TempDir(), "harbour.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(w.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
