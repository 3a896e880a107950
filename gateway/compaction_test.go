package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/gateway"
)

// Instructions by which clients have their conversation summarised, shortened to what tells
// them from what a person says.
var instructions = map[string]string{
	"Claude Code":        "Your task is to create a detailed summary of the conversation so far, paying close attention to what was asked.\n\n1. …",
	"Claude Code, later": "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- You have all of it above.\n\nYour task is to create a detailed summary of this conversation. It will be …",
	"Codex":              "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.\n\nInclude:\n- …",
	"opencode":           "Provide a detailed prompt for continuing our conversation above.\nFocus on …",
	"pi":                 "The messages above are a conversation to summarize. Create …",
}

// compacts demands that a request is known as a client's own compaction: it goes as it came, and
// no session knows of it.
func compacts(t *testing.T, c *talk, g *gateway.Gateway) {
	t.Helper()
	body := c.body()
	x := c.sends(g)
	if r := x.Report(); r.Passed != "the client compacts its conversation" || r.Session != "" || x.Edited() || !bytes.Equal(x.Body(), body) {
		t.Errorf("want it to pass as it came, got %+v", r)
	}
}

// TestClientCompacts: a client's own compaction is no part of the conversation, which goes on
// where it was, whether the client uses the summary or not.
func TestClientCompacts(t *testing.T) {
	for name, text := range instructions {
		t.Run(name, func(t *testing.T) {
			g := begin(t, nil)
			c := newTalk(t, "Read them.").reads(200).reads(200)
			first := c.sends(g).Report()
			compacts(t, c.other().says(text), g)
			if r := c.reads(200).reads(200).sends(g).Report(); r.Match != gateway.MatchNext || r.Session != first.Session {
				t.Errorf("the conversation goes on as %+v, want session %s", r, first.Session)
			}
			compacts(t, c.other().says(text), g) // it is above the window by now, and its client knows what to do about a refusal
			after := newTalk(t, "This session goes on from another one. Summary: they read four files.")
			if r := after.sends(g).Report(); r.Match != gateway.MatchNew || r.Passed != "" {
				t.Errorf("what comes of it is %+v, want a new conversation", r)
			}
		})
	}
	t.Run("a request of its own", func(t *testing.T) {
		for _, system := range []string{
			"You are a helpful AI assistant tasked with summarizing conversations.",
			"You are the component that summarizes internal chat history into a given structure.\n\nWhen …",
		} {
			g := begin(t, nil)
			c := newTalk(t, "Read them.").reads(3)
			c.sends(g)
			other := c.other().says("Do it.")
			other.system, other.tools = system, nil
			compacts(t, other, g)
		}
	})
	t.Run("a header says so", func(t *testing.T) {
		for name, value := range map[string]string{"X-Codex-Turn-Metadata": `{"turn_id":"1","request_kind":"compaction"}`, "X-Openai-Subagent": "compact"} {
			g := begin(t, nil)
			c := newTalk(t, "Read them.").reads(3)
			c.header = map[string]string{name: value}
			compacts(t, c, g)
		}
	})
	t.Run("what is none", func(t *testing.T) {
		for _, words := range []string{
			"Explain this: \"Your task is to create a detailed summary of the conversation so far\"",
			"Summarize the conversation.",
			"", " \n",
		} {
			g := begin(t, nil)
			c := newTalk(t, "Read them.").reads(3)
			c.header = map[string]string{"X-Codex-Turn-Metadata": `{"request_kind":"turn"}`, "X-Openai-Subagent": "review"}
			if r := c.says(words + "Go on.").sends(g).Report(); r.Passed != "" {
				t.Errorf("%q passes: %s", words, r.Passed)
			}
		}
	})
}

// TestRecordedCompaction is that of a real client.
func TestRecordedCompaction(t *testing.T) {
	corpus := os.Getenv("PLIMSOLL_CORPUS")
	if corpus == "" {
		t.Skip("PLIMSOLL_CORPUS is not set")
	}
	f, err := os.Open(filepath.Join(corpus, "claude-code", "marot-spotter", "258c7280-agent-acompact-fffbd0.jsonl"))
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	text := ""
	for lines.Scan() {
		if m := gjson.GetBytes(lines.Bytes(), "message"); m.Get("role").String() == "user" && json.Valid(lines.Bytes()) {
			if text = m.Get("content").String(); m.Get("content").IsArray() {
				text = m.Get("content.#.text|@reverse|0").String()
			}
		}
	}
	must(t, lines.Err())
	if len(text) < 1000 {
		t.Fatalf("the instruction has %d bytes", len(text))
	}
	g := begin(t, nil)
	compacts(t, newTalk(t, "Read them.").reads(3).says(text), g)
}
