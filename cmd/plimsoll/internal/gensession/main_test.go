package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The example that is committed is what the generator writes.
func TestCommitted(t *testing.T) {
	got, err := build()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../../../examples/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("examples/session.jsonl is another; go generate ./cmd/plimsoll writes it again")
	}
}

// The session has what a reader of such files has to cope with: parallel calls, failed
// commands, files that are read again, usage that grows and a cache that got cold.
func TestSession(t *testing.T) {
	session, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var prompts []int
	reads, parallel, failed, cold := map[string]int{}, 0, 0, 0
	var last string
	for row := range bytes.Lines(session) {
		var l struct {
			Type    string `json:"type"`
			Message struct {
				ID      string `json:"id"`
				Usage   usage  `json:"usage"`
				Content any    `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(row, &l); err != nil {
			t.Fatal(err)
		}
		text := string(row)
		failed += strings.Count(text, `"is_error":true`)
		if strings.Contains(text, `"name":"Read"`) {
			path, _, _ := strings.Cut(text[strings.Index(text, `"file_path":`):], ",")
			reads[path]++
		}
		if l.Type != "assistant" {
			continue
		}
		if l.Message.ID == last {
			if strings.Contains(text, `"tool_use"`) {
				parallel++
			}
			continue
		}
		last = l.Message.ID
		u := l.Message.Usage
		prompts = append(prompts, u.Input+u.Write+u.Read)
		if u.Read == 0 {
			cold++
		}
	}
	for i := 1; i < len(prompts); i++ {
		if prompts[i] <= prompts[i-1] {
			t.Errorf("prompt %d has %d tokens, the one before %d", i+1, prompts[i], prompts[i-1])
		}
	}
	most := 0
	for _, n := range reads {
		most = max(most, n)
	}
	peak := prompts[len(prompts)-1]
	if len(prompts) < 60 || len(prompts) > 120 || peak < 80_000 || peak > 150_000 || most < 4 || parallel == 0 || failed == 0 || cold < 2 {
		t.Errorf("%d calls, peak %d, a file read %d times, %d parallel, %d failed, %d cold", len(prompts), peak, most, parallel, failed, cold)
	}
}

func TestParseErrors(t *testing.T) {
	for name, script := range map[string]string{
		"call before a move":  "@read a.go\n",
		"call of a person":    "@human\nhello\n@read a.go\n",
		"unknown tool":        "@model\n@fly home\n",
		"edit without a part": "@model\n@edit a.go\n<<<<\nx\n>>>>\n",
		"lines of a read":     "@model\n@read a.go 5 2\n",
	} {
		if _, err := parse(script); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWorkspace(t *testing.T) {
	w := newWorkspace(txtar.Parse([]byte("-- a.go --\none\ntwo\ntwo\n")), txtar.Parse([]byte("-- 01 1 --\nboom\n")))
	steps := []struct {
		call call
		want string // "": an error
	}{
		{call{tool: "read", arg: "a.go", from: 2, to: 9}, "     2→two\n     3→two"},
		{call{tool: "read", arg: "b.go"}, ""},
		{call{tool: "edit", arg: "a.go", old: "two", new: "three"}, ""},
		{call{tool: "editall", arg: "a.go", old: "two", new: "three"}, root + "/a.go was changed. It now reads:\n     1→one\n     2→three\n     3→three"},
		{call{tool: "grep", arg: "^th"}, "a.go:2:three\na.go:3:three"},
		{call{tool: "grep", arg: "("}, ""},
		{call{tool: "bash", arg: "make"}, "Exit code 1\nboom"},
		{call{tool: "bash", arg: "make"}, ""},
	}
	for _, s := range steps {
		got, err := w.one(s.call)
		if (err == nil) != (s.want != "") || got.output != s.want {
			t.Errorf("%+v: got %q, %v, want %q", s.call, got.output, err, s.want)
		}
	}
}
